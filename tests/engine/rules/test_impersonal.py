"""An "it" that stands for nothing stays."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.impersonal import keep_impersonal

CASES = [
    ("will it snow this weekend ?", True),
    ("is it going to rain ?", True),
    ("was it raining then ?", True),
    ("is it safe for him to drink coffee ?", True),
    ("is it safe for my son to drink coffee ?", True),
    ("is it safe for him to drink ?", False),
    ("is it safe to drink coffee ?", False),
    ("does it cost much ?", False),
    ("who wrote it ?", False),
    ("did we see it ?", False),
    ("is it true that sharks never sleep ?", True),
    ("isn ' t it strange that he left ?", True),
    ("since when has it been known that he lied ?", True),
    ("does it matter that i wash up by hand ?", True),
    ("is it a myth that sharks never sleep ?", True),
    ("is it dangerous to wake a child ?", True),
    ("is it dangerous to wake ?", False),
    ("is it cheaper that way ?", False),
    ("did it say that he left ?", False),
    ("is it so cheap that he bought two ?", False),
    ("is it showing that he left ?", False),
    ("is it old", False),
    ("the film is not long , is it ?", True),
    ("the film isn ' t long , wasn ' t it ?", True),
    ("is it ?", False),
]


@pytest.mark.parametrize(("question", "kept"), CASES)
def test_it_may_stand_for_nothing(question: str, kept: bool) -> None:
    words = [MARKER, *question.split()]
    edits = [Edit(Op.SUBSTITUTE, ("rome",)) if word == "it" else KEEP for word in words]
    assert (keep_impersonal(words, edits) != edits) == kept


OTHERS = [
    ("they say that sharks never sleep .", "they", True),
    ("do they say that sharks never sleep ?", "they", False),
    ("the doors open at six , don ' t they ?", "they", True),
    ("how does one ask ?", "one", True),
    ("how long is it when one buys used ?", "one", True),
    ("is it odd that one always loses the lid ?", "one", True),
    ("does that one always work ?", "one", False),
    ("is one day enough ?", "one", True),
    ("which one day is best ?", "one", False),
    ("can one of us stay ?", "one", True),
    ("how long does one of 5 kilos take ?", "one", False),
    ("where can i buy one online ?", "one", False),
    ("does one use much ?", "one", False),
    ("do i need one", "one", False),
]


@pytest.mark.parametrize(("question", "word", "kept"), OTHERS)
def test_they_and_one_may_be_people_in_general(question: str, word: str, kept: bool) -> None:
    words = [MARKER, *question.split()]
    edits = [Edit(Op.SUBSTITUTE, ("rome",)) if each == word else KEEP for each in words]
    assert (keep_impersonal(words, edits) != edits) == kept
