"""What a policy did with a batch of states, and what that was worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from riseq.core import batch as core
from riseq.core.batch import PhraseIndex
from riseq.core.edits import Op
from riseq.core.levenshtein import gold_edits
from riseq.core.packed import Packed
from riseq.model.inputs import take_ragged

Ops = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Actions:
    """Edits and phrases by word (packed as the states' words are), and a weight by state."""

    ops: Ops
    phrases: NDArray[np.int64]
    """The phrase's place in the vocabulary at each INSERT and at the first of each run of SUBSTITUTEs; or -1."""
    weights: NDArray[np.float64]
    lost: NDArray[np.bool_]
    """True at the words of an edit whose phrase is outside the vocabulary: it gets no credit."""


def draw_guided(
    sources: Packed,
    targets: Packed,
    log_policies: NDArray[np.float32],
    seeds: NDArray[np.uint64],
    index: PhraseIndex,
    method: Literal["dps", "posterior"],
) -> Actions:
    """Return edits drawn by dynamic programming (Eq. 8-11), weighted by their reward (Eq. 7)."""
    drawn = core.sample_seeded(sources, targets, log_policies, seeds, method)
    phrases = core.lookup_phrases(targets.values, drawn.phrase_start, drawn.phrase_end, index)
    weights = reward(sources, targets, drawn.ops, phrases, index)
    weights[~drawn.ok] = 0.0
    return Actions(drawn.ops, phrases, weights, find_lost(drawn.ops, phrases))


def gold_actions(sources: Packed, targets: Packed, index: PhraseIndex) -> Actions:
    """Return the edits of one cheapest alignment of each pair, all of weight one: what -MLD learns."""
    ops, starts, ends = [], [], []
    for k in range(len(sources)):
        edits = gold_edits([str(w) for w in sources[k]], [str(w) for w in targets[k]])
        at = int(targets.offsets[k])
        for edit in edits:
            ops.append(int(edit.op))
            kept = edit.op in (Op.KEEP, Op.INSERT)
            at += kept
            starts.append(at if edit.phrase else -1)
            at += len(edit.phrase)
            ends.append(at if edit.phrase else -1)
    found = np.array(ops, dtype=np.int8)
    phrases = core.lookup_phrases(targets.values, np.array(starts), np.array(ends), index)
    return Actions(found, phrases, np.ones(len(sources)), find_lost(found, phrases))


def take_actions(actions: Actions, offsets: NDArray[np.int64], index: NDArray[np.int64]) -> Actions:
    """Return the actions of the states at ``index``, whose words lie at ``offsets``."""
    at, _ = take_ragged(np.arange(len(actions.ops)), offsets, index)
    return Actions(actions.ops[at], actions.phrases[at], actions.weights[index], actions.lost[at])


def reward(
    sources: Packed, targets: Packed, ops: Ops, phrases: NDArray[np.int64], index: PhraseIndex
) -> NDArray[np.float64]:
    """Return Eq. 7 for each state, with the state that the vocabulary's phrases really reach."""
    return core.rewards(sources, reach(sources, ops, phrases, index), targets, ops)


def reach(sources: Packed, ops: Ops, phrases: NDArray[np.int64], index: PhraseIndex) -> Packed:
    """Return the next states."""
    starts, ends = core.phrase_slices(index.phrases, phrases)
    return core.apply(sources, ops, index.phrases.values, starts, ends)


def find_lost(ops: Ops, phrases: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which words carry an edit whose phrase the vocabulary does not have."""
    substitute = ops == Op.SUBSTITUTE
    first = substitute.copy()
    first[1:] &= ~substitute[:-1]
    lost: NDArray[np.bool_] = (ops == Op.INSERT) & (phrases < 0)
    # Every word of a run shares the fate of its first; the marker parts one question's run from the next one's.
    run = np.cumsum(first) - 1
    runs_lost = phrases[first] < 0
    if len(runs_lost):
        lost |= substitute & runs_lost[np.maximum(run, 0)]
    return lost


def scale_rewards(
    weights: NDArray[np.float64], sources: Packed, targets: Packed, floor: float | None, bounded: bool
) -> NDArray[np.float64]:
    """Return the rewards raised to ``floor``; ``bounded`` divides them by what the pair's shortest way would earn."""
    if bounded:
        # One edit can do the whole work at best, so no pass earns more than LD(y, y*) - 1 + 1.
        best = np.maximum(core.distances(sources, targets), 1)
        weights = weights / best
    return weights if floor is None else np.maximum(weights, floor)


def draw_epsilon(log_policies: NDArray[np.float32], markers: NDArray[np.int64], epsilon: float, seed: int) -> Ops:
    """Return the policy's best edit at each word, or with probability ``epsilon`` any edit it may have there (-DPS)."""
    rng = np.random.default_rng(seed)
    best = log_policies.argmax(1).astype(np.int8)
    anything = rng.integers(0, len(Op), size=len(best)).astype(np.int8)
    anything[markers] = np.where(anything[markers] % 2 == 0, Op.KEEP, Op.INSERT)
    return np.where(rng.random(len(best)) < epsilon, anything, best).astype(np.int8)
