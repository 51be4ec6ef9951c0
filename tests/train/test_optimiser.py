"""Rates, averaged weights, and an optimiser that comes back from disk."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch

from riseq.train.optimiser import Average, Schedule, build_optimiser, load_optimiser, optimiser_tensors, set_rates
from tiny_model import make_checkpoint


def rate_of(name: str) -> float:
    return 5.0 if name.startswith("phrase_head.") else 1.0


def test_each_parameter_has_its_rate_and_vectors_do_not_decay() -> None:
    network = make_checkpoint().network
    optimiser = build_optimiser(network, rate_of, 0.1)
    rates = {id(p): (g["peak"], g["weight_decay"]) for g in optimiser.param_groups for p in g["params"]}
    named = {name: rates[id(p)] for name, p in network.named_parameters()}
    assert named["encoder.layers.1.up.weight"] == (1.0, 0.1)
    assert named["decoder.0.up.bias"] == (1.0, 0.0)
    assert named["phrase_head.weight"] == (5.0, 0.1)
    assert len(named) == len(list(network.parameters()))


def follow(schedule: Schedule, epochs: Sequence[int]) -> list[float]:
    """Return the share of every step of a run whose epochs have these many steps."""
    shares: list[float] = []
    for epoch, steps in enumerate(epochs):
        for number in range(1, steps + 1):
            shares.append(schedule.share(len(shares), (epoch + number / steps) / len(epochs)))
    return shares


def test_the_rate_warms_up_and_ends_at_a_twentieth_or_stays() -> None:
    cosine = follow(Schedule(10, "cosine"), [110])
    assert [cosine[step] for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 1.0])
    assert cosine[59] == pytest.approx(0.525)
    assert cosine[-1] == pytest.approx(0.05)
    constant = follow(Schedule(10, "constant"), [110])
    assert [constant[step] for step in (4, 10, 109)] == pytest.approx([0.5, 1.0, 1.0])


@pytest.mark.parametrize("warmup", [0, 1, 7, 30])
@pytest.mark.parametrize("epochs", [(20, 31, 29), (100, 10, 100), (40,)], ids=str)
def test_a_cosine_over_epochs_of_other_lengths_neither_jumps_nor_rises(epochs: tuple[int, ...], warmup: int) -> None:
    shares = follow(Schedule(warmup, "cosine"), epochs)
    falling = shares[max(0, warmup - 1) :]
    assert falling[0] == pytest.approx(1.0, abs=0.01)
    assert all(later < earlier for earlier, later in pairwise(falling))
    assert falling[-1] == pytest.approx(0.05)
    # No step is larger than the cosine's steepest, through the shortest epoch.
    widest = 1 / len(epochs) / min(epochs)
    start = warmup / epochs[0] / len(epochs) if warmup <= epochs[0] else 0.5
    assert max(earlier - later for earlier, later in pairwise(falling)) < 0.95 * 1.6 * widest / (1 - start)


def test_a_warm_up_longer_than_the_run_never_ends() -> None:
    assert follow(Schedule(100, "cosine"), [25, 25])[-1] == pytest.approx(0.5)
    assert follow(Schedule(50, "cosine"), [25, 25])[-1] == pytest.approx(1.0)


def test_a_schedule_goes_on_where_it_stood() -> None:
    whole = follow(Schedule(5, "cosine"), [10, 20])
    first = Schedule(5, "cosine")
    for step in range(10):
        first.share(step, (step + 1) / 20)
    second = Schedule(5, "cosine", first.warmed_up)
    assert [second.share(10 + k, 0.5 + (k + 1) / 40) for k in range(20)] == whole[10:]


def test_an_optimiser_put_back_takes_the_same_step() -> None:
    networks = [make_checkpoint().network for _ in range(2)]
    optimisers = [build_optimiser(network, rate_of, 0.01) for network in networks]

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
    with average.applied():
        assert layer.weight.item() == pytest.approx(seen[-1])
    assert layer.weight.item() == 5.0
