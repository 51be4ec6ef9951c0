"""Minimum risk: the losses of a policy's own outputs by how close each comes to its target."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

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
