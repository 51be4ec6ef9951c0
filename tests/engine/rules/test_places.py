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
        (
            "When did he move there?",
            "I live in Oslo.",
            "in oslo",
            "When did he move to Oslo?",
            "a goal, whatever it put",
        ),
        ("Who flew there?", "I like Oslo.", "in oslo", "Who flew to Oslo?", "in the past"),
        ("When did he go back there?", "I like Oslo.", "in oslo", "When did he go back to Oslo?", "and back"),
        ("How cold does it get there?", "I like Oslo.", "in oslo", "How cold does it get in Oslo?", "it goes nowhere"),
        ("Can I cycle there?", "I like Oslo.", "in oslo", "Can I cycle in Oslo?", "a way of moving about"),
        ("Who recorded there?", "It was at Oslo.", "in at oslo", "Who recorded at Oslo?", "the copied one of two"),
    ],
)
def test_a_place_has_its_preposition(question: str, said: str, phrase: str, expected: str, why: str) -> None:
    words, source = [MARKER, *forms(question)], forms(said)
    at = len(words) - 1 - words[::-1].index("there")
    first = next(k for k, word in enumerate(phrase.split()) if word in source)
    found = phrase.split()[first:]
    first = source.index(found[0])
    assert source[first : first + len(found)] == found
    edits = [*[KEEP] * at, Edit(Op.SUBSTITUTE, tuple(phrase.split())), *[KEEP] * (len(words) - at - 1)]
    copied = {at: Copied(0, first, first + len(found), len(phrase.split()) - len(found))}
    mended, known = add_prepositions(words, edits, copied, [said])
    assert realise(question, mended, [said], None, known).text == expected, why


def test_other_words_and_what_is_put_in_stay() -> None:
    words = [MARKER, *forms("Is it nice there?")]
    edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("oslo",)), KEEP, Edit(Op.INSERT, ("oslo",)), KEEP]
    copied = {2: Copied(0, 2, 3), 4: Copied(0, 2, 3)}
    assert add_prepositions(words, edits, copied, ["I like Oslo."]) == (edits, copied)
