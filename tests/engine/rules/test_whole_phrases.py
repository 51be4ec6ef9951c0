"""Noun phrases are copied whole."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.whole_phrases import keep_whole_phrases
from riseq.text.realise import Copied
from riseq.text.words import forms

JOINED = "She joined the volunteer fire brigade."
CASES = [
    ("who is her employer ?", "her", "volunteer", JOINED, True, "another noun's"),
    ("is there a fire ?", "a", "volunteer", JOINED, True, "half a compound's"),
    ("who pays the fire brigade ?", "the", "volunteer", JOINED, False, "its own"),
    ("who pays the brigade ?", "the", "volunteer fire", JOINED, False, "all of them"),
    ("can the children swim ?", "the", "small", "We have two small children.", False, "the noun alone"),
    ("who paid for the roof ?", "the", "tent", "The tent roof came later.", False, "before a verb"),
    ("did dali draw ?", "did", "salvador", "Salvador Dali liked drawing school.", False, "a name goes with all"),
    ("when were they seen this week ?", "week", "carrying gold", "Was the ship carrying gold?", True, "a torn verb"),
    ("what were they ?", "they", "carrying gold", "Was the ship carrying gold?", False, "behind a pronoun"),
    ("can i see the ship ?", "ship", "carrying gold", "I saw a ship carrying gold.", False, "what belongs to a noun"),
]


def edit(question: str, word: str, phrase: str, said: str, op: Op) -> bool:
    """Return whether a phrase that is copied behind ``word``, or in its place, is left out."""
    words, mention, there = [MARKER, *question.split()], phrase.split(), forms(said)
    first = next(k for k in range(len(there)) if there[k : k + len(mention)] == mention)
    at = words.index(word)
    edits = [Edit(op, tuple(mention)) if k == at else KEEP for k in range(len(words))]
    return keep_whole_phrases(words, edits, {at: Copied(0, first, first + len(mention))}, [said])[at] == KEEP


@pytest.mark.parametrize(("question", "word", "phrase", "said", "kept", "why"), CASES, ids=[case[5] for case in CASES])
def test_what_is_put_in_is_whole(question: str, word: str, phrase: str, said: str, kept: bool, why: str) -> None:
    assert edit(question, word, phrase, said, Op.INSERT) == kept, why


def test_a_pronoun_is_no_bare_form_of_a_verb() -> None:
    assert edit("is it good with them ?", "them", "fried", "Fried rice is good.", Op.SUBSTITUTE)
    assert not edit("is it good with them ?", "them", "fried rice", "Fried rice is good.", Op.SUBSTITUTE)
    assert not edit("is it good with them ?", "them", "fried", "I had them fried.", Op.SUBSTITUTE)
    assert edit("is there one for it ?", "one", "drawing", "It is good for drawing.", Op.SUBSTITUTE)
    assert not edit("is there one for it ?", "one", "drawing", "I have a drawing.", Op.SUBSTITUTE)


def test_no_title_begins_in_its_middle() -> None:
    said = "It is the Day for the End of Hunger."
    assert edit("who likes that ?", "that", "end of hunger", said, Op.SUBSTITUTE)
    assert not edit("who likes that ?", "that", "day for the end of hunger", said, Op.SUBSTITUTE)
    assert not edit("who likes that ?", "that", "end of hunger", "He saw the End of Hunger.", Op.SUBSTITUTE)
