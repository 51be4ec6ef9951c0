"""The beginning of a question that was copied without its first words."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.openings import complete_openings
from riseq.text.realise import Copied, realise
from riseq.text.words import forms


def copy_into(question: str, places: range, said: str, found: str, before: str = "") -> str:
    """Return the question whose words at ``places`` are replaced by what was ``found`` in what was ``said``."""
    words, source = [MARKER, *forms(question)], forms(said)
    first = next(k for k in range(len(source)) if source[k : k + len(found.split())] == found.split())
    edits = [Edit(Op.SUBSTITUTE) if at in places else KEEP for at in range(len(words))]
    edits[places[0]] = Edit(Op.SUBSTITUTE, (*before.split(), *found.split()))
    copied = {places[0]: Copied(0, first, first + len(found.split()), len(before.split()))}
    mended, known = complete_openings(words, edits, copied, [said])
    step = realise(question, mended, [said], None, known)
    (change,) = step.edits
    assert change.refers_to is not None
    return step.text


@pytest.mark.parametrize(
    ("question", "places", "said", "found", "expected", "why"),
    [
        (
            "What about Germany?",
            range(1, 3),
            "What is the capital of France?",
            "is the capital of",
            "What is the capital of Germany?",
            "a question word stood before it",
        ),
        (
            "And in Oregon?",
            range(1, 2),
            "Hi. What's the minimum wage in Texas?",
            "s the minimum wage",
            "What's the minimum wage in Oregon?",
            "and so did half a word, at the beginning of the second sentence",
        ),
        (
            "What about in Oregon?",
            range(2, 3),
            "What's the minimum wage in Texas?",
            "s the minimum wage",
            "What's the minimum wage in Oregon?",
            "the question word is kept: only the apostrophe is wanting",
        ),
        (
            "And paracetamol?",
            range(1, 2),
            "I have a dog. Is ibuprofen safe?",
            "is",
            "Is paracetamol?",
            "it began with the verb there",
        ),
        (
            "And tea?",
            range(1, 2),
            "The best of all drinks is coffee.",
            "is",
            "Is tea?",
            "no question word, so it was no question",
        ),
        (
            "What about Germany?",
            range(1, 3),
            "How hard is it to become a doctor in France?",
            "how hard is it to become a doctor",
            "How hard is it to become a doctor in Germany?",
            "a preposition stood behind it",
        ),
        (
            "What about in Germany?",
            range(1, 3),
            "How hard is it to become a doctor in France?",
            "how hard is it to become a doctor",
            "How hard is it to become a doctor in Germany?",
            "the question has its own",
        ),
        (
            "How is Bergen?",
            range(2, 3),
            "What does it cost to see Oslo?",
            "does it cost to see",
            "How does it cost to see Bergen?",
            "it does not open the question",
        ),
    ],
)
def test_the_beginning_comes_along(
    question: str, places: range, said: str, found: str, expected: str, why: str
) -> None:
    assert copy_into(question, places, said, found) == expected, why


def test_a_phrase_with_words_of_its_own_stays() -> None:
    assert copy_into("And tea?", range(1, 2), "What is in coffee?", "is in", "so what") == "So what is in tea?"
