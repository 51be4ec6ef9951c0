"""Several processes do what one does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from riseq.cli.simplify import Handling, simplify_file
from riseq.data.tables import write_rows
from riseq.systems import Origin, System
from riseq.systems.registry import SystemChoice
from riseq.systems.workers import PART, Workers
from riseq.types import Example, InputError, Simplification

ROWS = [{"id": str(k), "context": ["Who is Ada?"], "question": f"What did Ada do in {k}?"} for k in range(PART + 20)]


class Picky:
    """Refuses one question."""

    name = "picky"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        for example in examples:
            if "1815" in example.question:
                raise InputError("not this one")
            yield Simplification(example.question, example.question.upper())


def make_missing() -> System:
    raise InputError("there is no such model")


def test_a_file_has_the_results_of_one_process(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    write_rows(source, ROWS)
    for name, workers in (("one", 1), ("two", 2)):
        choice = SystemChoice("rule", workers=workers)
        assert simplify_file(str(source), tmp_path / f"{name}.jsonl", choice, Handling()) == 0
    assert (tmp_path / "one.jsonl").read_text() == (tmp_path / "two.jsonl").read_text()
    assert len((tmp_path / "two.jsonl").read_text().splitlines()) == len(ROWS)


def test_results_come_in_order_and_errors_reach_who_asked() -> None:
    crew = Workers("origin", Origin, 2)
    asked = [Example(str(k), (), f"What is {k}?") for k in range(2 * PART + 3)]
    try:
        assert [one.question for one in crew.simplify(iter(asked))] == [one.question for one in asked]
        assert list(crew.simplify([])) == []
    finally:
        crew.close()
    crew = Workers("picky", Picky, 1)
    try:
        with pytest.raises(InputError, match="not this one"):
            list(crew.simplify([Example("a", (), "Who was born in 1815?")]))
    finally:
        crew.close()


def test_a_system_that_cannot_be_made_is_told_at_once() -> None:
    with pytest.raises(InputError, match="there is no such model"):
        Workers("missing", make_missing, 1)
