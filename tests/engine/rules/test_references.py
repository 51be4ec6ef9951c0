"""One thing has one pronoun, two things never share it. A case is written as it is edited, ``[the band|they]``."""

import pytest

from engine.rules.test_broken_english import read
from riseq.core.edits import apply
from riseq.engine.rules.references import keep_second_things, unite_references
from riseq.text.lexicon import is_plural

UNITED = [
    (
        "Who owned [the scrolls|them] before [the scrolls|it] came?",
        "who owned them before they came",
        "scrolls are many",
    ),
    ("Can [a piano|they] play if [the piano|it] was moved?", "can it play if it was moved", "a piano is one"),
    ("Does [Lufthansa|it] pay if [Lufthansa|they] lose it?", "does it pay if it lose it", "else as it began"),
    ("Did she feed [Hachiko|her] while [Hachiko|he] sat?", "did she feed them while they sat", "both were guesses"),
    ("Can I pay if [my son|they] fell ill?", "can i pay if he fell ill", "a son is he"),
    ("Can I pay if [my son|they're] ill?", "can i pay if he ' s ill", "and so is his verb"),
    ("What if [my aunt's|their] car broke?", "what if her car broke", "an aunt is she"),
    ("What if [my son's teacher|they] left?", "what if they left", "the teacher is no son"),
    ("What if [my son and my aunt|they] left?", "what if they left", "two are they"),
    ("Does [the king|they] get ill if [the king|he] travels?", "does he get ill if he travels", "a king is he"),
    ("Did [Ann|she] see [Tom|him]?", "did she see him", "two persons"),
    ("Did [the dog|it] see [the dogs of Tom|them]?", "did it see them", "not the same words"),
]
KEPT = [
    ("Can I run [rebase|it] before I push [the commit|it]?", "can i run it before i push the commit", "two things"),
    ("Can I return [the shoes|it] if [the shoes|it] hurt?", "can i return it if it hurt", "one thing"),
    ("[My car|It] is old. Do I need [the warranty|it]?", "it is old . do i need it", "a sentence of its own"),
    ("Will [the movers|they] carry [the boxes|them]?", "will they carry them", "persons and things"),
    ("Can I use it while it shows [the error|it]?", "can i use it while it shows the error", "it has one already"),
    ("What if it is too cold for [the cactus|it]?", "what if it is too cold for it", "the weather is no thing"),
    ("How long does it take to read [the book|it]?", "how long does it take to read it", "nor is this"),
]


@pytest.mark.parametrize(("edited", "expected", "why"), UNITED, ids=[why for *_, why in UNITED])
def test_one_pronoun_for_one_thing(edited: str, expected: str, why: str) -> None:
    words, edits = read(edited)
    assert " ".join(apply(words, unite_references(words, edits))[1:-1]) == expected, why


@pytest.mark.parametrize(("edited", "expected", "why"), KEPT, ids=[why for *_, why in KEPT])
def test_the_second_thing_stays(edited: str, expected: str, why: str) -> None:
    words, edits = read(edited)
    assert " ".join(apply(words, keep_second_things(words, edits))[1:-1]) == expected, why


def test_plurals() -> None:
    assert all(map(is_plural, ("scrolls", "children", "shoes", "lice")))
    assert not any(map(is_plural, ("news", "bus", "analysis", "glass", "dog", "gas")))
