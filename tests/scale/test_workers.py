"""One worker by itself: its files are those of one process, and its complaints are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

from riseq.cli.simplify import Handling, bad_rows_path, simplify_file
from riseq.controls import Controls
from riseq.scale.blocks import Block, split_file
from riseq.scale.storage import find_folder, find_sources
from riseq.scale.workers import BAD, Worker
from riseq.systems import Origin, System
from riseq.systems.registry import SystemChoice
from riseq.types import Example, InputError, Simplification
from tiny_model import export_tiny, make_examples

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
