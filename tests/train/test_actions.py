"""What policies do with states, and what that earns."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from riseq.core.batch import PhraseIndex, index_phrases
from riseq.core.edits import MARKER, Op
from riseq.core.packed import Interner, Packed
from riseq.core.reward import reward as slow_reward
from riseq.train.actions import (
    draw_guided,
    find_lost,
    gold_actions,
    reach,
    reward,
    scale_rewards,
    take_actions,
)

K, D, I, S = (int(op) for op in Op)  # noqa: E741
WORDS = ["a", "b", "c", "d"]
sequences = st.lists(st.sampled_from(WORDS), max_size=4).map(lambda words: [MARKER, *words])
pairs = st.lists(st.tuples(sequences, sequences), min_size=1, max_size=4)


class World:
    """Pairs as the trainer holds them, and a vocabulary of every slice of every target."""

    def __init__(self, pairs: list[tuple[list[str], list[str]]], phrases: list[list[str]] | None = None) -> None:
        self.pairs = pairs
        self.interner = Interner()
        self.sources = self.interner.pack([source for source, _ in pairs])
        self.targets = self.interner.pack([target for _, target in pairs])
        if phrases is None:
            cuts = {tuple(t[i:j]) for _, t in pairs for i in range(1, len(t)) for j in range(i + 1, len(t) + 1)}
            phrases = [list(cut) for cut in sorted(cuts)]
        self.index: PhraseIndex = index_phrases(self.interner.pack(phrases))

    def policy(self, seed: int) -> NDArray[np.float32]:
        odds = np.random.default_rng(seed).random((len(self.sources.values), 4)) + 0.05
        log_policies: NDArray[np.float32] = np.log(odds / odds.sum(1, keepdims=True)).astype(np.float32)
        return log_policies

    def seeds(self, seed: int) -> NDArray[np.uint64]:
        return np.random.default_rng(seed).integers(0, 2**63, size=len(self.pairs), dtype=np.uint64)

    def words(self, packed: Packed) -> list[list[str]]:
        return self.interner.unpack(packed)


@settings(deadline=None, max_examples=30)  # the first call compiles
@given(pairs)
def test_gold_edits_reach_the_target(pairs: list[tuple[list[str], list[str]]]) -> None:
    world = World(pairs)
    actions = gold_actions(world.sources, world.targets, world.index)
    assert world.words(reach(world.sources, actions.ops, actions.phrases, world.index)) == [t for _, t in pairs]
    assert not actions.lost.any()
    assert (actions.weights == 1).all()


@settings(deadline=None, max_examples=40)
@given(pairs, st.integers(0, 1000), st.sampled_from(["dps", "posterior"]))
def test_guided_edits_reach_the_target_and_earn_the_slow_reward(
    pairs: list[tuple[list[str], list[str]]], seed: int, method: Literal["dps", "posterior"]
) -> None:
    world = World(pairs)
    actions = draw_guided(world.sources, world.targets, world.policy(seed), world.seeds(seed), world.index, method)
    assert world.words(reach(world.sources, actions.ops, actions.phrases, world.index)) == [t for _, t in pairs]
    assert not actions.lost.any()
    for k, (source, target) in enumerate(pairs):
        ops = actions.ops[world.sources.offsets[k] : world.sources.offsets[k + 1]]
        assert actions.weights[k] == pytest.approx(slow_reward(source, target, target, int((ops != K).sum())))


def test_a_phrase_outside_the_vocabulary_is_lost_and_costs_reward() -> None:
    pair = ([MARKER, "did", "ira", "hayes", "win"], [MARKER, "did", "he", "win"])
    known, unknown = World([pair], [["he"]]), World([pair], [["she"]])
    said = gold_actions(known.sources, known.targets, known.index)
    assert said.ops.tolist() == [K, K, S, S, K]
    assert said.phrases.tolist() == [-1, -1, 0, -1, -1]
    assert not said.lost.any()
    silent = gold_actions(unknown.sources, unknown.targets, unknown.index)
    assert silent.lost.tolist() == [False, False, True, True, False]
    reached = reach(unknown.sources, silent.ops, silent.phrases, unknown.index)
    assert unknown.words(reached) == [[MARKER, "did", "win"]]
    # Eq. 7 with the word missing: 1 / (1 + 1) * (2 - 1 - 2 + 1).
    assert reward(unknown.sources, unknown.targets, silent.ops, silent.phrases, unknown.index).tolist() == [0.0]
    assert reward(known.sources, known.targets, said.ops, said.phrases, known.index).tolist() == [1.0]


@pytest.mark.parametrize(
    ("ops", "phrases", "lost"),
    [
        ([K, K], [-1, -1], [0, 0]),
        ([I, K], [-1, -1], [1, 0]),
        ([I, D], [3, -1], [0, 0]),
        ([K, S, S, K, S], [-1, 2, -1, -1, -1], [0, 0, 0, 0, 1]),
        ([K, S, S, K, S], [-1, -1, -1, -1, 4], [0, 1, 1, 0, 0]),
        ([K, S, K, S, S], [-1, 1, -1, -1, -1], [0, 0, 0, 1, 1]),
    ],
    ids=str,
)
def test_every_word_of_a_run_is_lost_with_its_first(ops: list[int], phrases: list[int], lost: list[int]) -> None:
    found = find_lost(np.array(ops, dtype=np.int8), np.array(phrases, dtype=np.int64))
    assert found.astype(int).tolist() == lost


def test_actions_of_some_states_are_those_of_each() -> None:
    world = World([([MARKER, "a"], [MARKER, "b"]), ([MARKER], [MARKER, "c"]), ([MARKER, "d"], [MARKER])])
    actions = gold_actions(world.sources, world.targets, world.index)
    taken = take_actions(actions, world.sources.offsets, np.array([2, 1]))
    assert taken.ops.tolist() == [K, D, I]
    assert taken.phrases.tolist() == [-1, -1, world_phrase(world, "c")]
    assert len(taken.weights) == 2


def world_phrase(world: World, word: str) -> int:
    return world.words(world.index.phrases).index([word])


def test_rewards_are_floored_and_bounded() -> None:
    world = World([([MARKER, "a", "b", "c"], [MARKER, "d"]), ([MARKER, "a"], [MARKER, "a"])])
    weights = np.array([1.5, -2.0])
    scale = (world.sources, world.targets)
    assert scale_rewards(weights, *scale, None, False).tolist() == [1.5, -2.0]
    assert scale_rewards(weights, *scale, 0.0, False).tolist() == [1.5, 0.0]
    assert scale_rewards(weights, *scale, None, True).tolist() == [0.5, -2.0]  # distances 3 and 0
    assert weights.tolist() == [1.5, -2.0]
