"""The speed of an engine, on a tiny model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from riseq.engine import benchmark
from riseq.engine.benchmark import ENCODER, ENGINE, measure_speed, time_turns
from riseq.engine.simplifier import Simplifier
from riseq.types import Example, InputError
from tiny_model import export_tiny, make_examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


def test_everything_is_measured(folder: Path) -> None:
    calls: list[str] = []
    engine = Simplifier.load(folder, threads=1)
    speed = measure_speed(engine, make_examples(12), 2, folder, {"slow": lambda: calls.append("slow")})
    assert speed.questions == len([one for one in make_examples(12) if one.context]) < 12
    assert set(speed.singles) == {ENGINE, ENCODER, "slow"}
    assert speed.singles[ENGINE] > speed.singles[ENCODER] > 0
    assert speed.encoder_ratio > 1
    assert speed.bulk[ENCODER] > speed.bulk[ENGINE] > 0
    assert speed.cold_s > 0.05
    assert 20 < speed.cold_mb < 2_000
    assert len(calls) >= 2 * 3


def test_questions_without_dialogue_are_no_measure(folder: Path) -> None:
    with pytest.raises(InputError, match="questions with a dialogue"):
        measure_speed(Simplifier.load(folder, threads=1), [Example("1", (), "Who?")], 1, folder, {})


def test_a_model_that_a_new_process_cannot_load_is_reported(folder: Path, tmp_path: Path) -> None:
    engine = Simplifier.load(folder, threads=1)
    with pytest.raises(InputError, match="a new process could not load the model"):
        measure_speed(engine, make_examples(4), 1, tmp_path / "none", {})


def test_actions_take_turns_and_the_fastest_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    ticks: Iterator[float] = iter([0, 5, 5, 6, 6, 9, 10, 12, 12, 19, 19, 20])
    monkeypatch.setattr(benchmark, "perf_counter", lambda: next(ticks))
    found = time_turns([("a", lambda: order.append("a1")), ("b", lambda: order.append("b")), ("a", order.clear)], 2)
    assert found == {"a": [2, 1], "b": [1]}
