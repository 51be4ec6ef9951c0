"""Stranded words, case by case."""

from __future__ import annotations

import pytest

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, apply
from riseq.engine.rules.broken_english import fix_stranded_words

CASES = [
    ("do bikes need insurance in [germany] ?", "do bikes need insurance ?", "a preposition goes with its object"),
    ("what is he known for [now] ?", "what is he known for ?", "what is the object of for"),
    ("who scored the goals [for argentina in] the final", "who scored the goals in the final", "an object stays"),
    ("can type [2] diabetes be reversed ?", "can type 2 diabetes be reversed ?", "a number alone is needed"),
    ("who won in [2022] ?", "who won in ?", "who is the object of in"),
    ("can we check in [at the hotel] ?", "can we check in ?", "what goes has its own preposition"),
    ("how long are the [18] segments ?", "how long are the segments ?", "a determiner needs no number"),
    ("did he win [in] the end ?", "did he win the end ?", "one word alone was meant"),
]


def read(marked: str) -> tuple[list[str], list[Edit]]:
    words, edits, inside = [MARKER], [KEEP], False
    for token in marked.split():
        inside |= token.startswith("[")
        words.append(token.strip("[]"))
        edits.append(DELETE if inside else KEEP)
        inside &= not token.endswith("]")
    return words, edits


@pytest.mark.parametrize(("marked", "expected", "why"), CASES, ids=[case[2] for case in CASES])
def test_cases(marked: str, expected: str, why: str) -> None:
    words, edits = read(marked)
    assert " ".join(apply(words, fix_stranded_words(words, edits))[1:]) == expected, why


def test_fixed_words_stay() -> None:
    words, edits = read("do bikes need insurance in [germany] ?")
    assert fix_stranded_words(words, edits, fixed={5}) == edits
