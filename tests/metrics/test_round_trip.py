"""The round trip by its laws: what may come back, and how it is counted."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.metrics import round_trip
from riseq.metrics.behaviour import ALL, Case, load_cases
from riseq.metrics.round_trip import (
    RoundTrip,
    find_lost,
    measure_cases,
    measure_round_trip,
    measure_round_trips,
    name_phenomenon,
)
from riseq.types import Example

WORDS = ["who", "is", "it", "the", "Ada", "film", "films", "of", "1990", "don't", "Tokyo", "?"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
rows = st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=6)


def columns(found: list[tuple[str, str, str]]) -> tuple[list[str], list[str], list[str]]:
    questions, short, resolved = map(list, zip(*found, strict=True))
    return questions, short, resolved


def test_the_examples_of_the_docstrings() -> None:
    results = doctest.testmod(round_trip)
    assert results.attempted >= 3
    assert results.failed == 0


def test_a_round_trip_by_hand() -> None:
    questions = ["When was the film Alien released?", "Who is Ada Lovelace?"]
    found = measure_round_trip(
        questions, ["When was it released?", "Who is she?"], ["When was Alien released?", "who is ada lovelace"]
    )
    # Five content words: film, alien, released, ada, lovelace; four were dropped, of which film is not back.
    assert list(found.as_dict().values()) == pytest.approx([2, 80, 80, 75, 50, 50])


def test_a_word_counts_as_often_as_it_is_said() -> None:
    question = "Is Alien longer than Alien 3?"
    assert find_lost(question, "Is Alien longer than 3?") == {"alien": 1}
    assert not find_lost(question, "alien 3 alien longer")
    assert measure_round_trip([question], ["Is it longer than Alien 3?"], ["Is it longer than Alien 3?"]).restored == 0


@given(rows)
def test_a_question_unchanged_is_all_there_by_a_resolver_that_changes_nothing(
    found: list[tuple[str, str, str]],
) -> None:
    questions = columns(found)[0]
    assert measure_round_trip(questions, questions, questions) == RoundTrip(len(questions), 0, 100, 100, 100, 100)


@given(rows)
def test_a_resolver_that_changes_nothing_restores_nothing(found: list[tuple[str, str, str]]) -> None:
    questions, short, _ = columns(found)
    measured = measure_round_trip(questions, short, short)
    assert measured.back == pytest.approx(100 - measured.dropped)
    assert measured.restored == (0 if measured.dropped else 100)


@given(rows)
def test_a_resolver_that_gives_the_question_back_restores_everything(found: list[tuple[str, str, str]]) -> None:
    questions, short, _ = columns(found)
    measured = measure_round_trip(questions, short, questions)
    assert (measured.back, measured.restored, measured.whole, measured.exact) == (100, 100, 100, 100)
    assert measured.dropped == measure_round_trip(questions, short, short).dropped


@given(rows, texts)
def test_saying_more_loses_nothing_and_no_share_leaves_its_scale(found: list[tuple[str, str, str]], more: str) -> None:
    questions, short, resolved = columns(found)
    one = measure_round_trip(questions, short, resolved)
    longer = measure_round_trip(questions, short, [f"{text} {more}" for text in resolved])
    assert longer.back >= one.back - 1e-9
    assert longer.whole >= one.whole
    assert longer.restored >= one.restored - 1e-9
    assert all(-1e-9 <= share <= 100 + 1e-9 for share in list(one.as_dict().values())[1:])
    assert one.exact <= one.whole


@given(rows, st.data())
def test_phenomena_are_parts_of_all(found: list[tuple[str, str, str]], data: st.DataObject) -> None:
    names = data.draw(st.lists(st.sampled_from("ab"), min_size=len(found), max_size=len(found)))
    measured = measure_round_trips(names, *columns(found))
    assert list(measured) == [*sorted(set(names)), ALL]
    assert measured[ALL] == measure_round_trip(*columns(found))
    parts = [one for name, one in measured.items() if name != ALL]
    assert sum(one.n for one in parts) == len(found)
    assert sum(one.n * one.whole for one in parts) == pytest.approx(len(found) * measured[ALL].whole)


def test_phenomena_are_named_by_the_suite_or_by_what_the_target_does(root: Path) -> None:
    cases = load_cases(root / "data" / "everyday" / "suite.jsonl")
    assert {name_phenomenon(case) for case in cases} == {case.phenomenon for case in cases}
    short = Case(Example("1", (), "Who is in Alien?", "Who is in?"), ("Who is in?",))
    assert name_phenomenon(short) == "ellipsis"
    asked = [case.example.question for case in cases]
    assert measure_cases(cases, asked, asked)[ALL].exact == 100


def test_numbers_of_texts_have_to_agree() -> None:
    with pytest.raises(ValueError, match="1"):
        measure_round_trip(["Who?"], ["Who?"], [])
