"""What a policy does with a batch of states, what that earns (Eq. 7), and the losses that follow (Eq. 4)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core import batch as core
from riseq.core.batch import PhraseIndex
from riseq.core.edits import Op
from riseq.core.levenshtein import gold_edits
from riseq.core.packed import Packed
from riseq.model.inputs import Batch, SpanBatch, find_spans, take_ragged

Ops = NDArray[np.int8]
Index = NDArray[np.int64]
Floats = NDArray[np.float64]
Seeds = NDArray[np.uint64]
Scores = NDArray[np.float32]
Sampler = Literal["dps", "posterior"]


@dataclass(frozen=True, slots=True)
class Actions:
    """Edits and phrases by word (packed as the states' words are), and a weight by state."""

    ops: Ops
    phrases: Index
    """The phrase's index in the vocabulary at each INSERT and at the first of each run of SUBSTITUTEs; or -1."""
    weights: Floats
    lost: NDArray[np.bool_]
    """True at the words of an edit whose phrase is outside the vocabulary: it gets no credit."""


def draw_guided(
    sources: Packed, targets: Packed, log_policies: Scores, seeds: Seeds, index: PhraseIndex, method: Sampler
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
            at += edit.op in (Op.KEEP, Op.INSERT)
            starts.append(at if edit.phrase else -1)
            at += len(edit.phrase)
            ends.append(at if edit.phrase else -1)
    found = np.array(ops, dtype=np.int8)
    phrases = core.lookup_phrases(targets.values, np.array(starts), np.array(ends), index)
    return Actions(found, phrases, np.ones(len(sources)), find_lost(found, phrases))


def take_actions(actions: Actions, offsets: Index, index: Index) -> Actions:
    """Return the actions of the states at ``index``, whose words lie at ``offsets``."""
    at, _ = take_ragged(np.arange(len(actions.ops)), offsets, index)
    return Actions(actions.ops[at], actions.phrases[at], actions.weights[index], actions.lost[at])


def reward(sources: Packed, targets: Packed, ops: Ops, phrases: Index, index: PhraseIndex) -> Floats:
    """Return Eq. 7 for each state, with the state that the vocabulary's phrases really reach."""
    return core.rewards(sources, reach(sources, ops, phrases, index), targets, ops)


def reach(sources: Packed, ops: Ops, phrases: Index, index: PhraseIndex) -> Packed:
    """Return the next states."""
    starts, ends = core.phrase_slices(index.phrases, phrases)
    return core.apply(sources, ops, index.phrases.values, starts, ends)


def find_lost(ops: Ops, phrases: Index) -> NDArray[np.bool_]:
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


def scale_rewards(weights: Floats, sources: Packed, targets: Packed, floor: float | None, bounded: bool) -> Floats:
    """Return the rewards raised to ``floor``; ``bounded`` divides them by what the pair's shortest way would earn."""
    if bounded:
        # One edit can do the whole work at best, so no pass earns more than LD(y, y*) - 1 + 1.
        weights = weights / np.maximum(core.distances(sources, targets), 1)
    return weights if floor is None else np.maximum(weights, floor)


def draw_epsilon(log_policies: Scores, markers: Index, epsilon: float, seed: int) -> Ops:
    """Return the policy's best edit at each word, or with probability ``epsilon`` any edit it may have there (-DPS)."""
    rng = np.random.default_rng(seed)
    best = log_policies.argmax(1).astype(np.int8)
    anything = rng.integers(0, len(Op), size=len(best)).astype(np.int8)
    anything[markers] = np.where(anything[markers] % 2 == 0, Op.KEEP, Op.INSERT)
    return np.where(rng.random(len(best)) < epsilon, anything, best).astype(np.int8)


def credited_spans(batch: Batch, ops_BW: Index, actions: Actions, offsets: Index) -> tuple[SpanBatch, Index, Scores]:
    """Return the spans whose phrase the vocabulary has, their phrases, and their states' weights."""
    spans = find_spans(batch, ops_BW)
    phrases = actions.phrases[offsets[spans.row_N] + spans.word_N]
    known = np.flatnonzero(phrases >= 0)
    if not len(known):
        return unweighted_span(batch), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.float32)
    spans = SpanBatch(spans.row_N[known], spans.word_N[known], spans.start_N[known], spans.end_N[known])
    return spans, phrases[known], actions.weights[spans.row_N].astype(np.float32)


def unweighted_span(batch: Batch) -> SpanBatch:
    """Return one span that stands for none: every step runs the decoder, so that all steps are alike."""
    zero = np.zeros(1, dtype=np.int64)
    return SpanBatch(zero, zero, batch.firsts_BW[:1, 0], batch.firsts_BW[:1, 0] + 1)


def policy_loss(
    edits_BWE: Tensor, ops_BW: Tensor, weights_BW: Tensor, phrases_NP: Tensor, chosen_N: Tensor, weights_N: Tensor
) -> Tensor:
    """Return -sum r (log pi_e(a_e) + log pi_p(a_p)); weights are 0 at padding and where there is no credit."""
    edit = edits_BWE.gather(2, ops_BW[:, :, None]).squeeze(2)
    loss = -(edit * weights_BW).sum()
    if len(chosen_N):
        phrase = phrases_NP.gather(1, chosen_N[:, None]).squeeze(1)
        loss = loss - (phrase * weights_N).sum()
    return loss


def imitation_loss(
    edits_BWE: Tensor, taught_BWE: Tensor, real_BW: Tensor, phrases_NP: Tensor, taught_NP: Tensor
) -> Tensor:
    """Return the cross-entropy against a teacher's probabilities, summed over real words and spans."""
    loss = -((taught_BWE * edits_BWE).sum(-1) * real_BW).sum()
    return loss - (taught_NP * phrases_NP).sum()


def consistency_loss(first_BWE: Tensor, second_BWE: Tensor, real_BW: Tensor) -> Tensor:
    """Return the two-sided Kullback-Leibler divergence of two passes with different dropout, summed over real words."""
    difference = first_BWE - second_BWE
    gap = (first_BWE.exp() - second_BWE.exp()) * difference
    return 0.5 * (gap.sum(-1) * real_BW).sum()


def leave_one_out(rewards_KB: Tensor) -> Tensor:
    """Return each sample's reward less the mean of the others of its state.

    >>> leave_one_out(torch.tensor([[1.0], [0.0], [0.5]])).squeeze(1).tolist()
    [0.75, -0.75, 0.0]
    """
    samples = rewards_KB.shape[0]
    if samples < 2:
        raise ValueError(f"a baseline from the other samples needs two or more; got {samples}")
    others = (rewards_KB.sum(0, keepdim=True) - rewards_KB) / (samples - 1)
    return rewards_KB - others


def gumbel_argmax(log_probabilities: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return a draw from each last-axis distribution."""
    shape, device = log_probabilities.shape, log_probabilities.device
    uniform = torch.rand(shape, device=device, generator=generator, dtype=torch.float32)
    return (log_probabilities - (-uniform.clamp_min(1e-20).log()).log()).argmax(-1)
