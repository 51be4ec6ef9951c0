"""The reward of a policy's own outputs against plain computations of its three parts."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riseq.core.closeness import measure_closeness
from riseq.core.levenshtein import distance
from riseq.core.packed import pack

words = st.lists(st.integers(1, 5), max_size=8)


def longest_common(a: list[int], b: list[int]) -> int:
    if not a or not b:
        return 0
    if a[-1] == b[-1]:
        return longest_common(a[:-1], b[:-1]) + 1
    return max(longest_common(a[:-1], b), longest_common(a, b[:-1]))


def grams(words: list[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def plain_closeness(a: list[int], b: list[int]) -> float:
    near = 1 / (1 + distance([0, *a], [0, *b]))
    if not a or not b:
        return (near + 2 * (len(a) == len(b))) / 3
    product = 1.0
    for n in range(1, 5):
        met, added = (grams(a, n) & grams(b, n)).total(), int(n > 1)
        product *= (met + added) / (max(0, len(a) - n + 1) + added)
    bleu = float(product**0.25) * min(1.0, math.exp(1 - len(b) / len(a)))
    return (near + 2 * longest_common(a, b) / (len(a) + len(b)) + bleu) / 3


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_closeness_is_the_mean_of_distance_rouge_and_bleu(pairs: list[tuple[list[int], list[int]]]) -> None:
    found = measure_closeness(pack([[0, *a] for a, _ in pairs]), pack([[0, *b] for _, b in pairs]))
    assert found.tolist() == pytest.approx([plain_closeness(a, b) for a, b in pairs])


def test_the_target_itself_is_closest() -> None:
    targets = pack([[0, 1, 2, 3], [0]])
    assert measure_closeness(targets, targets).tolist() == pytest.approx([1.0, 1.0])
