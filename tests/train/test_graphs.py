"""Copies in bfloat16 and captured decoders, here on the CPU: what is captured is run as it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from riseq.model.inputs import SpanBatch
from riseq.train import graphs
from riseq.train.graphs import GraphedDecoder, pad_spans
from riseq.train.halves import HalfCopy
from riseq.train.optimiser import build_optimiser
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings
from riseq.train.step import Parts
from riseq.train.task import Stream, make_rng

Make = Callable[..., RiseSettings]
PHASES = {"likelihood": 0, "risk": 1}
CHANGES = {"dropout": 0.0, "joint": True, "likelihood_epochs": 1, "risk_epochs": 1, "risk_samples": 4}


def take_step(task: RiseTask, epoch: int, steps: int = 1) -> tuple[list[Tensor], dict[str, Tensor]]:
    """Return the losses and the last gradients of some steps of an epoch, in which no weight changes."""
    _, batches = task.start_epoch(epoch, make_rng(1, Stream.EPOCH, epoch))
    with task.running():
        for batch in itertools.islice(batches, steps):
            task.network.zero_grad(set_to_none=True)
            torch.manual_seed(5)
            task.learn(batch)
    gradients = {name: p.grad.clone() for name, p in task.network.named_parameters() if p.grad is not None}
    return task.log.losses, gradients


def find_angle(some: dict[str, Tensor], others: dict[str, Tensor]) -> float:
    """Return the cosine between two gradients."""
    one, other = (torch.cat([grads[name].flatten() for name in sorted(some)]) for grads in (some, others))
    return float(one @ other / one.norm() / other.norm())


@pytest.mark.parametrize("copies", [0, 3])
def test_a_copy_learns_what_autocast_does(make_settings: Make, copies: int) -> None:
    found = [
        take_step(RiseTask(make_settings(**CHANGES, copies=copies, bfloat16=True, half=half), Processes()), 0)
        for half in (False, True)
    ]
    (casts, cast_gradients), (halves, half_gradients) = found
    assert cast_gradients.keys() == half_gradients.keys()
    assert all(one.dtype is torch.float32 for one in half_gradients.values())
    torch.testing.assert_close(torch.stack(halves), torch.stack(casts), rtol=2e-2, atol=1e-2)
    assert find_angle(cast_gradients, half_gradients) > 0.99


def test_a_copy_follows_the_network(make_settings: Make) -> None:
    task = RiseTask(make_settings(half=True, frozen_epochs=1), Processes())
    half = task.half
    assert half is not None
    optimiser = build_optimiser(task.network, task.peak_rate, 0.0)
    _, gradients = take_step(task, 0)
    assert not any(name.startswith("encoder") for name in gradients)  # frozen
    before = {name: p.detach().clone() for name, p in task.network.named_parameters()}
    optimiser.step()
    half.read_weights()
    copies = dict(half.network.named_parameters())
    moved = 0
    for name, parameter in task.network.named_parameters():
        assert torch.equal(copies[name], parameter.to(torch.bfloat16))
        assert copies[name].grad is None
        moved += not torch.equal(parameter, before[name])
    assert 0 < moved <= len(gradients)
    assert half.network.marker_mask.dtype is torch.float32


def test_gradients_that_nobody_has_stay_none() -> None:
    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.idle = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)

    network: Any = Two()
    half = HalfCopy(network)
    half.follow()
    copy: Any = half.network
    copy.used(torch.ones(1, 2, dtype=torch.bfloat16)).sum().backward()
    half.give_gradients()
    assert torch.equal(network.used.weight.grad, torch.ones(1, 2))
    assert network.idle.weight.grad is None
    half.give_gradients()  # nothing new: what was given stays
    assert torch.equal(network.used.weight.grad, torch.ones(1, 2))


@pytest.fixture
def _uncaptured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_capture", lambda part, *_: part)
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", object)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)


@pytest.mark.usefixtures("_uncaptured")
@pytest.mark.parametrize(
    "more", [{}, {"copies": 3}, {"copies": 3, "templates": 4}], ids=["said", "copied", "templates"]
)
@pytest.mark.parametrize("phase", PHASES)
def test_a_padded_decoder_learns_the_same(make_settings: Make, phase: str, more: dict[str, int]) -> None:
    found = []
    for padded in (False, True):
        task = RiseTask(make_settings(**CHANGES, **more), Processes())
        if padded:
            task.decoders = [GraphedDecoder(task.network, 16)]
        losses, gradients = take_step(task, PHASES[phase], steps=3)
        found.append((torch.stack(losses), gradients))
        if padded:
            assert task.decoders[0].captured
    (plain, of_plain), (padding, of_padding) = found
    torch.testing.assert_close(plain, padding, rtol=1e-4, atol=1e-4)
    assert of_plain.keys() == of_padding.keys()
    assert find_angle(of_plain, of_padding) > 0.9999


def test_spans_that_are_none_read_a_first_piece() -> None:
    spans = SpanBatch(*(np.array(column) for column in ([3, 4], [1, 1], [7, 9], [8, 12])))
    assert pad_spans(spans, 5, 3).tolist() == [[3, 4, 2, 0, 1], [7, 9, 0, 0, 0], [8, 12, 1, 1, 1]]


@pytest.mark.usefixtures("_uncaptured")
def test_a_decoder_is_used_once_a_step(make_settings: Make) -> None:
    task = RiseTask(make_settings(**CHANGES), Processes())
    decoder = GraphedDecoder(task.network, 16)
    _, batches = task.start_epoch(0, make_rng(1, Stream.EPOCH, 0))
    parts: Parts = next(batches)
    inputs = task.policy.send(parts[0][0].batch)
    encoded, spans = task.network.encode(inputs), SpanBatch(*(np.zeros(1, dtype=np.int64) for _ in range(4)))

    def ask() -> Tensor | None:
        return decoder.score(inputs, encoded, spans, None, task.policy.put)

    assert ask() is None  # not captured yet
    decoder.begin()
    assert ask() is not None
    assert ask() is None
    decoder.begin()
    assert ask() is not None
