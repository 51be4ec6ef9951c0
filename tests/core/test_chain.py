"""The laws of the joint editing policy: best path, marginals and draws against all operations written out."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pairs import paths
from scipy.stats import chisquare

from riseq.core.batch import Sampled, apply, sample_seeded
from riseq.core.chain import best_path, draw, max_marginals
from riseq.core.edits import MARKER, Op, merge
from riseq.core.packed import pack
from riseq.core.sampler import Method

K, D, I, S = (int(op) for op in Op)  # noqa: E741
Policy = NDArray[np.float32]
Edits = tuple[tuple[int, tuple[int, ...]], ...]
METHODS: tuple[Method, ...] = ("dps", "posterior")


def joint_policy(words: int, seed: int) -> Policy:
    """Return a policy as the network's are: the marker stays, and DELETE and SUBSTITUTE are no neighbours."""
    odds = np.random.default_rng(seed).random((words, 4, 4)) + 0.02
    odds[0, :, [D, S]] = 0
    odds[:, [D, S], [S, D]] = 0
    with np.errstate(divide="ignore"):
        scores: Policy = np.log(odds / odds.sum(-1, keepdims=True)).astype(np.float32)
    return scores


def log_probability(ops: tuple[int, ...], policy: Policy) -> float:
    return float(sum(policy[word, before, op] for word, (before, op) in enumerate(zip((K, *ops), ops, strict=False))))


def every_ops(words: int) -> list[tuple[int, ...]]:
    return [ops for ops in itertools.product(range(4), repeat=words) if ops[0] in (K, I)]


def fits(observed: NDArray[np.int64], expected: NDArray[np.float64]) -> bool:
    """Return whether counts follow their expectation; what is expected less than five times is counted together."""
    often = expected >= 5
    seen = np.append(observed[often], observed[~often].sum())
    wanted = np.append(expected[often], expected[~often].sum())
    held = wanted > 0
    assert not seen[~held].any()
    wanted *= seen.sum() / wanted.sum()
    return bool(held.sum() == 1 or chisquare(seen[held], wanted[held]).pvalue > 1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_the_best_path_and_its_rivals_are_those_of_all_operations(seed: int) -> None:
    policies = [joint_policy(words, seed) for words in (1, 3, 4)]
    padded = np.full((3, 4, 4, 4), 5.0, dtype=np.float32)  # what is no word may hold anything
    real = np.zeros((3, 4), dtype=np.bool_)
    for row, policy in enumerate(policies):
        padded[row, : len(policy)], real[row, : len(policy)] = policy, True
    best, found = best_path(padded, real), max_marginals(padded, real)
    for row, policy in enumerate(policies):
        every = every_ops(len(policy))
        scores = np.array([log_probability(ops, policy) for ops in every])
        assert np.exp(scores).sum() == pytest.approx(1.0, rel=1e-5)
        assert tuple(best[row, : len(policy)]) == every[int(scores.argmax())]
        assert not best[row, len(policy) :].any()
        for word in range(len(policy)):
            highest = [max(s for ops, s in zip(every, scores, strict=True) if ops[word] == op) for op in (K, I)]
            assert np.exp(found[row, word]).sum() == pytest.approx(1.0, rel=1e-5)
            assert found[row, word, K] - found[row, word, I] == pytest.approx(highest[0] - highest[1], abs=1e-5)


def test_an_independent_policy_is_a_chain_that_forgets() -> None:
    scores = np.log(np.random.default_rng(3).dirichlet(np.ones(4), size=(2, 5))).astype(np.float32)[:, :, None]
    scores[:, 0, :, [D, S]] = -1e4
    real = np.ones((2, 5), dtype=np.bool_)
    repeated = np.repeat(scores, 4, axis=2)
    assert best_path(scores, real).tolist() == best_path(repeated, real).tolist() == scores[:, :, 0].argmax(-1).tolist()
    np.testing.assert_allclose(max_marginals(repeated, real)[:, 1:], scores[:, 1:, 0], rtol=1e-4)


def test_draws_follow_the_policy_and_epsilon_the_best() -> None:
    policy = joint_policy(3, 1)[None]
    count = 6000
    drawn = Counter(map(tuple, draw(policy, np.random.default_rng(0), count)[:, 0].tolist()))
    every = [ops for ops in every_ops(3) if log_probability(ops, policy[0]) > -1e3]
    expected = np.array([np.exp(log_probability(ops, policy[0])) for ops in every]) * count
    assert sum(drawn[ops] for ops in every) == count
    assert fits(np.array([drawn[ops] for ops in every]), expected)
    greedy = draw(policy, np.random.default_rng(0), 1, epsilon=0.0)[0, 0]
    before = K
    for word, op in enumerate(greedy):
        assert op == policy[0, word, before].argmax()
        before = int(op)
    wild = draw(policy, np.random.default_rng(0), 300, epsilon=0.7)[:, 0]
    assert set(wild[:, 0].tolist()) == {K, I}
    assert len({tuple(row) for row in wild.tolist()}) > 10
    assert not any({S, D} == {one, other} for row in wild.tolist() for one, other in itertools.pairwise(row))


def every_edit(source: list[int], target: list[int]) -> list[Edits]:
    """Return all edits that some path of Eq. 10 gives."""
    a, b = [MARKER, *map(str, source[1:])], [MARKER, *map(str, target[1:])]
    merged = {tuple(merge(path, b)) for path in paths(a, b)}
    return [tuple((int(edit.op), tuple(map(int, edit.phrase))) for edit in edits) for edits in merged]


def draw_many(source: list[int], target: list[int], policy: Policy, count: int, method: Method) -> Sampled:
    seeds = np.random.default_rng(5).integers(0, 2**63, size=count, dtype=np.uint64)
    return sample_seeded(pack([source] * count), pack([target] * count), np.tile(policy, (count, 1, 1)), seeds, method)


def read_edits(drawn: Sampled, values: NDArray[np.int32], words: int) -> list[Edits]:
    rows = []
    for first in range(0, len(drawn.ops), words):
        starts, ends = drawn.phrase_start[first : first + words], drawn.phrase_end[first : first + words]
        phrases = [tuple(values[a:b].tolist()) if a >= 0 else () for a, b in zip(starts, ends, strict=True)]
        rows.append(tuple(zip(drawn.ops[first : first + words].tolist(), phrases, strict=True)))
    return rows


CASES = [
    ([1, 2, 3], [2, 4, 1]),
    ([1, 2, 2, 3], [3, 2]),
    ([1, 2], [3]),
    ([1, 2, 3], [1, 4, 3]),
    ([1, 1], [1, 2]),
    ([], [1, 2]),
    ([1, 2, 1], []),
    ([1, 2], [2, 3, 2]),
]


@pytest.mark.parametrize(("source", "target"), CASES, ids=str)
def test_the_posterior_is_that_of_all_edits_that_make_the_target(source: list[int], target: list[int]) -> None:
    source, target, count = [0, *source], [0, *target], 4000
    policy = joint_policy(len(source), 7)
    every = every_edit(source, target)
    weights = np.array([np.exp(log_probability(tuple(op for op, _ in edits), policy)) for edits in every])
    drawn = draw_many(source, target, policy, count, "posterior")
    assert drawn.ok.all()
    counts = Counter(read_edits(drawn, pack([target] * count).values, len(source)))
    assert set(counts) <= set(every)
    observed, expected = np.array([counts[edits] for edits in every]), weights / weights.sum() * count
    assert fits(observed, expected)


def test_dps_by_hand() -> None:
    # "a" becomes "b": replaced, or deleted with "b" put after the marker.
    policy = joint_policy(2, 2)
    odds = np.exp(policy.astype(np.float64))
    replaced, inserted = odds[0, K, K] * odds[1, K, S], odds[0, K, I] * odds[1, I, D]
    counts = Counter(draw_many([0, 1], [0, 2], policy, 4000, "dps").ops.reshape(-1, 2)[:, 1].tolist())
    assert counts[S] / 4000 == pytest.approx(replaced / (replaced + inserted), abs=0.03)
    # "a b" becomes "c": two ways end in a deleted "b", of which DPS has their squares by their sum, and not their sum.
    source, target = [0, 1, 2], [0, 3]
    policy = joint_policy(3, 4)
    odds = np.exp(policy.astype(np.float64))
    both = odds[0, K, K] * odds[1, K, S] * odds[2, S, S]
    before = odds[0, K, I] * odds[1, I, D] * odds[2, D, D]
    assert {tuple(op for op, _ in edits) for edits in every_edit(source, target)} == {(K, S, S), (I, D, D)}
    for method in METHODS:
        counts = Counter(draw_many(source, target, policy, 8000, method).ops.reshape(-1, 3)[:, 2].tolist())
        assert counts[S] / 8000 == pytest.approx(both / (both + before), abs=0.03)
    # "a b" becomes "a c a": INSERT after the marker meets INSERT after "a" in the deleted "b".
    source, target = [0, 1, 2], [0, 1, 3, 1]
    policy = joint_policy(3, 6)
    last: dict[int, float] = dict.fromkeys(range(4), 0.0)
    squares = dict(last)
    for edits in every_edit(source, target):
        value = float(np.exp(log_probability(tuple(op for op, _ in edits), policy)))
        last[edits[-1][0]] += value
        squares[edits[-1][0]] += value * value
    for method in METHODS:
        mass = {op: last[op] if method == "posterior" else squares[op] / last[op] for op in last if last[op]}
        counts = Counter(draw_many(source, target, policy, 8000, method).ops.reshape(-1, 3)[:, 2].tolist())
        assert set(counts) == set(mass)
        for op in mass:
            assert counts[op] / 8000 == pytest.approx(mass[op] / sum(mass.values()), abs=0.03)


sequences = st.lists(st.integers(1, 4), max_size=9).map(lambda words: [0, *words])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(sequences, sequences), min_size=1, max_size=5), st.integers(0, 10**6), st.sampled_from(METHODS)
)
def test_draws_make_the_target_and_keep_the_rules(
    pairs: list[tuple[list[int], list[int]]], seed: int, method: Method
) -> None:
    sources, targets = pack([source for source, _ in pairs]), pack([target for _, target in pairs])
    policies = np.concatenate([joint_policy(len(source), seed) for source, _ in pairs])
    seeds = np.random.default_rng(seed).integers(0, 2**63, size=len(pairs), dtype=np.uint64)
    drawn = sample_seeded(sources, targets, policies, seeds, method)
    assert drawn.ok.all()
    made = apply(sources, drawn.ops, targets.values, drawn.phrase_start, drawn.phrase_end)
    assert [row.tolist() for row in made] == [target for _, target in pairs]
    for k in range(len(pairs)):
        ops = drawn.ops[sources.offsets[k] : sources.offsets[k + 1]].tolist()
        assert not any({S, D} == {one, other} for one, other in itertools.pairwise(ops))


def test_a_policy_that_rules_the_target_out_is_told() -> None:
    policy = np.full((2, 4, 4), -np.inf, dtype=np.float32)
    policy[:, :, K] = 0.0
    drawn = draw_many([0, 1], [0, 2], policy, 1, "posterior")
    assert not drawn.ok[0]
    assert drawn.ops.tolist() == [K, K]
    assert drawn.phrase_start.tolist() == [-1, -1]
