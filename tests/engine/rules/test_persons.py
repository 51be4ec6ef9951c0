"""He is no sister, she no king."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.persons import keep_sexes

CASES = [
    ("him", "my sister", True, "a sister is she"),
    ("she", "my sister", False, "as she is called here"),
    ("his", "my sister ' s", True, "and what is hers"),
    ("him", "wallis simpson", True, "a first name tells"),
    ("she", "roger penrose", True, "a man's too"),
    ("he", "queen anne", True, "a title"),
    ("she", "billie jean king", False, "a last name does not tell"),
    ("she", "louis - dreyfus", False, "nor half of one"),
    ("she", "charles and camilla", False, "one of two"),
    ("she", "the king ' s sister", False, "hers, not his"),
    ("he", "the aunt of the king", True, "the noun and not whose she is"),
    ("they", "my sister", False, "they may be anybody"),
    ("he", "the plumber", False, "nobody knows"),
]


@pytest.mark.parametrize(("pronoun", "phrase", "kept", "why"), CASES, ids=[case[3] for case in CASES])
def test_a_name_has_the_pronoun_that_it_tells(pronoun: str, phrase: str, kept: bool, why: str) -> None:
    words = [MARKER, "who", "saw", pronoun, "?"]
    edits = [KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, tuple(phrase.split())), KEEP]
    assert (keep_sexes(words, edits) != edits) == kept, why
