"""Titles take the place of things."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.titles import keep_persons
from riseq.text.realise import Copied
from riseq.text.words import forms

SAID = 'I liked "Emma" more than Persuasion.'
CASES = [
    ("which novels did she write ?", "she", '" emma "', True, "no person"),
    ("which novels did she write ?", "she", "emma", True, "the marks stand around it"),
    ("which novels did she write ?", "she", "persuasion", False, "perhaps a person"),
    ("which novels did they write ?", "they", '" emma "', True, "they who write are people"),
    ("how old are they ?", "they", '" emma "', False, "they may be works"),
    ("who wrote it ?", "it", '" emma "', False, "it is a work"),
    ("how old is her brother ?", "her", '" emma "', True, "a possessive too"),
]


@pytest.mark.parametrize(("question", "pronoun", "phrase", "kept", "why"), CASES, ids=[case[4] for case in CASES])
def test_a_title_is_no_person(question: str, pronoun: str, phrase: str, kept: bool, why: str) -> None:
    words, mention, said = [MARKER, *question.split()], phrase.split(), forms(SAID)
    at = words.index(pronoun)
    first = next(k for k in range(len(said)) if said[k : k + len(mention)] == mention)
    edits = [Edit(Op.SUBSTITUTE, tuple(mention)) if k == at else KEEP for k in range(len(words))]
    left = keep_persons(words, edits, {at: Copied(0, first, first + len(mention))}, [SAID])
    assert (left[at] == KEEP) == kept, why
