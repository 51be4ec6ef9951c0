"""One worker by itself: its files are those of one process, and its complaints are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from riseq.cli.simplify import Handling, bad_rows_path, simplify_file
from riseq.controls import Controls
from riseq.scale.blocks import Block, split_file
from riseq.scale.storage import find_folder, find_sources
from riseq.scale.workers import BAD, Worker, load_same, prepare
from riseq.systems import Origin, RoundTripCheck, System
from riseq.systems.registry import SystemChoice
from riseq.types import Example, InputError, Simplification
from tiny_model import export_tiny, make_examples
from tiny_resolver import export_tiny_resolver

pq = pytest.importorskip("pyarrow.parquet")


def write_questions(path: Path, count: int) -> Path:
    rows = [json.dumps({"context": one.context, "question": one.question}) for one in make_examples(count)]
    rows[5:5] = ["nope"]
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def make_worker(
    source: Path, out: Path, make_system: Callable[[], System], rows: int, suffix: str = ".jsonl"
) -> tuple[Worker, list[Block]]:
    (found,) = find_sources(str(source))
    return Worker(make_system, find_folder(str(out)), suffix), split_file(found, 0, rows)[1]


def test_the_files_of_a_worker_are_those_of_one_process(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]
    source = write_questions(tmp_path / "in.jsonl", 60)
    choice = SystemChoice("rise", model, controls=Controls(n_best=2), threads=1)
    for suffix in (".jsonl", ".parquet"):
        whole, out = tmp_path / f"whole{suffix}", tmp_path / f"out{suffix}"
        simplify_file(str(source), whole, choice, Handling())
        worker, blocks = make_worker(source, out, choice.load, 25, suffix)
        results = [worker.process(block) for block in blocks]
        assert [(one.block.rows, one.bad, one.error) for one in results] == [(25, 1, ""), (25, 0, ""), (11, 0, "")]
        parts = sorted(out.glob(f"*{suffix}"))
        assert [one.output_bytes for one in results] == [part.stat().st_size for part in parts]
        if suffix == ".jsonl":
            assert b"".join(part.read_bytes() for part in parts) == whole.read_bytes()
        else:
            rows = [row for part in parts for row in pq.read_table(part).to_pylist()]
            assert rows == pq.read_table(whole).to_pylist()
        assert [part.read_bytes() for part in (out / BAD).iterdir()] == [bad_rows_path(whole).read_bytes()]


def test_a_block_that_is_done_again_gives_the_same_file(tmp_path: Path) -> None:
    worker, blocks = make_worker(write_questions(tmp_path / "in.jsonl", 9), tmp_path / "out", Origin, 10)
    worker.process(blocks[0])
    (part,) = (tmp_path / "out").glob("*.jsonl")
    before = part.read_bytes()
    part.unlink()
    assert worker.process(blocks[0]).error == ""
    assert part.read_bytes() == before


def test_an_error_is_told_and_stops_no_other_block(tmp_path: Path) -> None:
    class Fragile(Origin):
        def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
            held = list(examples)
            if any(example.id == "3" for example in held):
                raise MemoryError("too much")
            return super().simplify(held)

    worker, blocks = make_worker(write_questions(tmp_path / "in.jsonl", 9), tmp_path / "out", Fragile, 4)
    assert [worker.process(block).error for block in blocks] == ["MemoryError: too much", "", ""]
    assert len(list((tmp_path / "out").glob("*.jsonl"))) == 2


def test_an_engine_that_cannot_be_made_raises_as_it_is_loaded(tmp_path: Path) -> None:
    def fail() -> System:
        raise InputError("no such model")

    worker, blocks = make_worker(write_questions(tmp_path / "in.jsonl", 9), tmp_path / "out", fail, 4)
    for act in (worker.load, partial(worker.process, blocks[0])):
        with pytest.raises(InputError, match="no such model"):
            act()


def test_the_model_of_the_round_trip_is_named_for_other_folders_and_told_apart(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1]
    resolver = export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]
    monkeypatch.chdir(resolver.parent)
    choice = SystemChoice("rise", model, round_trip=RoundTripCheck(Path(resolver.name), "prefer"))
    prepared = prepare(choice, None)
    assert prepared.round_trip == RoundTripCheck(resolver.resolve(), "prefer")
    settings = prepared.resolve().settings()
    monkeypatch.chdir(tmp_path)
    examples = make_examples(6)
    texts = [one.text for one in load_same(prepared, settings).simplify(examples)]
    assert texts == [one.text for one in prepared.load().simplify(examples)]
    other = replace(prepared, round_trip=RoundTripCheck(resolver.resolve(), "require"))
    with pytest.raises(InputError, match="has another round trip"):
        load_same(other, settings)
