"""The compiled batch core against the oracle and the plain one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numba
import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import (
    EVERY_PAIR,
    RENAMED_PAIRS,
    LogPolicy,
    Words,
    edits_of,
    pairs_with_policies,
    paths,
    policy_of,
    random_policy,
    sequences,
    words,
)
from scipy.stats import chisquare

from riseq.core import batch, kernels
from riseq.core.edits import KEEP, Edit, Op, merge
from riseq.core.edits import apply as apply_edits
from riseq.core.levenshtein import distance
from riseq.core.packed import Interner, Packed, pack, unpack
from riseq.core.phrases import PhraseVocabulary
from riseq.core.reward import reward
from riseq.core.sampler import Method, expectation, move_probabilities

METHODS: tuple[Method, ...] = ("dps", "posterior")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Keep to one thread: for batches this small, waking a second costs more than the work."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


class Batch:
    """Pairs of words, packed, with a policy and a seed each."""

    def __init__(self, pairs: Sequence[tuple[Words, Words]], policies: LogPolicy, seed: int = 0) -> None:
        self.pairs = pairs
        self.interner = Interner()
        self.sources = self.interner.pack(source for source, _ in pairs)
        self.targets = self.interner.pack(target for _, target in pairs)
        self.policies = policies
        self.seeds = np.random.default_rng(seed).integers(0, 2**64, size=len(pairs), dtype=np.uint64)

    def policy(self, k: int) -> LogPolicy:
        return self.policies[self.sources.offsets[k] : self.sources.offsets[k + 1]]

    def sample(self, method: Method) -> batch.Sampled:
        return batch.sample_seeded(self.sources, self.targets, self.policies, self.seeds, method)

    def edits(self, drawn: batch.Sampled) -> list[list[Edit]]:
        return list(edits_of(drawn, self.sources, self.targets, self.interner))

    def oracle(self, method: Method) -> list[list[Edit] | None]:
        policies = [self.policy(k).tolist() for k in range(len(self.pairs))]
        sources, targets = [source for source, _ in self.pairs], [target for _, target in self.pairs]
        return oracle.sample(sources, targets, policies, [int(seed) for seed in self.seeds], method)

    def applied(self, drawn: batch.Sampled) -> Packed:
        return batch.apply(self.sources, drawn.ops, self.targets.values, drawn.phrase_start, drawn.phrase_end)


def random_batch(pairs: Sequence[tuple[Words, Words]], seed: int = 0, spread: float = 1.5) -> Batch:
    return Batch(pairs, random_policy(sum(len(s) for s, _ in pairs), np.random.default_rng(seed), spread), seed)


def letters(rng: np.random.Generator, length: int, alphabet: str = "abcdefgh") -> Words:
    return words("".join(rng.choice(list(alphabet), length)))


@pytest.mark.parametrize("method", METHODS)
def test_every_short_pair_is_drawn_as_the_oracle_draws_it(method: Method) -> None:
    short = random_batch(EVERY_PAIR, seed=1)
    drawn = short.sample(method)
    assert drawn.ok.all()
    assert short.edits(drawn) == short.oracle(method)
    reached = short.applied(drawn)
    assert np.array_equal(reached.values, short.targets.values)
    assert np.array_equal(reached.offsets, short.targets.offsets)


@pytest.mark.parametrize("method", METHODS)
def test_every_short_table_of_the_kernels_equals_the_plain_one(method: Method) -> None:
    short = random_batch(EVERY_PAIR[::3], seed=2)
    for k, (source, target) in enumerate(short.pairs):
        a, b, policy = short.sources[k], short.targets[k], short.policy(k)
        table, logs, odds = np.empty(len(a) * len(b)), np.empty(len(a) * len(b)), np.empty((len(a), 4))
        kernels._fill_plain(a, b, policy, table, odds, method == "dps")
        kernels._fill_log(a, b, policy, logs, method == "dps")
        plain = expectation(source, target, policy, method).ravel()
        assert np.log(table) == pytest.approx(plain, rel=1e-9, abs=1e-12)
        assert logs == pytest.approx(plain, rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(pairs_with_policies(lowest=-200.0))  # on both sides of where plain arithmetic gives way to log space
def test_equals_the_oracle_beyond(case: tuple[Words, Words, LogPolicy]) -> None:
    source, target, policy = case
    one = Batch([(source, target)], policy)
    for method in METHODS:
        assert one.edits(one.sample(method)) == one.oracle(method)
        expected = oracle.log_table(source, target, policy.tolist(), method)[-1][-1]
        assert expectation(source, target, policy, method)[-1, -1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(deadline=None)
@given(pairs_with_policies(lowest=-60.0), st.data())
def test_zeros_in_a_policy(case: tuple[Words, Words, LogPolicy], data: st.DataObject) -> None:
    source, target, policy = case
    cells = st.tuples(st.integers(0, len(source) - 1), st.integers(0, 3))
    for cell in data.draw(st.lists(cells, max_size=12)):
        policy[cell] = -np.inf
    one = Batch([(source, target)], policy)
    for method in METHODS:
        drawn = one.sample(method)
        expected = one.oracle(method)[0]
        assert drawn.ok[0] == (expected is not None)
        assert one.edits(drawn) == [expected if expected is not None else [KEEP] * len(source)]


def test_pairs_without_a_path_do_not_touch_their_neighbours() -> None:
    keep_only = policy_of([[1, 0, 0, 0]] * 3)
    pairs = [(words("ab"), words("ab")), (words("ab"), words("xb")), (words("ab"), words("ab"))]
    three = Batch(pairs, np.concatenate([keep_only] * 3))
    drawn = three.sample("dps")
    assert drawn.ok.tolist() == [True, False, True]
    assert three.edits(drawn) == [[KEEP] * 3] * 3
    # A common ending that cannot be kept is no path either, though nothing there is drawn.
    never = Batch([(words("ab"), words("b"))], policy_of([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]))
    assert never.sample("dps").ok.tolist() == [False]


@pytest.mark.parametrize("method", METHODS)
def test_all_mass_on_one_path_gets_that_path(method: Method) -> None:
    pairs, policies, expected = [], [], []
    for source, target in [pair for pair in RENAMED_PAIRS if max(map(len, pair)) <= 4]:
        every = paths(source, target)
        used = [{(move.i, move.op) for move in path} for path in every]
        for path, cells in zip(every, used, strict=True):
            if sum(others <= cells for others in used) > 1:
                continue  # the same operations of the same tokens allow another path too
            policy = np.zeros((len(source), 4))
            for i, op in cells:
                policy[i, op] = 1.0
            policies.append(policy / np.maximum(policy.sum(axis=1, keepdims=True), 1))
            pairs.append((source, target))
            expected.append(merge(path, target))
    assert len(pairs) > 1000
    certain = Batch(pairs, policy_of(np.concatenate(policies).tolist()))
    drawn = certain.sample(method)
    assert drawn.ok.all()
    assert certain.edits(drawn) == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "target"), [("ab", "cd"), ("abca", "ba"), ("a", "bcd"), ("abc", "dbe")])
@pytest.mark.parametrize("scale", [1.0, 100.0], ids=["plain arithmetic", "log space"])
def test_frequencies_are_products_of_p(method: Method, source: str, target: str, scale: float) -> None:
    count = 5_000
    a, b = words(source), words(target)
    policy = random_policy(len(a), np.random.default_rng(3), spread=0.5)
    # Scaling KEEP of the marker changes no path, but makes the kernel take its other arithmetic.
    policy[0, Op.KEEP] = -4.0 * scale
    p = move_probabilities(a, b, policy, expectation(a, b, policy, method))
    expected: dict[tuple[Edit, ...], float] = defaultdict(float)
    for path in paths(a, b):
        expected[tuple(merge(path, b))] += float(np.prod([p[move.i, move.j, move.op] for move in path]))
    many = Batch([(a, b)] * count, np.tile(policy, (count, 1)), seed=4)
    drawn = Counter(map(tuple, many.edits(many.sample(method))))
    assert drawn.keys() <= expected.keys()
    observed = [drawn[edits] for edits in expected]
    assert min(expected.values()) * count > 5
    assert chisquare(observed, np.array(list(expected.values())) * count).pvalue > 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_500_tokens(method: Method) -> None:
    rng = np.random.default_rng(5)
    same = letters(rng, 500)
    pairs = [
        (same, same),
        (letters(rng, 500), letters(rng, 500)),
        (letters(rng, 500, "abcd"), letters(rng, 500, "wxyz")),
        (letters(rng, 500), words("")),
        (words(""), letters(rng, 500)),
    ]
    policies = random_policy(sum(len(source) for source, _ in pairs), rng)
    long = Batch(pairs, policies - np.float32(2), seed=6)
    drawn = long.sample(method)
    assert drawn.ok.all()
    assert unpack(long.applied(drawn)) == unpack(long.targets)
    policy = long.policy(1).tolist()
    assert [long.edits(drawn)[1]] == oracle.sample([pairs[1][0]], [pairs[1][1]], [policy], [int(long.seeds[1])], method)
    expected = oracle.log_table(*pairs[1], policy, method)[-1][-1]
    assert expected < -745  # where a plain float64 would be 0
    logs = np.empty(len(long.sources[1]) * len(long.targets[1]))
    kernels._fill_log(long.sources[1], long.targets[1], long.policy(1), logs, method == "dps")
    assert logs[-1] == pytest.approx(expected, rel=1e-9)


def test_edges() -> None:
    pairs = [("", ""), ("", "ab"), ("ab", ""), ("a", "a"), ("a", "b"), ("abc", "abc"), ("ab", "cd")]
    edges = random_batch([(words(source), words(target)) for source, target in pairs])
    drawn = edges.sample("dps")
    assert edges.edits(drawn)[:3] == [[KEEP], [Edit(Op.INSERT, ("a", "b"))], [KEEP, Edit(Op.DELETE), Edit(Op.DELETE)]]
    assert unpack(edges.applied(drawn)) == unpack(edges.targets)
    nothing = random_batch([])
    assert len(nothing.sample("dps").ok) == 0
    assert len(nothing.applied(nothing.sample("dps"))) == 0
    assert len(batch.distances(nothing.sources, nothing.targets)) == 0


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread cannot differ from itself")
@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_threads_changes_nothing(method: Method) -> None:
    rng = np.random.default_rng(7)
    many = random_batch([(letters(rng, k % 13), letters(rng, k % 7)) for k in range(1000)])
    results = []
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            drawn = batch.sample_seeded(many.sources, many.targets, many.policies, many.seeds, method)
            results.append((drawn.ops, drawn.phrase_start, drawn.phrase_end, drawn.ok))
    finally:
        numba.set_num_threads(1)
    assert all(np.array_equal(one, two) for one, two in zip(*results, strict=True))


def test_the_generator_alone_decides() -> None:
    rng = np.random.default_rng(9)
    many = random_batch([(letters(rng, 8), letters(rng, 6)) for _ in range(200)])
    arrays = (many.sources, many.targets, many.policies)
    seeds = [np.random.default_rng(seed).integers(0, 2**64, len(arrays[0]), np.uint64) for seed in (1, 1, 2)]
    one, again, other = (batch.sample_seeded(*arrays, some).ops for some in seeds)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_distances_of_every_short_pair() -> None:
    short = random_batch(EVERY_PAIR)
    expected = oracle.distances(unpack(short.sources), unpack(short.targets))
    assert batch.distances(short.sources, short.targets).tolist() == expected


@settings(deadline=None)
@given(st.lists(st.tuples(st.lists(st.integers(0, 3)), st.lists(st.integers(0, 3))), max_size=5))
def test_distances_equal_the_oracle(pairs: list[tuple[list[int], list[int]]]) -> None:
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    assert batch.distances(pack(sources), pack(targets)).tolist() == oracle.distances(sources, targets)


@pytest.mark.parametrize(("m", "n"), [(63, 70), (64, 64), (65, 64), (65, 66), (70, 3), (500, 500)])
def test_distances_around_and_beyond_a_machine_word(m: int, n: int) -> None:
    rng = np.random.default_rng(m + n)
    a = [[9, *rng.integers(0, 3, m - 2).tolist(), 8] for _ in range(3)]
    b = [[7, *rng.integers(0, 3, n - 2).tolist(), 6] for _ in range(3)]
    assert batch.distances(pack(a), pack(b)).tolist() == [distance(x, y) for x, y in zip(a, b, strict=True)]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(sequences, sequences), min_size=1, max_size=6), st.integers(0, 4), st.integers(0, 2**32))
def test_phrases_states_and_rewards_equal_the_plain_ones(
    pairs: list[tuple[Words, Words]], size: int, seed: int
) -> None:
    drawn_from = random_batch(pairs, seed=seed)
    drawn = drawn_from.sample("dps")
    vocabulary = PhraseVocabulary.from_pairs(pairs, size=size)
    phrases = drawn_from.interner.pack(vocabulary)
    index = batch.index_phrases(phrases)
    words_said = drawn_from.targets.values
    ids = batch.lookup_phrases(words_said, drawn.phrase_start, drawn.phrase_end, index)
    reached = batch.apply(drawn_from.sources, drawn.ops, phrases.values, *batch.phrase_slices(phrases, ids))
    gained = batch.rewards(drawn_from.sources, reached, drawn_from.targets, drawn.ops)

    edits = drawn_from.edits(drawn)
    expected_ids = [vocabulary.ids.get(edit.phrase, -1) for one in edits for edit in one]
    assert ids.tolist() == expected_ids
    for k, (source, target) in enumerate(pairs):
        # What is outside the vocabulary cannot be said.
        said = [Edit(edit.op, edit.phrase if edit.phrase in vocabulary else ()) for edit in edits[k]]
        state = apply_edits(source, said)
        assert drawn_from.interner.unpack(reached)[k] == state
        assert gained[k] == pytest.approx(
            reward(source, state, target, sum(edit.op is not Op.KEEP for edit in edits[k]))
        )


def test_phrases_that_share_a_hash_are_told_apart() -> None:
    phrases = pack([[1], [2], [3, 4]])
    honest = batch.index_phrases(phrases)
    wanted = honest.hashes[honest.ids.tolist().index(1)]
    crowded = batch.PhraseIndex(phrases, np.full(3, wanted), np.array([0, 2, 1]))
    values = np.array([2], dtype=np.int32)
    assert batch.lookup_phrases(values, np.array([0]), np.array([1]), crowded).tolist() == [1]


def test_what_does_not_fit_is_refused() -> None:
    two = random_batch([(words("ab"), words("cd")), (words("a"), words("b"))])
    arrays = (two.sources, two.targets)
    seeds = two.seeds
    drawn = two.sample("dps")
    values = two.targets.values
    start, end = drawn.phrase_start, drawn.phrase_end
    with pytest.raises(ValueError, match=r"policies of shape \(4, 4\), expected \(5, 4\)"):
        batch.sample_seeded(*arrays, two.policies[:4], seeds)
    with pytest.raises(ValueError, match="got nan or inf"):
        batch.sample_seeded(*arrays, two.policies * np.float32(np.nan), seeds)
    with pytest.raises(ValueError, match="dps, posterior; got 'greedy'"):
        batch.sample_seeded(*arrays, two.policies, seeds, "greedy")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one uint64 seed a pair"):
        batch.sample_seeded(*arrays, two.policies, seeds[:1])
    with pytest.raises(ValueError, match="2 sources for 1 targets"):
        batch.distances(two.sources, pack([[1]]))
    with pytest.raises(ValueError, match="starts with its marker; sequence 1 is empty"):
        batch.sample_seeded(two.sources, pack([[0], []]), two.policies, seeds)
    with pytest.raises(ValueError, match="4 ops for 5 source positions"):
        batch.apply(two.sources, drawn.ops[:4], values, start, end)
    with pytest.raises(ValueError, match="marker is only kept or inserted after"):
        batch.apply(two.sources, np.full(5, Op.DELETE, dtype=np.int8), values, start, end)
    with pytest.raises(ValueError, match="a phrase is a slice of the 5 words"):
        batch.apply(two.sources, drawn.ops, values, start, end + 9)
    with pytest.raises(ValueError, match="1 starts of phrases for 5 ends"):
        batch.lookup_phrases(values, start[:1], end, batch.index_phrases(pack([[1]])))
