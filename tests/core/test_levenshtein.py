"""Levenshtein distance and alignment."""

from __future__ import annotations

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import EVERY_PAIR, paths, sequences, words

from riseq.core.edits import DELETE, KEEP, Edit, Op, apply
from riseq.core.levenshtein import align, distance, gold_edits

tokens = st.lists(st.integers(0, 3), max_size=12)


def test_every_short_pair_equals_the_oracle() -> None:
    found = [distance(source, target) for source, target in EVERY_PAIR]
    numbers = [[[ord(word[0]) for word in words] for words in pair] for pair in EVERY_PAIR]
    assert found == oracle.distances([source for source, _ in numbers], [target for _, target in numbers])


@given(tokens, tokens)
def test_equals_the_oracle(a: list[int], b: list[int]) -> None:
    assert [distance(a, b)] == oracle.distances([a], [b])


@given(tokens, tokens, tokens)
def test_is_a_metric(a: list[int], b: list[int], c: list[int]) -> None:
    assert (distance(a, b) == 0) == (a == b)
    assert distance(a, b) == distance(b, a)
    assert distance(a, c) <= distance(a, b) + distance(b, c)
    assert abs(len(a) - len(b)) <= distance(a, b) <= max(len(a), len(b))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("abab", "baba", 2), ("aa", "a", 1)],
)
def test_known_distances(a: str, b: str, expected: int) -> None:
    assert distance(a, b) == expected


def test_every_short_alignment_is_a_cheapest_path_of_the_sampler() -> None:
    for source, target in EVERY_PAIR:
        if len(source) + len(target) > 8:  # listing every path of the longest pairs is test_edits' part
            continue
        path = align(source, target)
        assert path in paths(source, target)
        assert sum(move.op is not Op.KEEP for move in path) == distance(source, target)


@given(sequences, sequences)
def test_an_alignment_costs_the_distance_and_merges_to_the_target(source: list[str], target: list[str]) -> None:
    path = align(source, target)
    assert sum(move.op is not Op.KEEP for move in path) == distance(source, target)
    assert all((move.op is Op.KEEP) == (source[move.i] == target[move.j]) for move in path if move.i and move.j)
    assert apply(source, gold_edits(source, target)) == target


@pytest.mark.parametrize(
    ("source", "target", "expected", "why"),
    [
        (
            "p",
            "rs",
            [KEEP, Edit(Op.SUBSTITUTE, ("r", "s"))],
            "a tie puts the insert right of the substitution: one edit",
        ),
        ("pq", "r", [KEEP, Edit(Op.SUBSTITUTE, ("r",)), Edit(Op.SUBSTITUTE)], "a span becomes one phrase"),
        ("aa", "a", [KEEP, DELETE, KEEP], "walking back, the last of two equal tokens is kept"),
    ],
)
def test_ties_are_broken_as_documented(source: str, target: str, expected: list[Edit], why: str) -> None:
    assert gold_edits(words(source), words(target)) == expected, why


def test_align_needs_the_markers() -> None:
    with pytest.raises(ValueError, match="starts with its marker; got 0 source"):
        align([], ["a"])
