"""The reward of Eq. 7."""

from __future__ import annotations

import doctest

import pytest
from pairs import words

import riseq.core.reward as module
from riseq.core.reward import reward


def test_the_docstring_is_true() -> None:
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed


@pytest.mark.parametrize(
    ("source", "reached", "target", "edits", "expected", "why"),
    [
        ("ab", "ab", "ab", 0, 1.0, "leaving a finished question alone is worth 1"),
        ("ab", "cd", "cd", 2, 1.0, "two edits that were needed cost nothing"),
        ("abc", "xc", "xc", 2, 1.0, "DELETE and SUBSTITUTE merged into two SUBSTITUTEs are two edits"),
        ("ab", "ab", "ab", 1, 0.0, "an edit in vain costs one"),
        ("ab", "abc", "ab", 1, -1 / 2, "an edit that leads away costs the distance and itself, halved by it"),
        ("ab", "cb", "cd", 1, 1 / 2, "half way is worth half"),
        ("", "xyz", "xyz", 1, 3.0, "one phrase of three words is one edit, so long phrases pay"),
    ],
)
def test_reward(source: str, reached: str, target: str, edits: int, expected: float, why: str) -> None:
    assert reward(words(source), words(reached), words(target), edits) == pytest.approx(expected), why
