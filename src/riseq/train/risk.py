"""Minimum risk: a policy's own outputs, how close each comes to its target, and the losses that follow."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from riseq.core import chain
from riseq.core.closeness import measure_closeness
from riseq.model.inputs import find_spans
from riseq.train import actions
from riseq.train.actions import Actions, Index, reach
from riseq.train.corpus import take_rows
from riseq.train.policy import Policy
from riseq.train.step import Forward

GUIDED, BEST = 0, 1
"""Where the guided output and the policy's best one stand among the outputs of a state; after them are draws."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """K outputs of each of B states."""

    scores_KB: Tensor
    """Their log-probabilities under the policy."""
    closeness_KB: Tensor
    """How close they are to the target."""
    before_B: Tensor
    """How close the state itself is."""
    out_KB: Tensor
    """Which do not count: those like an earlier one, and guided ones that the vocabulary cannot say."""


def draw_outputs(policy: Policy, forward: Forward, guided: Actions, count: int, joint: bool) -> Outputs:
    """Return ``count`` outputs of each state: the ``guided`` one, the policy's best, and draws from it."""
    part = forward.part
    real, words = part.batch.real_BW[:, :-1], part.states.words
    rng, scores_BWPE = np.random.default_rng(int(part.seeds[0]) + 2), forward.as_chain()
    ops_KBW = np.zeros((count, *real.shape), dtype=np.int64)
    ops_KBW[GUIDED, real] = guided.ops
    ops_KBW[BEST] = chain.best_path(scores_BWPE, real)
    ops_KBW[2:] = chain.draw(scores_BWPE, rng, count - 2) * real
    found = [find_spans(part.batch, ops_BW) for ops_BW in ops_KBW]
    sample_N = np.repeat(np.arange(count), [len(spans.row_N) for spans in found])
    row_N, word_N = (np.concatenate([getattr(spans, name) for spans in found]) for name in ("row_N", "word_N"))
    phrases_KBW = np.full(ops_KBW.shape, -1, dtype=np.int64)
    scores_KB = actions.take_scores(forward.edits, policy.put(actions.code_ops(ops_KBW, joint)))
    scores_KB = (scores_KB * policy.put(real)).sum(-1)
    if len(row_N):
        spans, at_N = actions.merge_spans(found)
        scores = policy.score_phrases(forward.inputs, forward.encoded, spans, forward.copies, part.copyable)
        chosen_N = np.where(sample_N == BEST, scores.best()[at_N], scores.draw(at_N))
        known = guided.phrases[words.offsets[row_N] + word_N]
        chosen_N = np.where(sample_N == GUIDED, known, chosen_N)
        phrases_KBW[sample_N, row_N, word_N] = chosen_N
        flat = policy.put(sample_N * len(real) + row_N)
        taken_N = scores.take(at_N, chosen_N)
        added = scores_KB.new_zeros(scores_KB.numel()).index_add(0, flat, taken_N)
        scores_KB = scores_KB + added.view_as(scores_KB)
    every = np.tile(np.arange(len(real)), count)
    ops, phrases = ops_KBW[:, real].ravel().astype(np.int8), phrases_KBW[:, real].ravel()
    made = reach(take_rows(words, every), ops, phrases, policy.index, part.copyable, every)
    closeness = measure_closeness(made, take_rows(part.targets, every)).reshape(count, -1)
    out_KB = find_repeated(np.concatenate([ops_KBW, phrases_KBW], axis=2))
    out_KB[GUIDED] |= np.bincount(np.repeat(np.arange(len(real)), part.batch.words_B), guided.lost, len(real)) > 0
    before = measure_closeness(words, part.targets)
    close = policy.put(closeness.astype(np.float32)), policy.put(before.astype(np.float32))
    return Outputs(scores_KB, *close, policy.put(out_KB))


def expected_risk(outputs: Outputs) -> Tensor:
    """Return the expected risk, 1 - closeness, over the outputs of each state, summed over the states.

    Each output counts by its probability among those that are not ``out`` (Shen et al., 2016).

    >>> scores, closeness, out = torch.tensor([[0.0, 0.0, 9.0], [1.0, 0.5, 0.0], [0, 0, 1]])[..., None]
    >>> expected_risk(Outputs(scores, closeness, closeness[0], out.bool())).item()
    0.25
    """
    odds_KB = outputs.scores_KB.masked_fill(outputs.out_KB, -torch.inf).softmax(0)
    return ((1 - outputs.closeness_KB) * odds_KB).sum()


def baseline_risk(outputs: Outputs) -> Tensor:
    """Return a loss whose gradient is REINFORCE's: each output's closeness against the mean of the others'.

    Summed over the states, a mean over each one's outputs that are not ``out``.

    >>> scores, closeness, out = torch.tensor([[-1.0, -2.0, 9.0], [1.0, 0.5, 0.0], [0, 0, 1]])[..., None]
    >>> baseline_risk(Outputs(scores, closeness, closeness[0], out.bool())).item()  # -(0.5 * -1 - 0.5 * -2) / 2
    -0.25
    """
    counts_KB = (~outputs.out_KB).float()
    count_B = counts_KB.sum(0)
    total_B = (outputs.closeness_KB * counts_KB).sum(0)
    others_KB = (total_B - outputs.closeness_KB) / (count_B - 1).clamp_min(1)
    gains_KB = (outputs.closeness_KB - others_KB) * counts_KB * (count_B > 1)
    scores_KB = outputs.scores_KB.masked_fill(outputs.out_KB, 0.0)
    return -(gains_KB * scores_KB / count_B.clamp_min(1)).sum()


def stop_loss(logits_B: Tensor, outputs: Outputs) -> Tensor:
    """Return the cross-entropy of whether the policy's best output is closer than the state, weighted by how much.

    >>> closeness = torch.tensor([[0.0, 0.0], [0.8, 0.2]])
    >>> outputs = Outputs(closeness, closeness, torch.tensor([0.3, 0.7]), closeness > 1)
    >>> round(stop_loss(torch.tensor([9.0, -9.0]), outputs).item(), 3)
    0.0
    """
    gain_B = outputs.closeness_KB[BEST] - outputs.before_B
    wrong = functional.binary_cross_entropy_with_logits(logits_B.float(), (gain_B > 0).float(), reduction="none")
    return (wrong * gain_B.abs()).sum()


def find_repeated(rows_KBW: Index) -> NDArray[np.bool_]:
    """Return which of the K rows of each state are like an earlier one of it, [K, B]."""
    same_KKB = (rows_KBW[:, None] == rows_KBW[None]).all(-1)
    earlier = np.tri(len(rows_KBW), k=-1, dtype=np.bool_)
    repeated: NDArray[np.bool_] = (same_KKB & earlier[:, :, None]).any(1)
    return repeated
