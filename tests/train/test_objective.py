"""The losses against hand computations."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from riseq.model.inputs import SpanBatch
from riseq.train.actions import (
    code_ops,
    distance_of_states,
    gumbel_argmax,
    imitation_loss,
    merge_spans,
    policy_loss,
    take_scores,
)
from riseq.train.risk import Outputs, baseline_risk, expected_risk, stop_loss

EDITS = torch.tensor([[[0.7, 0.1, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1]]]).log()
PHRASES = torch.tensor([[0.25, 0.75]]).log()


JOINT = torch.tensor(
    [[[0.4, 0.3, 0.2, 0.1]] * 4, [[0.1, 0.2, 0.3, 0.4], [0.25] * 4, [0.7, 0.1, 0.1, 0.1], [0.25] * 4]]
).log()[None]


def test_policy_loss_is_the_weighted_sum_of_what_was_done() -> None:
    # Two draws of one state: [KEEP, DELETE] with a phrase, [KEEP, KEEP] without.
    ops, weights = torch.tensor([[[0, 1]], [[0, 0]]]), torch.tensor([[[2.0, 0.5]], [[1.0, 0.0]]])
    loss = policy_loss(EDITS, ops, weights, PHRASES[[0], [1]], torch.tensor([3.0]))
    wanted = -(2.0 * math.log(0.7) + 0.5 * math.log(0.5) + 3.0 * math.log(0.75) + math.log(0.7))
    assert loss.item() == pytest.approx(wanted, rel=1e-6)


def test_a_joint_policy_is_asked_by_the_operation_before() -> None:
    ops = np.array([[[2, 0]], [[0, 3]]])
    assert code_ops(ops, joint=False).tolist() == ops.tolist()
    codes = code_ops(ops, joint=True)
    assert codes.tolist() == [[[2, 8]], [[0, 3]]]
    taken = take_scores(JOINT, torch.from_numpy(codes)).exp()
    torch.testing.assert_close(taken, torch.tensor([[[0.2, 0.7]], [[0.4, 0.4]]]))


def test_policy_loss_pushes_a_negative_reward_away() -> None:
    scores = torch.zeros(1, 1, 4, requires_grad=True)
    none = torch.zeros(0)
    loss = policy_loss(scores.log_softmax(-1), torch.tensor([[[2]]]), torch.tensor([[[-1.0]]]), none, none)
    loss.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad.flatten().tolist() == pytest.approx([-0.25, -0.25, 0.75, -0.25])


def test_risk_is_the_mean_by_probability_of_what_is_counted() -> None:
    scores = torch.tensor([[0.7, 0.1], [0.2, 0.1], [0.6, 0.8]]).log().requires_grad_()
    closeness, out = (
        torch.tensor([[1.0, 0.5], [0.0, 0.5], [0.0, 1.0]]),
        torch.tensor([[False] * 2, [False] * 2, [True, False]]),
    )
    loss = expected_risk(Outputs(scores, closeness, closeness[0], out))
    assert loss.item() == pytest.approx(0.2 / 0.9 + 0.2 / 1.0 * 0.5, rel=1e-6)
    loss.backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad[0, 0] < 0 < scores.grad[1, 0]  # what is closer than the others becomes likelier
    assert scores.grad[2, 0] == 0
    torch.testing.assert_close(scores.grad.sum(0), torch.zeros(2), atol=1e-6, rtol=0)


def test_each_output_is_held_against_the_mean_of_the_others() -> None:
    scores = torch.tensor([[0.7, 0.1], [0.2, 0.1], [0.6, 0.8]]).log().requires_grad_()
    closeness = torch.tensor([[1.0, 0.4], [0.25, 0.4], [0.0, 1.0]])
    out = torch.tensor([[False] * 2, [False] * 2, [True, False]])
    baseline_risk(Outputs(scores, closeness, closeness[0], out)).backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad[:, 0].tolist() == pytest.approx([-0.75 / 2, 0.75 / 2, 0.0])
    assert scores.grad[:, 1].tolist() == pytest.approx([0.3 / 3, 0.3 / 3, -0.6 / 3])


def test_a_single_output_teaches_nothing() -> None:
    scores = torch.tensor([[-1.0], [-2.0]]).requires_grad_()
    outputs = Outputs(scores, torch.tensor([[1.0], [0.0]]), torch.tensor([0.5]), torch.tensor([[False], [True]]))
    baseline_risk(outputs).backward()  # type: ignore[no-untyped-call]
    assert scores.grad is not None
    assert scores.grad.abs().sum() == 0


def test_the_stop_learns_by_how_much_the_best_output_gains_or_loses() -> None:
    closeness = torch.tensor([[1.0, 1.0, 1.0], [0.9, 0.2, 0.5]])
    outputs = Outputs(closeness, closeness, torch.tensor([0.5, 0.8, 0.5]), closeness > 2)
    odds = torch.zeros(3, requires_grad=True)
    stop_loss(odds, outputs).backward()  # type: ignore[no-untyped-call]
    assert odds.grad is not None
    assert odds.grad.tolist() == pytest.approx([-0.2, 0.3, 0.0])


def test_spans_of_several_draws_are_scored_once() -> None:
    first = SpanBatch(*np.array([[0, 1], [2, 1], [5, 3], [6, 4]]))
    second = SpanBatch(*np.array([[1, 1], [1, 1], [3, 3], [5, 4]]))
    spans, at = merge_spans([first, second])
    assert [getattr(spans, name)[at].tolist() for name in SpanBatch.__slots__] == [
        [0, 1, 1, 1],
        [2, 1, 1, 1],
        [5, 3, 3, 3],
        [6, 4, 5, 4],
    ]
    assert len(spans.row_N) == 3


def test_imitation_is_the_cross_entropy_over_real_words_and_spans() -> None:
    taught = torch.zeros(1, 2, 4, 4)
    taught[0, 0, 0, 0] = taught[0, 1, 0, 3] = 1.0
    real = torch.tensor([[True, False]])
    loss = imitation_loss(EDITS, taught, real, PHRASES, torch.tensor([[0.5, 0.5]]))
    assert loss.item() == pytest.approx(-math.log(0.7) - 0.5 * math.log(0.25) - 0.5 * math.log(0.75), rel=1e-6)
    both = imitation_loss(JOINT, taught, torch.tensor([[True, True]]), PHRASES, torch.tensor([[0.0, 0.0]]))
    assert both.item() == pytest.approx(-math.log(0.4) - math.log(0.4), rel=1e-6)


def test_states_are_as_far_from_a_teachers_as_the_difference_is_long_beside_them() -> None:
    taught = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(3))
    real = torch.tensor([[True, True, True], [True, True, False]])
    assert distance_of_states(taught, taught, real).item() == 0
    assert distance_of_states(torch.zeros_like(taught), taught, real).item() == pytest.approx(2.0)  # 1 a row
    assert distance_of_states(-taught, taught, real).item() == pytest.approx(8.0)
    one = taught.clone()
    one[1, 0] = 0.0
    assert distance_of_states(one, taught, real).item() == pytest.approx(0.5)  # one of the row's two pieces
    padded = taught.clone()
    padded[1, 2] = 9.0
    assert distance_of_states(padded, taught, real).item() == 0


def test_gumbel_draws_follow_their_probabilities() -> None:
    generator = torch.Generator().manual_seed(0)
    drawn = gumbel_argmax(EDITS[0, :1].expand(20_000, -1), generator)
    shares = torch.bincount(drawn, minlength=4) / len(drawn)
    torch.testing.assert_close(shares, EDITS[0, 0].exp(), atol=0.015, rtol=0)
