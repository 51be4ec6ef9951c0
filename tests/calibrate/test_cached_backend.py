"""A network that reads each row once gives what it would give anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.calibrate.calibration import CachedBackend
from riseq.engine.backends import BatchScores
from riseq.engine.simplifier import Simplifier
from riseq.model.inputs import Batch
from tiny_model import export_tiny, make_examples


def test_results_are_the_same_and_nothing_is_read_twice(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder: Path = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]
    engine = Simplifier.load(folder, threads=1)
    examples = make_examples(20)
    expected = [result.text for result in engine.batch(examples)]
    read, readings = engine.backend.score, 0

    def count(batch: Batch) -> BatchScores:
        nonlocal readings
        readings += 1
        return read(batch)

    monkeypatch.setattr(engine.backend, "score", count)
    again = Simplifier(CachedBackend(engine.backend), engine.pieces, engine.phrasing)
    assert [result.text for result in again.batch(examples)] == expected
    once = readings
    assert [result.text for result in again.batch(examples)] == expected
    assert [result.text for result in again.batch(examples, max_passes=1)] != expected
    assert readings == once > 0
    list(again.batch(examples, strength=1.0))
    assert readings > once, "other phrases are wanted, so rows are read again"
