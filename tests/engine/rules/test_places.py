"""The preposition before a place that is named again."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.places import add_prepositions
from riseq.text.realise import Copied, realise
from riseq.text.words import forms


@pytest.mark.parametrize(
    ("question", "said", "phrase", "expected", "why"),
    [
        ("What do people there do?", "Tell me about Halifax.", "halifax", "What do people in Halifax do?", "a place"),
        (
            "Are there hotels there?",
            "I like it on the Saaremaa.",
            "saaremaa",
            "Are there hotels on Saaremaa?",
            "it has one in the dialogue, before its article",
        ),
        ("Is it far from there?", "I am in Oslo.", "oslo", "Is it far from Oslo?", "there is one already"),
        ("How do I get there?", "I live in Oslo.", "oslo", "How do I get to Oslo?", "a verb of motion"),
        ("Can I swim there?", "I am near Oslo.", "near oslo", "Can I swim near Oslo?", "the phrase has its own"),
        ("Can I swim there?", "I am in Oslo.", "at oslo", "Can I swim at Oslo?", "the network put one in"),
    ],
)
def test_a_place_has_its_preposition(question: str, said: str, phrase: str, expected: str, why: str) -> None:
    words, source = [MARKER, *forms(question)], forms(said)
    at = len(words) - 1 - words[::-1].index("there")
    found = phrase.split() if phrase.split()[0] in source else phrase.split()[1:]
    first = source.index(found[0])
    edits = [*[KEEP] * at, Edit(Op.SUBSTITUTE, tuple(phrase.split())), *[KEEP] * (len(words) - at - 1)]
    copied = {at: Copied(0, first, first + len(found), len(phrase.split()) - len(found))}
    mended, known = add_prepositions(words, edits, copied, [said])
    assert realise(question, mended, [said], None, known).text == expected, why


def test_other_words_and_what_is_put_in_stay() -> None:
    words = [MARKER, *forms("Is it nice there?")]
    edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("oslo",)), KEEP, Edit(Op.INSERT, ("oslo",)), KEEP]
    copied = {2: Copied(0, 2, 3), 4: Copied(0, 2, 3)}
    assert add_prepositions(words, edits, copied, ["I like Oslo."]) == (edits, copied)
