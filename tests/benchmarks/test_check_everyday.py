"""The everyday dialogues as the checker sees them, and the checker on dialogues with known faults."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from check_everyday import (
    DIALOGUES,
    KINDS,
    MORE_DIALOGUES,
    SUITE,
    Checker,
    Remark,
    make_checker,
    read_lines,
    read_phenomena,
)
from riseq.data.corpora import read_everyday
from riseq.data.dataset import load_dataset
from riseq.engine.simplifier import Simplifier

MOST_REMARKS = {"structure": 0, "loses": 290, "new": 85, "long": 0, "changed": 3, "suite": 2}


@pytest.fixture(scope="module")
def dialogues() -> list[dict[str, Any]]:
    return read_lines(DIALOGUES)


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(read_phenomena(), ["How old is the lighthouse on Skagen?"])


def make_dialogue(full: str, said: list[str], about: str = "pronoun-thing") -> dict[str, Any]:
    first = "When was Alien released?"
    turns = [{"full": first, "said": first, "answer": "In 1979."}]
    return {"id": "x-1", "domain": "films", "turns": turns, "next": [{"full": full, "said": said, "about": about}]}


def find_kinds(checker: Checker, *dialogues: dict[str, Any]) -> list[str]:
    return [remark.kind for remark in checker.check_dialogues(dialogues)]


def test_the_committed_dialogues_have_few_remarks(dialogues: list[dict[str, Any]]) -> None:
    remarks = list(make_checker().check_dialogues(dialogues))
    counts = Counter(remark.kind for remark in remarks)
    assert set(MOST_REMARKS) == set(KINDS)
    assert {kind: counts[kind] for kind in KINDS if counts[kind] > MOST_REMARKS[kind]} == {}, shown(remarks)


@pytest.mark.parametrize(("path", "most"), [*zip(MORE_DIALOGUES, (0, 12), strict=True)], ids=lambda one: str(one)[-20:])
def test_the_later_dialogues_have_next_to_none(
    dialogues: list[dict[str, Any]], root: Path, path: Path, most: int
) -> None:
    more = list(read_lines(path))
    assert len(list(make_checker().check_dialogues(more))) <= most
    assert {one["id"] for one in more}.isdisjoint(one["id"] for one in dialogues)
    questions = [one for dialogue in more for one in dialogue["next"]]
    text = (root / "data" / "everyday" / "README.md").read_text(encoding="utf-8")
    assert f"{len(more)} dialogues with {len(questions):,} such questions" in text


READING = SUITE.parents[2] / "examples" / "reading.jsonl"


def shown(remarks: list[Remark]) -> str:
    return "\n".join(f"{one.where} {one.kind} {one.text}" for one in remarks if MOST_REMARKS[one.kind] < 10)


def test_no_question_of_the_suite_is_trained_on(dialogues: list[dict[str, Any]]) -> None:
    every = [*dialogues, *(one for path in MORE_DIALOGUES for one in read_lines(path))]
    asked = {one["full"].lower() for dialogue in every for one in [*dialogue["turns"], *dialogue["next"]]}
    for suite in (SUITE, *(SUITE.with_name(name) for name in ("held_out.jsonl", "fresh.jsonl", "later.jsonl"))):
        cases = list(read_lines(suite))
        assert len({case["id"] for case in cases}) == 200
        assert not [case["id"] for case in cases if case["question"].lower() in asked]


def test_the_readme_counts_right(dialogues: list[dict[str, Any]], root: Path) -> None:
    text = (root / "data" / "everyday" / "README.md").read_text(encoding="utf-8")
    questions = [one for dialogue in dialogues for one in dialogue["next"]]
    turns = sum(len(dialogue["turns"]) - 1 for dialogue in dialogues)
    counts = Counter(one["about"] for one in questions)
    rows = re.findall(r"([a-z-]+) \| (\d+) \|", text)
    assert {name: int(number) for name, number in rows} == dict(counts)
    assert set(counts) == read_phenomena()
    for number in (len(dialogues), turns, len(questions), forms := sum(len(one["said"]) for one in questions)):
        assert f"{number:,}" in text, number
    assert len(list(read_everyday(DIALOGUES))) == turns + forms


def test_a_case_of_the_suite_agrees_with_itself() -> None:
    files = SUITE, SUITE.with_name("fresh.jsonl"), SUITE.with_name("later.jsonl"), READING
    for case in (case for path in files for case in read_lines(path)):
        assert set(case) == {"id", "phenomenon", "context", "question", "gold", "keep", "gone", "bad"}
        assert all(part.lower() in case["question"].lower() for part in [*case["keep"], *case["gone"]]), case["id"]
        assert case["gold"], case["id"]


def test_a_good_pair_has_no_remark(checker: Checker) -> None:
    assert find_kinds(checker, make_dialogue("Who directed Alien?", ["Who directed it?", "Who directed Alien?"])) == []


@pytest.mark.parametrize(
    ("full", "said", "about", "kind"),
    [
        ("Who directed Alien in space?", ["Who directed it?"], "pronoun-thing", "loses"),
        ("Who directed Alien?", ["Who directed the masterpiece?"], "pronoun-thing", "new"),
        ("Who " + "really " * 40 + "directed Alien?", ["Who " + "really " * 40 + "directed it?"], "title", "long"),
        ("Who directed Alien?", ["Who directed it?"], "topic-switch", "changed"),
        ("How old is the lighthouse on Skagen?", ["How old is the lighthouse on Skagen?"], "topic-switch", "suite"),
        ("Who directed Alien?", ["Who directed it?"], "pronoun-odd", "structure"),
        ("Who directed Alien?", [], "pronoun-thing", "structure"),
        ("Who directed Alien?", [" "], "pronoun-thing", "structure"),
        ("", ["Who directed it?"], "pronoun-thing", "structure"),
    ],
)
def test_a_fault_is_found(checker: Checker, full: str, said: list[str], about: str, kind: str) -> None:
    assert find_kinds(checker, make_dialogue(full, said, about)) == [kind]


def test_an_id_that_is_there_twice_and_missing_fields_are_found(checker: Checker) -> None:
    good = make_dialogue("Who directed Alien?", ["Who directed it?"])
    assert find_kinds(checker, good, good) == ["structure"]
    without = {**good, "turns": [{"full": "Hi", "said": "Hello"}]}
    assert find_kinds(checker, without) == ["structure"] * 2
    assert find_kinds(checker, {**good, "next": []}) == ["structure"]


def test_what_is_read_by_people_was_never_seen(dialogues: list[dict[str, Any]]) -> None:
    examples = load_dataset(READING)
    assert len({example.id for example in examples}) == len(examples) == 200
    asked = [one["full"] for dialogue in dialogues for one in [*dialogue["turns"], *dialogue["next"]]]
    seen = Checker(frozenset(), [*asked, *(case["question"] for case in read_lines(SUITE))])
    remarks = [one for e in examples for one in seen.check_question(e.id, e.context, e.question, [])]
    assert remarks == []


def test_what_was_read_is_what_the_model_that_ships_answers() -> None:
    """Every tenth of them: the verdicts are of these texts."""
    read = list(read_lines(READING.with_suffix(".results.jsonl")))
    cases = list(read_lines(READING))
    assert [one["id"] for one in read] == [case["id"] for case in cases]
    assert {one["verdict"] for one in read} <= {"good", "ungrammatical", "wrong", "not sent"}
    chosen = slice(None, None, 10)
    asked = [(case["question"], case["context"]) for case in cases[chosen]]
    answered = [one.text for one in Simplifier.load().batch(asked)]
    assert sum(text == one["text"] for text, one in zip(answered, read[chosen], strict=True)) >= 19
