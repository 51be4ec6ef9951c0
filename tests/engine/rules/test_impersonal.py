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
]


@pytest.mark.parametrize(("question", "kept"), CASES)
def test_it_may_stand_for_nothing(question: str, kept: bool) -> None:
    words = [MARKER, *question.split()]
    edits = [Edit(Op.SUBSTITUTE, ("rome",)) if word == "it" else KEEP for word in words]
    assert (keep_impersonal(words, edits) != edits) == kept
