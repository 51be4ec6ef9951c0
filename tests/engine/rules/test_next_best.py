"""What says something twice goes without the least probable edit that makes it do so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.next_best import drop_repeating
from riseq.engine.rules.repetition import repeats_itself

ASKED = "which of her ministers did she like ?"
NAME = ("queen", "victoria")


def insert(*words: str) -> Edit:
    return Edit(Op.INSERT, words)


@pytest.mark.parametrize(
    ("changes", "expected", "why"),
    [
        (
            {3: (Edit(Op.SUBSTITUTE, (*NAME, "'", "s")), 0.6), 6: (Edit(Op.SUBSTITUTE, NAME), 0.9)},
            "which of her ministers did queen victoria like ?",
            "the less probable one goes",
        ),
        (
            {3: (Edit(Op.SUBSTITUTE, (*NAME, "'", "s")), 0.9), 6: (Edit(Op.SUBSTITUTE, NAME), 0.6)},
            "which of queen victoria ' s ministers did she like ?",
            "whichever it is",
        ),
        (
            {4: (insert("of", *NAME), 0.9), 6: (Edit(Op.SUBSTITUTE, NAME), 0.8), 7: (insert("best", "ever"), 0.1)},
            "which of her ministers of queen victoria did she like best ever ?",
            "what is as improbable but not to blame stays",
        ),
        ({7: (insert("jam", "jar", "jam", "jar"), 0.9)}, ASKED, "none is left of one that does so alone"),
        ({7: (insert("best", "ever"), 0.1)}, "which of her ministers did she like best ever ?", "nothing is wrong"),
    ],
)
def test_the_next_best_pass(changes: dict[int, tuple[Edit, float]], expected: str, why: str) -> None:
    words = [MARKER, *ASKED.split()]
    edits = [changes[at][0] if at in changes else KEEP for at in range(len(words))]
    odds = [changes[at][1] if at in changes else 1.0 for at in range(len(words))]
    assert " ".join(apply(words, drop_repeating(words, edits, odds))[1:]) == expected, why


phrases = st.lists(st.sampled_from(["rome", "paris", "of", "the"]), min_size=1, max_size=4).map(tuple)


@given(st.data())
def test_no_pass_makes_a_question_say_something_twice(data: st.DataObject) -> None:
    words = [MARKER, *data.draw(st.lists(st.sampled_from(["rome", "is", "old", "the"]), min_size=1, max_size=6))]
    edits = [data.draw(st.just(KEEP) | st.builds(Edit, st.just(Op.INSERT), phrases)) for _ in words]
    left = drop_repeating(words, edits, [data.draw(st.floats(0, 1)) for _ in words])
    assert repeats_itself(words) or not repeats_itself(apply(words, left))
    assert all(one in (KEEP, was) for one, was in zip(left, edits, strict=True))
