"""What is put in twice."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.repetition import drop_repeated, keep_answered, name_once, repeats_itself
from riseq.text.words import forms


def put_in(question: str, phrases: dict[str, tuple[str, float]], op: Op = Op.INSERT) -> str:
    """Return the question with a phrase after, or in the place of, each word; each edit has its probability."""
    words = [MARKER, *question.split()]
    edits, probabilities = [KEEP] * len(words), [1.0] * len(words)
    for word, (phrase, probability) in phrases.items():
        at = words.index(word)
        edits[at], probabilities[at] = Edit(op, tuple(phrase.split())), probability
    return " ".join(apply(words, drop_repeated(words, edits, probabilities))[1:])


@pytest.mark.parametrize(
    ("phrases", "expected", "why"),
    [
        (
            {"bars": ("in lisbon", 0.4), "open": ("in lisbon", 0.6)},
            "how late do the bars stay open in lisbon ?",
            "the likelier one is enough",
        ),
        (
            {"bars": ("in lisbon", 0.6), "open": ("in lisbon", 0.4)},
            "how late do the bars in lisbon stay open ?",
            "wherever it stands",
        ),
        (
            {"bars": ("of the old town in lisbon", 0.2), "open": ("in lisbon", 0.9)},
            "how late do the bars of the old town in lisbon stay open ?",
            "one that says less goes, however likely",
        ),
        (
            {"bars": ("in lisbon", 0.1), "open": ("on sundays", 0.1)},
            "how late do the bars in lisbon stay open on sundays ?",
            "each says something",
        ),
        ({"open": ("in the bar", 0.9)}, "how late do the bars stay open ?", "the question says it"),
        ({"open": ("then", 0.1)}, "how late do the bars stay open then ?", "no content word, no opinion"),
    ],
)
def test_an_insertion_says_something_new(phrases: dict[str, tuple[str, float]], expected: str, why: str) -> None:
    assert put_in("how late do the bars stay open ?", phrases) == expected, why


def test_a_name_may_stand_for_two_pronouns() -> None:
    said = put_in("when was she born and when did her die ?", {"she": ("ada", 0.9), "her": ("ada", 0.2)}, Op.SUBSTITUTE)
    assert said == "when was ada born and when did ada die ?"


def test_what_goes_is_not_said() -> None:
    words = [MARKER, "is", "ada", "there"]
    edits = [KEEP, Edit(Op.INSERT, ("ada",)), Edit(Op.DELETE), KEEP]
    assert drop_repeated(words, edits, [1.0] * 4) == edits


@pytest.mark.parametrize(
    ("question", "names", "expected", "why"),
    [
        ("can he beat him ?", {"he": ("ada", 0.9), "him": ("ada", 0.6)}, "can ada beat him ?", "nobody beats himself"),
        ("is he older than her ?", {"he": ("eve", 0.5), "her": ("eve", 0.7)}, "is he older than eve ?", "the likelier"),
        (
            "did they hire him ?",
            {"they": ("ada", 0.2), "him": ("ada", 0.4)},
            "did they hire him ?",
            "neither is likely",
        ),
        ("is lyon bigger than it ?", {"it": ("lyon", 0.9)}, "is lyon bigger than it ?", "the clause names it already"),
        ("is alien like it ?", {"it": ("aliens", 0.9)}, "is alien like aliens ?", "another name"),
        ("was it new when she saw it ?", {"it": ("emma", 0.9)}, "was emma new when she saw it ?", "another clause"),
        (
            "is he like his son ?",
            {"he": ("ada", 0.9), "his": ("ada ' s", 0.2)},
            "is ada like ada ' s son ?",
            "an owner",
        ),
        (
            "was it new when they saw her ?",
            {"it": ("emma", 0.9), "her": ("emma", 0.1)},
            "was emma new when they saw emma ?",
            "each clause may say it",
        ),
        (
            "was it new when they saw her ?",
            {"it": ("emma bovary", 0.9), "her": ("emma bovary", 0.1)},
            "was emma bovary new when they saw her ?",
            "but nobody says a long name twice",
        ),
    ],
)
def test_a_clause_names_each_once(question: str, names: dict[str, tuple[str, float]], expected: str, why: str) -> None:
    words = [MARKER, *question.split()]
    edits, probabilities = [KEEP] * len(words), [1.0] * len(words)
    for word, (phrase, probability) in names.items():
        at = words.index(word)
        edits[at], probabilities[at] = Edit(Op.SUBSTITUTE, tuple(phrase.split())), probability
    assert " ".join(apply(words, name_once(words, edits, probabilities))[1:]) == expected, why


@pytest.mark.parametrize(
    ("question", "twice"),
    [
        ("Did Rosalind Franklin ever get credit for Rosalind Franklin?", True),
        ("Is it in the end in the end?", True),
        ("Did Rosalind ever get credit for Rosalind?", False),
    ],
)
def test_two_words_or_three_said_twice(question: str, twice: bool) -> None:
    assert repeats_itself(forms(question)) is twice


@pytest.mark.parametrize(
    ("question", "pronoun", "phrase", "kept", "why"),
    [
        ("my daughter is five . does she pay ?", "she", "my daughter", True, "the question says who"),
        ("do they pay my daughter ?", "they", "my daughter", False, "but not before"),
        ("my daughter is five . does he pay ?", "he", "my son", False, "somebody else"),
        ("my daughter has a cat . is it old ?", "it", "the cat", False, "it may be any thing"),
    ],
)
def test_what_the_question_has_named_is_not_named_again(
    question: str, pronoun: str, phrase: str, kept: bool, why: str
) -> None:
    words = [MARKER, *question.split()]
    edits = [Edit(Op.SUBSTITUTE, tuple(phrase.split())) if word == pronoun else KEEP for word in words]
    assert (keep_answered(words, edits) != edits) == kept, why


@pytest.mark.parametrize(("second", "named"), [(0.2, False), (0.4, True)])
def test_a_second_pronoun_may_mean_something_else(second: float, named: bool) -> None:
    words = [MARKER, *["does", "it", "need", "salt", "if", "our", "tablets", "have", "it", "?"]]
    edits = [Edit(Op.SUBSTITUTE, ("rome",)) if word == "it" else KEEP for word in words]
    probabilities = [1.0] * len(words)
    probabilities[2], probabilities[9] = 0.6, second
    left = name_once(words, edits, probabilities)
    assert (left[2].op, left[9].op is Op.KEEP) == (Op.SUBSTITUTE, not named)
