"""The phrase vocabulary."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import sequences

from riseq.core.edits import MARKER
from riseq.core.phrases import PhraseVocabulary, phrases_of
from riseq.types import InputError


def pair(source: str, target: str) -> tuple[list[str], list[str]]:
    return [MARKER, *source.split()], [MARKER, *target.split()]


PAIRS = [
    pair("was ira hayes opposed", "was he opposed"),
    pair("did ira hayes win", "did he win"),
    pair("did johnny unitas win", "did the quarterback win"),
    pair("when did mary go to rome", "when did she go there"),
    pair("when did mary leave", "when did she leave"),
    pair("who won", "who won"),
]


def test_phrases_come_from_the_gold_edits() -> None:
    assert phrases_of(*PAIRS[3]) == [("she",), ("there",)]
    assert phrases_of(*PAIRS[5]) == []
    counts = {("he",): 2, ("she",): 2, ("the", "quarterback"): 1, ("there",): 1}
    assert Counter(phrase for pair in PAIRS for phrase in phrases_of(*pair)) == counts


def test_the_most_frequent_go_first_and_ties_by_the_words() -> None:
    expected = (("he",), ("she",), ("the", "quarterback"), ("there",))
    assert PhraseVocabulary.from_pairs(PAIRS).phrases == expected
    assert PhraseVocabulary.from_pairs(reversed(PAIRS)).phrases == expected
    assert PhraseVocabulary.from_pairs(PAIRS, size=3).phrases == expected[:3]
    assert PhraseVocabulary.from_pairs(PAIRS, min_count=2).phrases == expected[:2]


def test_a_place_is_an_id() -> None:
    vocabulary = PhraseVocabulary.from_pairs(PAIRS)
    assert [vocabulary.ids[phrase] for phrase in vocabulary] == list(range(len(vocabulary)))
    assert vocabulary[2] == ("the", "quarterback")
    assert ("she",) in vocabulary
    assert ("it",) not in vocabulary
    with pytest.raises(dataclasses.FrozenInstanceError):
        vocabulary.phrases = ()  # type: ignore[misc]


def test_coverage_is_the_share_of_pairs_whose_phrases_are_all_within() -> None:
    vocabulary = PhraseVocabulary.from_pairs(PAIRS)
    expected = {0: 1 / 6, 1: 3 / 6, 2: 4 / 6, 3: 5 / 6, 4: 1.0, 99: 1.0}
    assert vocabulary.coverage(PAIRS, list(expected)) == pytest.approx(expected)


def test_coverage_counts_a_phrase_outside_as_unreachable_at_any_size() -> None:
    assert PhraseVocabulary((("he",),)).coverage(PAIRS, [99]) == pytest.approx({99: 3 / 6})
    with pytest.raises(ValueError, match="at least one pair"):
        PhraseVocabulary(()).coverage([], [1])


@given(st.lists(st.tuples(sequences, sequences), min_size=1, max_size=5))
def test_a_whole_vocabulary_covers_its_own_pairs(pairs: list[tuple[list[str], list[str]]]) -> None:
    vocabulary = PhraseVocabulary.from_pairs(pairs)
    shares = list(vocabulary.coverage(pairs, range(len(vocabulary) + 1)).values())
    assert shares[-1] == 1.0
    assert shares == sorted(shares)
    assert PhraseVocabulary.from_lines(vocabulary.to_lines()) == vocabulary


def test_lines() -> None:
    vocabulary = PhraseVocabulary.from_pairs(PAIRS)
    assert vocabulary.to_lines() == ["he", "she", "the quarterback", "there"]
    with pytest.raises(InputError, match="line 2: empty, expected the words of a phrase"):
        PhraseVocabulary.from_lines(["he\n", "\n"])
    with pytest.raises(InputError, match="line 3: 'he' again, first on line 1"):
        PhraseVocabulary.from_lines(["he", "she", "he"])


@pytest.mark.parametrize(
    ("phrases", "message"),
    [
        (((),), "one or more words"),
        ((("a b",),), "without spaces"),
        ((("",),), "without spaces"),
        ((("a",), ("a",)), "'a' has several"),
    ],
)
def test_what_is_not_a_vocabulary_is_refused(phrases: tuple[tuple[str, ...], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PhraseVocabulary(phrases)


def test_sequences_without_a_marker_are_refused() -> None:
    with pytest.raises(ValueError, match="starts with"):
        phrases_of(["a", "b"], ["a"])
