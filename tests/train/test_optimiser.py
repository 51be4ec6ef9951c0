"""Rates, averaged weights, and an optimiser that comes back from disk."""

from __future__ import annotations

import pytest
import torch

from riseq.train.optimiser import Average, build_optimiser, load_optimiser, optimiser_tensors, rate_at, set_rates
from riseq.train.settings import TrainSettings
from tiny_model import make_checkpoint


def test_layers_below_learn_slower_and_heads_at_their_own_rate() -> None:
    network = make_checkpoint().network
    settings = TrainSettings(lr=1.0, head_lr=5.0, layer_decay=0.5, weight_decay=0.1)
    optimiser = build_optimiser(network, settings)
    rates = {id(p): (g["lr"], g["weight_decay"]) for g in optimiser.param_groups for p in g["params"]}
    named = {name: rates[id(p)] for name, p in network.named_parameters()}
    assert named["encoder.layers.1.up.weight"] == (1.0, 0.1)
    assert named["encoder.layers.0.up.weight"] == (0.5, 0.1)
    assert named["encoder.embeddings.pieces.weight"] == (0.25, 0.1)
    assert named["decoder.0.up.bias"] == (1.0, 0.0)
    assert named["phrase_head.weight"] == (5.0, 0.1)
    assert len(named) == len(list(network.parameters()))


def test_the_rate_warms_up_and_falls_to_a_twentieth_or_stays() -> None:
    cosine = TrainSettings(warmup_steps=10)
    assert [rate_at(step, 110, cosine) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert rate_at(60, 110, cosine) == pytest.approx(0.525)
    assert rate_at(110, 110, cosine) == pytest.approx(0.05)
    assert rate_at(500, 110, cosine) == pytest.approx(0.05)
    constant = TrainSettings(warmup_steps=10, schedule="constant")
    assert [rate_at(step, 110, constant) for step in (4, 10, 110)] == pytest.approx([0.5, 1.0, 1.0])


def test_an_optimiser_put_back_takes_the_same_step() -> None:
    networks = [make_checkpoint().network for _ in range(2)]
    optimisers = [build_optimiser(network, TrainSettings()) for network in networks]

    def step(which: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        for parameter in networks[which].parameters():
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        set_rates(optimisers[which], 0.5)
        optimisers[which].step()

    step(0, 1)
    networks[1].load_state_dict(networks[0].state_dict())
    tensors = optimiser_tensors(optimisers[0])
    load_optimiser(optimisers[1], {name: tensor.clone() for name, tensor in tensors.items()})
    step(0, 2)
    step(1, 2)
    for mine, theirs in zip(networks[0].parameters(), networks[1].parameters(), strict=True):
        assert torch.equal(mine, theirs)
    assert optimisers[0].param_groups[0]["lr"] == 0.5 * optimisers[0].param_groups[0]["peak"]


def test_an_average_takes_the_weights_place_and_gives_it_back() -> None:
    layer = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.zeros_(layer.weight)
    average = Average(layer, decay=0.75)
    seen = []
    for value in (1.0, 1.0, 1.0, 5.0):
        torch.nn.init.constant_(layer.weight, value)
        average.update()
        seen.append(average.kept[0].item())
    # Weights 1/2, 1/3, 1/4, 1/4: the mean so far, and then one part in four.
    assert seen == pytest.approx([1 / 2, 2 / 3, 3 / 4, 3 / 4 + 17 / 16])
    average.swap()
    assert layer.weight.item() == pytest.approx(seen[-1])
    average.swap()
    assert layer.weight.item() == 5.0
