"""The losses against hand computations."""

from __future__ import annotations

import math

import pytest
import torch

from riseq.train.actions import consistency_loss, gumbel_argmax, imitation_loss, leave_one_out, policy_loss

EDITS = torch.tensor([[[0.7, 0.1, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1]]]).log()
PHRASES = torch.tensor([[0.25, 0.75]]).log()


def test_policy_loss_is_the_weighted_sum_of_what_was_done() -> None:
    ops, weights = torch.tensor([[0, 1]]), torch.tensor([[2.0, 0.5]])
    loss = policy_loss(EDITS, ops, weights, PHRASES, torch.tensor([1]), torch.tensor([3.0]))
    wanted = -(2.0 * math.log(0.7) + 0.5 * math.log(0.5) + 3.0 * math.log(0.75))
    assert loss.item() == pytest.approx(wanted, rel=1e-6)


def test_policy_loss_pushes_a_negative_reward_away() -> None:
    scores = torch.zeros(1, 1, 4, requires_grad=True)
    none = torch.zeros(0, dtype=torch.long)
    policy_loss(
        scores.log_softmax(-1), torch.tensor([[2]]), torch.tensor([[-1.0]]), torch.zeros(0, 2), none, torch.zeros(0)
    ).backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad.flatten().tolist() == pytest.approx([-0.25, -0.25, 0.75, -0.25])


def test_each_sample_stands_against_the_mean_of_the_others() -> None:
    rewards = torch.tensor([[1.0, 0.2], [0.0, 0.2], [0.5, 0.2]])
    found = leave_one_out(rewards)
    torch.testing.assert_close(found, torch.tensor([[0.75, 0.0], [-0.75, 0.0], [0.0, 0.0]]))
    with pytest.raises(ValueError, match="two or more; got 1"):
        leave_one_out(rewards[:1])


def test_imitation_is_the_cross_entropy_over_real_words_and_spans() -> None:
    taught = torch.tensor([[[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]])
    real = torch.tensor([[True, False]])
    loss = imitation_loss(EDITS, taught, real, PHRASES, torch.tensor([[0.5, 0.5]]))
    assert loss.item() == pytest.approx(-math.log(0.7) - 0.5 * math.log(0.25) - 0.5 * math.log(0.75), rel=1e-6)


def test_consistency_is_the_mean_of_both_divergences() -> None:
    other = torch.tensor([[[0.25, 0.25, 0.25, 0.25], [0.2, 0.5, 0.2, 0.1]]]).log()
    p, q = EDITS[0, 0], other[0, 0]
    both = (p.exp() * (p - q)).sum() + (q.exp() * (q - p)).sum()
    loss = consistency_loss(EDITS, other, torch.tensor([[True, True]]))
    torch.testing.assert_close(loss, 0.5 * both)
    assert consistency_loss(EDITS, other, torch.tensor([[False, True]])).item() == 0.0


def test_gumbel_draws_follow_their_probabilities() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = gumbel_argmax(EDITS[0, :1].expand(20_000, -1), generator)
    shares = torch.bincount(drawn, minlength=4) / len(drawn)
    torch.testing.assert_close(shares, EDITS[0, 0].exp(), atol=0.015, rtol=0)
