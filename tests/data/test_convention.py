from __future__ import annotations

import pytest

from riseq.data.corpora import PAPER_TURNS, Convention

QUESTIONS = ["q1", "q2", "q3", "q4"]
ANSWERS = ["a1", "a2", "a3", "a4"]


@pytest.mark.parametrize(
    ("convention", "expected"),
    [
        (Convention(), ["Q1", "q2", "q3", "q4"]),
        (Convention(first_resolved=False), ["q1", "q2", "q3", "q4"]),
        (Convention(answers=True), ["Q1", "a1", "q2", "a2", "q3", "a3", "q4", "a4"]),
        # The first question that is left is not the dialogue's first: it stays raw.
        (Convention(turns=PAPER_TURNS), ["q2", "q3", "q4"]),
        (Convention(turns=PAPER_TURNS, answers=True), ["q2", "a2", "q3", "a3", "q4", "a4"]),
        (Convention(turns=4), ["Q1", "q2", "q3", "q4"]),
        (Convention(turns=9), ["Q1", "q2", "q3", "q4"]),
        (Convention(turns=0), []),
        (Convention(turns=0, answers=True), []),
    ],
)
def test_what_is_shown(convention: Convention, expected: list[str]) -> None:
    assert convention.show(QUESTIONS, ANSWERS, "Q1") == tuple(expected)


def test_a_first_turn_shows_nothing() -> None:
    assert Convention().show([], [], "Q1") == ()


def test_a_first_question_without_a_resolved_form_stays_raw() -> None:
    assert Convention().show(["q1"], [], None) == ("q1",)


def test_turns_are_not_negative() -> None:
    with pytest.raises(ValueError, match="turns is -1"):
        Convention(turns=-1)
