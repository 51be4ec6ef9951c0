"""What "one" comes back as."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.ones import keep_ones
from riseq.text.realise import Copied
from riseq.text.words import forms


@pytest.mark.parametrize(
    ("question", "said", "phrase", "stays", "why"),
    [
        ("Which one is closer?", "Is Lyon bigger than Nice?", "lyon", True, "a city has no kinds"),
        ("Tell me about the first one", "There is the Partnach Gorge.", "gorge", True, "a name among others"),
        ("Is there any one left?", "It is Town Hall Tonight.", "tonight", True, "after any"),
        ("Which one is mine?", "There are two packages.", "packages", False, "a noun is a kind of thing"),
        ("Which one is mine?", "Kayak or kayak?", "kayak", False, "a capital for another reason"),
        ("Is there one near me?", "I like Aldi.", "aldi", False, "nothing is chosen"),
        ("How much is a bigger one?", "A Pizza.", "pizza", False, "an adjective chooses among kinds"),
        ("Which ones are cheap?", "I like Birds.", "birds", False, "names are hardly many"),
    ],
)
def test_a_name_is_no_kind_of_thing(question: str, said: str, phrase: str, stays: bool, why: str) -> None:
    words, source = [MARKER, *forms(question)], forms(said)
    at = next(k for k, word in enumerate(words) if word in ("one", "ones"))
    edits = [*[KEEP] * at, Edit(Op.SUBSTITUTE, (phrase,)), *[KEEP] * (len(words) - at - 1)]
    copied = {at: Copied(0, source.index(phrase), source.index(phrase) + 1)}
    assert keep_ones(words, edits, copied, [said]) == ([KEEP] * len(words) if stays else edits), why


def test_what_the_network_alone_read_is_not_judged() -> None:
    edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("lyon",))]
    assert keep_ones([MARKER, "which", "one"], edits, {2: Copied(None, 0, 1)}, []) == edits
