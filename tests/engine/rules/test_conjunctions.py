"""The "and" that waits for a second name."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, Edit, Op
from riseq.engine.rules.conjunctions import drop_conjunctions, find_waiting
from riseq.text.realise import Copied


@pytest.mark.parametrize(
    ("span", "after", "expected", "why"),
    [
        ("medicare and medicaid", "and", "medicare and medicaid", "both are named"),
        ("spanish or portuguese", "and", "spanish or portuguese", "by another word"),
        ("patsy", "and", "patsy and", "a later pass may name the other"),
        ("malta and gozo", "' s", "malta and gozo ' s", "another word behind it"),
        ("malta and", "", "malta and", "what was copied is left alone"),
    ],
)
def test_what_is_joined_needs_no_and(span: str, after: str, expected: str, why: str) -> None:
    words = span.split()
    edits = [KEEP, Edit(Op.SUBSTITUTE, (*words, *after.split()))]
    (_, edit) = drop_conjunctions(edits, {1: Copied(0, 3, 3 + len(words))})
    assert " ".join(edit.phrase) == expected, why


@pytest.mark.parametrize(
    ("question", "asked", "expected", "why"),
    [
        ("did patsy and have children ?", "did they have children ?", 2, "a verb follows"),
        ("can i take b12 and at once ?", "can i take both at once ?", 4, "a preposition"),
        ("what about patsy and ?", "what about them ?", 3, "the end"),
        ("what about patsy and", "what about them", 3, "without a mark"),
        ("did patsy and her son come ?", "did they come ?", None, "it joins"),
        ("did patsy and ada come ?", "did they come ?", None, "names"),
        ("who came and did he stay ?", "who came and did he stay ?", None, "the user's own"),
    ],
)
def test_an_and_that_joins_nothing_is_found(question: str, asked: str, expected: int | None, why: str) -> None:
    assert find_waiting(question.split(), asked.split()) == expected, why
