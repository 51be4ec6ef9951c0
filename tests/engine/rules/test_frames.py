"""Questions that get the beginning of another one."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.frames import asks_again, complete_frames
from riseq.text.realise import Copied
from riseq.text.words import forms

CASES = [
    ("who is the ceo of", 0, "sam altman", 1, "who is the ceo of lyon ?", "an answer is not asked for again"),
    ("what is", 0, "like in april", 0, "what is lyon like in april ?", "the rest of the same question"),
    ("is", 0, "of france", 0, "what about lyon ?", "a verb alone asks nothing"),
    ("is", 0, "safe", 0, "is lyon safe ?", "with an adjective it does"),
    ("is", 0, "safe", 1, "what about lyon ?", "if it is from there"),
    ("the town", 0, "safe", 1, "the town lyon safe ?", "no beginning of a question"),
]


@pytest.mark.parametrize(("beginning", "its", "rest", "from_", "wanted", "why"), CASES, ids=[case[5] for case in CASES])
def test_a_beginning_brings_its_own_rest(
    beginning: str, its: int, rest: str, from_: int, wanted: str, why: str
) -> None:
    words = [MARKER, "what", "about", "lyon", "?"]
    edits = [
        KEEP,
        Edit(Op.SUBSTITUTE, tuple(beginning.split())),
        Edit(Op.SUBSTITUTE),
        Edit(Op.INSERT, tuple(rest.split())),
        KEEP,
    ]
    found = complete_frames(words, edits, {1: Copied(its, 0, 1), 3: Copied(from_, 2, 3)})
    assert " ".join(apply(words, found)[1:]) == wanted, why


def test_a_question_that_says_enough_keeps_its_verb() -> None:
    words = [MARKER, *forms("And my son swims in Lyon?")]
    edits = [KEEP, Edit(Op.SUBSTITUTE, ("can",)), *[KEEP] * 6]
    assert complete_frames(words, edits, {1: Copied(0, 0, 1)}) == edits


def test_the_old_question_is_no_new_one() -> None:
    said = ["Which is better, tea or milk?", "Both."]
    asked = [MARKER, *["and", "milk", "?"]]
    old = [MARKER, *forms(said[0])]
    assert asks_again(old, asked, said)
    assert asks_again(old[:-1], asked, said)
    assert not asks_again(old, old, said)
    assert not asks_again([MARKER, *forms("Which is better, tea or milk now?")], asked, said)
