"""What only the question says, case by case."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.core.edits import MARKER, Op
from riseq.engine.dialogue import DialogueWords
from riseq.engine.rules.new_information import keep_new_information

WORDS = f"{MARKER} what is the weather like in nairobi in july ?".split()
NAIROBI = ["How big is Nairobi?", "It has 4 million people."]


def guard(ops: str, sureness: float, context: list[str], better: float = 1.0) -> str:
    found = ["KDIS".index(op) for op in ops]
    scores = np.full((len(ops), 4), -9, dtype=np.float32)
    scores[:, Op.KEEP] = -2
    scores[np.arange(len(ops)), found] = -2 + better
    keep_new_information(scores, found, WORDS, DialogueWords(context), sureness)
    return "".join("KDIS"[op] for op in found)


@pytest.mark.parametrize(
    ("ops", "expected", "why"),
    [
        ("KKKKKKDDDDK", "KKKKKKDDKKK", "the dialogue has said Nairobi, nobody has said July"),
        ("KKKKKKKKSSK", "KKKKKKKKKKK", "nothing to refer to"),
        ("KKKKKKKSSSK", "KKKKKKKSSSK", "a phrase that is partly known is one phrase"),
        ("KDDKKKKKKKK", "KDDKKKKKKKK", "no content"),
        ("KKKKIKKKKKK", "KKKKIKKKKKK", "nothing goes"),
    ],
)
def test_cases(ops: str, expected: str, why: str) -> None:
    assert guard(ops, 2.0, NAIROBI) == expected, why


def test_what_the_network_is_sure_of_goes() -> None:
    assert guard("KKKKKKDDDDK", 2.0, NAIROBI, better=2.5) == "KKKKKKDDDDK"


def test_a_plural_was_said_with_its_singular() -> None:
    assert "nairobi" in DialogueWords(["the Nairobis"])
    assert "july" not in DialogueWords([])


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (["Who was Ira Hayes?"], False),
        (["what did he do", "Any other facts"], False),
        (["", "  "], False),
        (["Who was Ira Hayes?", "A Marine."], True),
    ],
)
def test_answers_are_no_questions(context: list[str], expected: bool) -> None:
    assert DialogueWords(context).has_answers is expected
