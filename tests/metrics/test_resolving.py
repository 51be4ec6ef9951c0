"""Scores of the way back, and sets read backwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.data.dataset import is_complete
from riseq.metrics.behaviour import Case, is_backwards, judge, load_cases, load_scored
from riseq.metrics.resolving import score_resolved
from riseq.types import Example, InputError


def test_terms_are_the_content_words_that_were_put_in() -> None:
    questions = ["When was it released?", "Who is Ada?", "And where?"]
    targets = ["When was Alien released?", "Who is Ada?", "And where was Alien filmed?"]
    found = score_resolved(questions, ["When was the Alien released?", "Who is Ada Byron?", "And where?"], targets)
    # Put in: alien, byron; wanted: alien, alien, filmed; shared: one.
    assert found.term_precision == pytest.approx(50)
    assert found.term_recall == pytest.approx(100 / 3)
    assert found.term_f1 == pytest.approx(40)
    assert (found.complete, found.unchanged) == (1, 0)


def test_nothing_to_do_and_nothing_done_is_perfect() -> None:
    found = score_resolved(["Who is Ada?"], ["who is ada ?"], ["Who is Ada?"])
    assert (found.term_f1, found.complete, found.unchanged) == (100, 1, 100)
    assert score_resolved(["Why?"], ["Why Ada?"], ["Why Bob?"]).term_f1 == 0


def test_a_suite_is_read_backwards(root: Path) -> None:
    name = root / "data" / "everyday" / "suite.jsonl"
    forwards, backwards = load_cases(name), load_cases(f"{name}+resolve")
    for one, other in zip(forwards, backwards, strict=True):
        assert other.example.question == one.gold[0]
        assert other.example.target == other.gold[0] == one.example.question
        assert other.example.context == one.example.context
        assert (other.phenomenon, other.resolves, other.gone) == (one.phenomenon, True, ())
    complete = load_scored(f"{name}+complete")
    assert all(one.question == one.target for one in complete)
    asked = [case.example.question for case in forwards]
    assert [one.question for one in complete] == [one for one in asked if is_complete(Example("", (), one))]
    assert "Did he come back for the second one?" in asked
    assert 150 < len(complete) < len(asked)
    assert not {"Did he come back for the second one?"} & {one.question for one in complete}, "it points back"


def test_what_has_the_content_words_of_the_question_and_no_others_is_right() -> None:
    asked = Example("1", ("Who directed Alien?",), "When was it released?", "When was Alien released?")
    case = Case(asked, ("When was Alien released?",), resolves=True)
    for text, kept, clean in (
        ("When was Alien released", True, True),
        ("When was the Alien released?", True, True),
        ("When was it released?", False, True),
        ("When was Alien released in Japan?", True, False),
        ("When was Emma released?", False, False),
    ):
        verdict = judge(case, text)
        assert (verdict.kept, verdict.clean, verdict.right) == (kept, clean, kept and clean), text
    assert [judge(case, text).exact for text in ("when was Alien released", "When was the Alien released?")] == [
        True,
        False,
    ]


def test_a_set_of_pairs_is_read_backwards(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"id": "1", "context": ["Who?"], "question": "Is Ada in?", "target": "Is she in?"}\n', "utf-8")
    (pair,) = load_scored(f"{path}+resolve")
    assert pair == Example("1", ("Who?",), "Is she in?", "Is Ada in?")
    assert [is_backwards(f"{path}{end}") for end in ("", "+resolve", "+complete")] == [False, True, True]
    assert load_scored(str(path))[0].target == "Is she in?"
    with pytest.raises(InputError, match="no such file"):
        load_scored("nowhere+resolve")
