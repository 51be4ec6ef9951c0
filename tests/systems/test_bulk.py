"""A system over a table: order, bad rows and the size of chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from riseq.data.rows import BadRow, Record
from riseq.systems import Origin
from riseq.systems.bulk import LARGEST_CHUNK, simplify_rows
from riseq.types import Example, InputError, Simplification


class Clocked(Origin):
    """Takes ``work`` seconds a question by a clock of its own, and remembers how many came at once."""

    def __init__(self, work: float) -> None:
        self.now, self.work = 0.0, work
        self.sizes: list[int] = []

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        held = list(examples)
        self.sizes.append(len(held))
        self.now += self.work * len(held)
        return super().simplify(held)


class Picky(Origin):
    """Cannot stand one question."""

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        for example in examples:
            if example.question == "Why?":
                raise InputError("too deep")
            yield from super().simplify([example])


def make_records(*questions: str) -> list[Record | BadRow]:
    return [Record(Example(str(n), (), q), {}, n) for n, q in enumerate(questions, 1)]


def test_results_and_bad_rows_come_in_the_rows_order() -> None:
    rows = make_records(*"abcdefgh")
    rows[2] = rows[5] = BadRow("f", 3, "broken")
    got = list(simplify_rows(Origin(), iter(rows), "f"))
    assert [one[0].example.id if isinstance(one, tuple) else one for one in got] == [
        row.example.id if isinstance(row, Record) else row for row in rows
    ]


def test_a_question_the_system_refuses_is_a_bad_row_and_the_others_are_not() -> None:
    got = list(simplify_rows(Picky(), make_records("a", "b", "c", "Why?", "d", "e", "Why?"), "f"))
    assert [one for one in got if isinstance(one, BadRow)] == [BadRow("f", 4, "too deep"), BadRow("f", 7, "too deep")]
    assert [one[1].text for one in got if isinstance(one, tuple)] == list("abcde")


@pytest.mark.parametrize(("work", "largest"), [(1e-6, LARGEST_CHUNK), (0.02, 64), (5.0, 1)])
def test_a_chunk_is_about_as_long_as_people_wait(work: float, largest: int) -> None:
    system = Clocked(work)
    list(simplify_rows(system, make_records(*["a"] * 10_000), "f", lambda: system.now))
    assert system.sizes[0] == 1
    assert largest / 2 <= max(system.sizes) <= largest


def test_rows_that_come_slowly_are_not_waited_for() -> None:
    system = Clocked(0.01)

    def come() -> Iterator[Record | BadRow]:
        for record in make_records(*["a"] * 20):
            system.now += 1.0
            yield record

    list(simplify_rows(system, come(), "f", lambda: system.now))
    assert system.sizes == [1] * 20


def test_a_sender_that_waits_for_each_result_gets_it() -> None:
    system = Clocked(0.01)
    list(simplify_rows(system, make_records(*["a"] * 20), "f", lambda: system.now, largest=1))
    assert system.sizes == [1] * 20
