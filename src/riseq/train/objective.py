"""The losses: plain functions of log-probabilities and of what was done (Eq. 4)."""

from __future__ import annotations

import torch
from torch import Tensor


def policy_loss(
    edits_BWE: Tensor, ops_BW: Tensor, weights_BW: Tensor, phrases_NP: Tensor, said_N: Tensor, weights_N: Tensor
) -> Tensor:
    """Return -sum r (log pi_e(a_e) + log pi_p(a_p)); weights are 0 at padding and where there is no credit."""
    edit = edits_BWE.gather(2, ops_BW[:, :, None]).squeeze(2)
    loss = -(edit * weights_BW).sum()
    if len(said_N):
        phrase = phrases_NP.gather(1, said_N[:, None]).squeeze(1)
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
    uniform = torch.rand(
        log_probabilities.shape, device=log_probabilities.device, generator=generator, dtype=torch.float32
    )
    return (log_probabilities - (-uniform.clamp_min(1e-20).log()).log()).argmax(-1)
