"""What a policy does with a batch of states, what that earns (Eq. 7), and the losses that follow (Eq. 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core import batch as core
from riseq.core.batch import PhraseIndex
from riseq.core.copies import find_copies, write_copies
from riseq.core.copyable import Copyable
from riseq.core.edits import Op
from riseq.core.levenshtein import gold_edits
from riseq.core.packed import Ints, Packed
from riseq.model.inputs import Batch, SpanBatch, find_spans, take_ragged

Ops = NDArray[np.int8]
Index = NDArray[np.int64]
Floats = NDArray[np.float64]
Seeds = NDArray[np.uint64]
Scores = NDArray[np.float32]
Sampler = Literal["dps", "posterior"]

RULED_OUT = -1e3
"""No log-probability that a network gives by itself is below this."""


@dataclass(frozen=True, slots=True)
class Actions:
    """Edits and phrases by word (packed as the states' words are), and a weight by state."""

    ops: Ops
    phrases: Index
    """The phrase's id at each INSERT and at the first of each run of SUBSTITUTEs; or -1.

    It is the index in the vocabulary, or of a phrase that can only be copied from what the state's policy reads that
    of ``riseq.core.copyable``.
    """
    weights: Floats
    lost: NDArray[np.bool_]
    """True at words that get no credit, such as those of an edit whose phrase can be neither said nor copied."""


def draw_guided(
    sources: Packed,
    targets: Packed,
    log_policies: Scores,
    seeds: Seeds,
    index: PhraseIndex,
    method: Sampler,
    copyable: Copyable | None = None,
    parts: bool = False,
) -> Actions:
    """Return edits drawn by dynamic programming (Eq. 8-11), weighted by their reward (Eq. 7)."""
    drawn = core.sample_seeded(sources, targets, log_policies, seeds, method)
    phrases = find_phrases(sources, targets, drawn.phrase_start, drawn.phrase_end, index, copyable, parts)
    weights = reward(sources, targets, drawn.ops, phrases, index, copyable)
    weights[~drawn.ok] = 0.0
    return Actions(drawn.ops, phrases, weights, find_lost(drawn.ops, phrases))


def gold_actions(
    sources: Packed, targets: Packed, index: PhraseIndex, copyable: Copyable | None = None, parts: bool = False
) -> Actions:
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
    phrases = find_phrases(sources, targets, np.array(starts), np.array(ends), index, copyable, parts)
    return Actions(found, phrases, np.ones(len(sources)), find_lost(found, phrases))


def find_phrases(
    sources: Packed,
    targets: Packed,
    start: Index,
    end: Index,
    index: PhraseIndex,
    copyable: Copyable | None,
    parts: bool = False,
) -> Index:
    """Return the phrase's id for each source word's slice of the targets' values, -1 where there is none.

    With ``parts``, what can neither be said nor copied is the longest part of it that can: a later pass adds the rest.
    """
    row = np.repeat(np.arange(len(sources)), sources.lengths)
    phrases = _look_up(row, targets.values, start, end, index, copyable)
    unknown = np.flatnonzero((phrases < 0) & (start >= 0))
    if parts and len(unknown):
        of, first, last = _cut_parts(start[unknown], end[unknown])
        found = _look_up(row[unknown[of]], targets.values, first, last, index, copyable)
        sayable = np.flatnonzero(found >= 0)
        # The longest first; of those one that is copied, for it was said here; then the leftmost.
        order = np.lexsort((first, found < len(index.phrases), first - last, of))
        order = order[np.isin(order, sayable)]
        which, at = np.unique(of[order], return_index=True)
        phrases[unknown[which]] = found[order[at]]
    return phrases


def _look_up(row: Index, words: Ints, start: Index, end: Index, index: PhraseIndex, copyable: Copyable | None) -> Index:
    """Return the id of each slice of ``words`` in its row, -1 where it has none."""
    phrases = core.lookup_phrases(words, start, end, index)
    if copyable is not None:
        unknown = np.flatnonzero((phrases < 0) & (start >= 0))
        numbers = find_copies(copyable, row[unknown], words, start[unknown], end[unknown])
        phrases[unknown] = np.where(numbers < 0, -1, len(index.phrases) + numbers)
    return phrases


def _cut_parts(start: Index, end: Index) -> tuple[Index, Index, Index]:
    """Return all parts of slices: which slice, where the part starts and where it ends."""
    cuts = [np.triu_indices(count + 1, 1) for count in (end - start).tolist()]
    of = np.repeat(np.arange(len(start)), [len(first) for first, _ in cuts])
    first, last = (np.concatenate([cut[side] for cut in cuts]) + start[of] for side in (0, 1))
    return of, first, last


def take_actions(actions: Actions, offsets: Index, index: Index) -> Actions:
    """Return the actions of the states at ``index``, whose words lie at ``offsets``."""
    at, _ = take_ragged(np.arange(len(actions.ops)), offsets, index)
    return Actions(actions.ops[at], actions.phrases[at], actions.weights[index], actions.lost[at])


def reward(
    sources: Packed,
    targets: Packed,
    ops: Ops,
    phrases: Index,
    index: PhraseIndex,
    copyable: Copyable | None = None,
) -> Floats:
    """Return Eq. 7 for each state, with the state that phrases which can be said or copied really reach."""
    return core.rewards(sources, reach(sources, ops, phrases, index, copyable), targets, ops)


def reach(
    sources: Packed,
    ops: Ops,
    phrases: Index,
    index: PhraseIndex,
    copyable: Copyable | None = None,
    rows: Index | None = None,
) -> Packed:
    """Return the next states; what the policy read of source k is row k of ``copyable``, or row ``rows[k]``."""
    words, known = index.phrases.values, len(index.phrases)
    if copyable is None:
        return core.apply(sources, ops, words, *core.phrase_slices(index.phrases, phrases))
    starts, ends = core.phrase_slices(index.phrases, np.where(phrases < known, phrases, -1))
    copied = np.flatnonzero(phrases >= known)
    row = np.repeat(np.arange(len(sources)) if rows is None else rows, sources.lengths)[copied]
    made = write_copies(copyable, row, phrases[copied] - known)
    starts[copied], ends[copied] = (edge + len(words) for edge in (made.offsets[:-1], made.offsets[1:]))
    return core.apply(sources, ops, np.concatenate([words, made.values]), starts, ends)


def find_lost(ops: Ops, phrases: Index) -> NDArray[np.bool_]:
    """Return which words carry an edit whose phrase is missing."""
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


@dataclass(frozen=True, slots=True)
class Credit:
    """What a loss needs of some draws of each state: dimensions L draws, B states, W words, N phrases of all draws."""

    codes_LBW: Index
    """Where the operation stands in a word's scores."""
    weights_LBW: Scores
    spans: SpanBatch
    """The different spans of all draws."""
    at_N: Index
    """The span of each phrase."""
    chosen_N: Index
    weights_N: Scores


def give_credit(batch: Batch, draws: Sequence[Actions], offsets: Index, joint: bool) -> Credit:
    """Return the credit of ``draws``, each a sample of all states of ``batch``, whose words lie at ``offsets``."""
    real = batch.real_BW[:, :-1]
    ops_LBW = np.zeros((len(draws), *real.shape), dtype=np.int64)
    weights_LBW = np.zeros(ops_LBW.shape, dtype=np.float32)
    found, chosen, weights = [], [], []
    for number, taken in enumerate(draws):
        ops_LBW[number, real] = taken.ops
        weights_LBW[number, real] = np.where(taken.lost, 0.0, np.repeat(taken.weights, batch.words_B))
        spans = find_spans(batch, ops_LBW[number])
        place_N = offsets[spans.row_N] + spans.word_N
        phrases = taken.phrases[place_N]
        known = np.flatnonzero((phrases >= 0) & ~taken.lost[place_N])
        found.append(SpanBatch(spans.row_N[known], spans.word_N[known], spans.start_N[known], spans.end_N[known]))
        chosen.append(phrases[known])
        weights.append(taken.weights[found[-1].row_N])
    if not any(len(one) for one in chosen):
        found, chosen, weights = [unweighted_span(batch)], [np.full(1, -1)], [np.zeros(1)]
    spans, at_N = merge_spans(found)
    chosen_N, weights_N = np.concatenate(chosen), np.concatenate(weights)
    codes_LBW = code_ops(ops_LBW, joint)
    share = np.float32(1 / len(draws))
    return Credit(codes_LBW, weights_LBW * share, spans, at_N, chosen_N, weights_N.astype(np.float32) * share)


def code_ops(ops_LBW: Index, joint: bool) -> Index:
    """Return where each operation stands in its word's scores: by the operation before it too where they are joint."""
    if not joint:
        return ops_LBW
    codes = ops_LBW.copy()
    codes[..., 1:] += len(Op) * ops_LBW[..., :-1]
    return codes


def merge_spans(found: Sequence[SpanBatch]) -> tuple[SpanBatch, Index]:
    """Return the different spans of several batches, and for each of theirs in turn where it is among these."""
    columns = [np.concatenate([getattr(one, name) for one in found]) for name in SpanBatch.__slots__]
    different, at = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    return SpanBatch(*np.ascontiguousarray(different.T)), at.reshape(-1)


def unweighted_span(batch: Batch) -> SpanBatch:
    """Return one span that stands for none: every step runs the decoder, so that all steps are alike."""
    zero = np.zeros(1, dtype=np.int64)
    return SpanBatch(zero, zero, batch.firsts_BW[:1, 0], batch.firsts_BW[:1, 0] + 1)


def policy_loss(edits: Tensor, codes_LBW: Tensor, weights_LBW: Tensor, said_N: Tensor, weights_N: Tensor) -> Tensor:
    """Return -sum r (log pi_e(a_e) + log pi_p(a_p)); weights are 0 at padding and where there is no credit.

    ``said_N`` are the log-probabilities of the phrases at their spans.
    """
    loss = -(take_scores(edits, codes_LBW) * weights_LBW).sum()
    return loss - (said_N * weights_N).sum()


def take_scores(edits: Tensor, codes_LBW: Tensor) -> Tensor:
    """Return the scores of operations by their codes (``code_ops``)."""
    flat = edits.flatten(2)
    return flat[None].expand(len(codes_LBW), -1, -1, -1).gather(3, codes_LBW[..., None]).squeeze(3)


def imitation_loss(
    edits: Tensor, taught_BWPE: Tensor, real_BW: Tensor, phrases_UP: Tensor, taught_UP: Tensor
) -> Tensor:
    """Return the cross-entropy against a teacher's probabilities, summed over real words and spans.

    An independent teacher also has something for neighbours that a joint policy rules out: that is left aside.
    """
    edits_BWPE = edits if edits.ndim == 4 else edits[:, :, None]
    taught_BWPE = taught_BWPE.masked_fill(edits_BWPE < RULED_OUT, 0.0)
    loss = -((taught_BWPE * edits_BWPE).sum((-1, -2)) * real_BW).sum()
    return loss - (taught_UP * phrases_UP).sum()


def distance_of_states(states_BLD: Tensor, taught_BLD: Tensor, real_BL: Tensor) -> Tensor:
    """Return how far states are from a teacher's: squares over the teacher's own, each row's mean, summed over rows."""
    taught_BLD = taught_BLD.float()
    apart_BL = (states_BLD.float() - taught_BLD).square().sum(-1) / taught_BLD.square().sum(-1).clamp_min(1e-6)
    return ((apart_BL * real_BL).sum(1) / real_BL.sum(1)).sum()


def gumbel_argmax(log_probabilities: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """Return a draw from each last-axis distribution."""
    shape, device = log_probabilities.shape, log_probabilities.device
    uniform = torch.rand(shape, device=device, generator=generator, dtype=torch.float32)
    return (log_probabilities - (-uniform.clamp_min(1e-20).log()).log()).argmax(-1)
