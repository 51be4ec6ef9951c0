"""The laws of the samplers on plain sequences, and the paper's worked examples."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from pairs import RENAMED_PAIRS, LogPolicy, pairs_with_policies, paths, policy_of, random_policy, words
from scipy.stats import chisquare

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Move, Op, apply
from riseq.core.sampler import Method, allowed, expectation, move_probabilities, sample, sample_path

METHODS: tuple[Method, ...] = ("dps", "posterior")
SOURCE = [MARKER, "was", "anyone", "opposed", "to", "ira", "hayes", "revealing"]
TARGET = [MARKER, "was", "anyone", "opposed", "to", "him", "revealing"]


def product_along(path: list[Move], table: np.ndarray[tuple[int, int, int], np.dtype[np.float64]]) -> float:
    return math.prod(float(table[move.i, move.j, move.op]) for move in path)


@pytest.mark.parametrize("method", METHODS)
def test_path_probabilities_of_every_short_pair(method: Method) -> None:
    rng = np.random.default_rng(2)
    for source, target in RENAMED_PAIRS:
        policy = random_policy(len(source), rng).astype(np.float64)
        log_m = expectation(source, target, policy, method)
        p = move_probabilities(source, target, policy, log_m)
        every = paths(source, target)
        drawn = [product_along(path, p) for path in every]
        assert sum(drawn) == pytest.approx(1.0)
        assert np.exp(log_m) == pytest.approx(
            np.array(oracle.plain_table(source, target, np.exp(policy).tolist(), method)), rel=1e-9
        )
        if method == "posterior":
            weights = [math.exp(sum(policy[move.i, move.op] for move in path)) for path in every]
            assert drawn == pytest.approx([weight / sum(weights) for weight in weights])
            assert math.exp(log_m[-1, -1]) == pytest.approx(sum(weights))


@pytest.mark.parametrize("method", METHODS)
def test_every_short_pair_is_reached(method: Method) -> None:
    rng = np.random.default_rng(3)
    for source, target in RENAMED_PAIRS[::2]:
        assert apply(source, sample(source, target, random_policy(len(source), rng), rng, method)) == target


@settings(deadline=None)
@given(pairs_with_policies())
def test_log_space_and_plain_arithmetic_agree(case: tuple[list[str], list[str], LogPolicy]) -> None:
    source, target, policy = case
    for method in METHODS:
        log_m = expectation(source, target, policy, method)
        plain = oracle.plain_table(source, target, np.exp(policy.astype(np.float64)).tolist(), method)
        logs = oracle.log_table(source, target, policy.tolist(), method)
        assert log_m == pytest.approx(np.array(logs), rel=1e-9, abs=1e-9)
        assert np.exp(log_m) == pytest.approx(np.array(plain), rel=1e-9, abs=0.0)


@settings(deadline=None)
@given(pairs_with_policies(lowest=-1000.0))
def test_samples_give_the_target_however_small_the_policy(case: tuple[list[str], list[str], LogPolicy]) -> None:
    source, target, policy = case
    for method in METHODS:
        assert apply(source, sample(source, target, policy, np.random.default_rng(0), method)) == target


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "target"), [("ab", "cd"), ("abc", "ca"), ("a", "bcd"), ("abab", "ba")])
def test_frequencies_of_paths_are_products_of_p(method: Method, source: str, target: str) -> None:
    rng = np.random.default_rng(4)
    a, b = words(source), words(target)
    policy = random_policy(len(a), rng, spread=0.5)
    p = move_probabilities(a, b, policy, expectation(a, b, policy, method))
    every = paths(a, b)
    expected = np.array([product_along(path, p) for path in every])
    count = 1500
    drawn = Counter(tuple(sample_path(a, b, policy, rng, method)) for _ in range(count))
    observed = np.array([drawn[tuple(path)] for path in every])
    assert observed.sum() == count  # nothing outside the rule of moves
    often = expected * count >= 5
    pooled_observed = np.append(observed[often], observed[~often].sum())
    pooled_expected = np.append(expected[often], expected[~often].sum()) * count
    kept = pooled_expected > 0
    assert chisquare(pooled_observed[kept], pooled_expected[kept]).pvalue > 1e-3


def test_the_two_methods_differ() -> None:
    source, target = words("ab"), words("cd")
    policy = random_policy(3, np.random.default_rng(5))
    p = [move_probabilities(source, target, policy, expectation(source, target, policy, method)) for method in METHODS]
    assert abs(p[0] - p[1]).max() > 0.01


def test_the_papers_m_1_2() -> None:
    # With nothing inserted after the marker, M[0,1] and M[0,2] are 0 and INSERT is the one move into M[1,2]:
    # M[1,2] = pi(INSERT) M[1,1] = 0.01 * 0.8 = 0.008, with probability 1.
    policy = policy_of([[1.0, 0, 0, 0], [0.8, 0.15, 0.01, 0.04], *[[0.7, 0.1, 0.1, 0.1]] * 6])
    log_m = expectation(SOURCE, TARGET, policy)
    assert math.exp(log_m[1, 1]) == pytest.approx(0.8)
    assert math.exp(log_m[1, 2]) == pytest.approx(0.008)
    assert move_probabilities(SOURCE, TARGET, policy, log_m)[1, 2].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("method", METHODS)
def test_ira_hayes_becomes_him(method: Method) -> None:
    keep, replace = [1, 0, 0, 0], [0, 0.4, 0, 0.6]
    policy = policy_of([keep, keep, keep, keep, keep, replace, replace, keep])
    expected = [KEEP, KEEP, KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, ("him",)), Edit(Op.SUBSTITUTE), KEEP]
    rng = np.random.default_rng(6)
    drawn = {tuple(sample_path(SOURCE, TARGET, policy, rng, method)[4:6]) for _ in range(20)}
    assert len(drawn) == 2  # DELETE and SUBSTITUTE in either order, and both are the paper's edits once merged
    for _ in range(20):
        assert sample(SOURCE, TARGET, policy, rng, method) == expected


def test_dps_by_hand() -> None:
    # "a" -> "b": DELETE + INSERT, INSERT + DELETE and SUBSTITUTE, of values .2 * .3, .4 * .2 and .5.
    policy = policy_of([[0.6, 0, 0.4, 0], [0.0, 0.2, 0.3, 0.5]])
    values = [0.2 * 0.4, 0.3 * 0.2, 0.5]
    log_m = expectation(words("a"), words("b"), policy)
    assert math.exp(log_m[1, 1]) == pytest.approx(sum(v * v for v in values) / sum(values))
    p = move_probabilities(words("a"), words("b"), policy, log_m)
    assert p[1, 1].tolist() == pytest.approx([0, *(v / sum(values) for v in values)])
    assert math.exp(expectation(words("a"), words("b"), policy, "posterior")[1, 1]) == pytest.approx(sum(values))


def test_the_rule_of_moves() -> None:
    source, target = words("ab"), words("ac")
    assert allowed(source, target, 0, 0) == ()
    assert allowed(source, target, 0, 1) == (Op.INSERT,)
    assert allowed(source, target, 2, 0) == (Op.DELETE,)
    assert allowed(source, target, 1, 1) == (Op.KEEP,)
    assert allowed(source, target, 2, 2) == (Op.DELETE, Op.INSERT, Op.SUBSTITUTE)
    # A word that is written like the marker is a word: column 0 still only deletes, row 0 only inserts.
    assert allowed([MARKER, MARKER], [MARKER, MARKER], 1, 0) == (Op.DELETE,)
    assert allowed([MARKER, MARKER], [MARKER, MARKER], 0, 1) == (Op.INSERT,)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("", "", [[KEEP]]),
        ("", "ab", [[Edit(Op.INSERT, ("a", "b"))]]),
        ("ab", "", [[KEEP, DELETE, DELETE]]),
        ("a", "a", [[KEEP, KEEP]]),
        ("abca", "abca", [[KEEP] * 5]),
        ("a", "b", [[KEEP, Edit(Op.SUBSTITUTE, ("b",))], [Edit(Op.INSERT, ("b",)), DELETE]]),
    ],
)
def test_edges(method: Method, source: str, target: str, expected: list[list[Edit]]) -> None:
    rng = np.random.default_rng(7)
    a, b = words(source), words(target)
    for _ in range(10):
        assert sample(a, b, random_policy(len(a), rng), rng, method) in expected


@pytest.mark.parametrize("method", METHODS)
def test_zeros_that_leave_a_path_leave_only_that_path(method: Method) -> None:
    source, target = words("ab"), words("xb")
    policy = policy_of([[1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    rng = np.random.default_rng(8)
    assert sample(source, target, policy, rng, method) == [KEEP, Edit(Op.SUBSTITUTE, ("x",)), KEEP]
    assert np.isneginf(expectation(source, target, policy, method)[0, 1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "target"), [("ab", "xb"), ("ab", "ab"), ("a", ""), ("", "a")])
def test_zeros_that_leave_no_path_raise(method: Method, source: str, target: str) -> None:
    policy = policy_of([[1, 0, 0, 0]] + [[0, 0, 0.5, 0.5]] * len(source))
    with pytest.raises(ValueError, match="no path from the source to the target has mass"):
        sample(words(source), words(target), policy, np.random.default_rng(0), method)


def test_a_500_token_source() -> None:
    rng = np.random.default_rng(9)
    source, target = words("".join(rng.choice(list("abcdef"), 500))), words("".join(rng.choice(list("abcdef"), 30)))
    policy = random_policy(501, rng)
    log_m = expectation(source, target, policy)
    assert log_m[-1, -1] < -745  # where a plain float64 would be 0
    assert apply(source, sample(source, target, policy, rng)) == target


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.zeros((2, 4)), r"shape \(2, 4\), expected \(3, 4\)"),
        (np.full((3, 4), np.nan), "got nan or inf"),
        (np.full((3, 4), np.inf), "got nan or inf"),
    ],
)
def test_what_is_not_a_policy_is_refused(policy: LogPolicy, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expectation(words("ab"), words("a"), policy)


def test_an_unknown_method_and_a_missing_marker_are_refused() -> None:
    with pytest.raises(ValueError, match="dps, posterior; got 'greedy'"):
        expectation(words("a"), words("a"), np.zeros((2, 4)), "greedy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="starts with its marker"):
        expectation([], words("a"), np.zeros((0, 4)))
