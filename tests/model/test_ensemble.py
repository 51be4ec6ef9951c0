"""Several networks as one."""

from __future__ import annotations

import itertools

import pytest
import torch

from riseq.model.network import Ensemble, Inputs, RiseNetwork, Spans, pair_probabilities
from tiny_model import make_checkpoint


@pytest.fixture
def network() -> RiseNetwork:
    return make_checkpoint().network


@pytest.fixture
def inputs() -> Inputs:
    ids = torch.randint(5, 40, (2, 18), generator=torch.Generator().manual_seed(0))
    firsts = torch.arange(10, 16)[None, :].expand(2, -1)
    types = (torch.arange(18) >= 10).long().expand(2, -1)
    return Inputs(ids, types, torch.ones(2, 18, dtype=torch.bool), firsts, torch.ones_like(ids[:, 0]))


SPANS = Spans(torch.tensor([0, 1]), torch.tensor([11, 13]), torch.tensor([12, 16]))


@torch.no_grad()
def answer(model: RiseNetwork | Ensemble, inputs: Inputs) -> tuple[torch.Tensor, torch.Tensor]:
    states = model.encode(inputs)
    return model.score_edits(states, inputs.firsts_BW), model.score_phrases(inputs, states, SPANS)  # type: ignore[arg-type]


def identity(network: RiseNetwork) -> torch.Tensor:
    return torch.arange(network.config.backbone.vocab_size)


def test_one_network_is_itself(network: RiseNetwork, inputs: Inputs) -> None:
    alone = Ensemble([network], [identity(network)])
    for got, wanted in zip(answer(alone, inputs), answer(network, inputs), strict=True):
        torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-5)


def test_two_networks_are_the_mean_of_their_probabilities(network: RiseNetwork, inputs: Inputs) -> None:
    other = make_checkpoint().network
    with torch.no_grad():
        other.edit_head.weight.neg_()
        other.phrase_head.weight.neg_()
    pair = Ensemble([network, other], [identity(network), identity(other)]).eval()
    first, second = answer(network, inputs), answer(other, inputs)
    assert (first[0] - second[0]).abs().max() > 0.1
    wanted = [(a.exp() + b.exp()) / 2 for a, b in zip(first, second, strict=True)]
    for got, mean in zip(answer(pair, inputs), wanted, strict=True):
        torch.testing.assert_close(got.exp(), mean, atol=1e-5, rtol=1e-5)
    taught = pair.teach(inputs, SPANS)
    torch.testing.assert_close(taught.edits_BWPE.sum(2), wanted[0], atol=1e-5, rtol=1e-5)  # whatever stood before
    torch.testing.assert_close(taught.phrases_NP, wanted[1], atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_the_states_that_are_taught_are_the_first_networks(network: RiseNetwork, inputs: Inputs) -> None:
    other = make_checkpoint().network
    other.encoder.embeddings.pieces.weight.neg_()
    states = [one.encode(inputs) for one in (network, other)]
    assert (states[0] - states[1]).abs().max() > 0.1
    for networks, wanted in zip(([network, other], [other, network]), states, strict=True):
        pair = Ensemble(networks, [identity(one) for one in networks]).eval()
        torch.testing.assert_close(pair.teach(inputs, SPANS).states_BLD, wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("joint", [False, True])
def test_pairs_of_neighbours_are_as_likely_as_in_all_operations(joint: bool) -> None:
    shape = (1, 3, 4, 4) if joint else (1, 3, 4)
    scores = torch.randn(shape, generator=torch.Generator().manual_seed(2)).log_softmax(-1)
    wanted = torch.zeros(1, 3, 4, 4)
    for ops in itertools.product(range(4), repeat=3):
        before = (0, *ops[:2])
        mass = torch.stack([scores[0, w, before[w], ops[w]] if joint else scores[0, w, ops[w]] for w in range(3)]).sum()
        for word in range(3):
            wanted[0, word, before[word], ops[word]] += mass.exp()
    torch.testing.assert_close(pair_probabilities(scores), wanted, atol=1e-5, rtol=1e-5)


def test_each_network_reads_its_own_pieces(network: RiseNetwork, inputs: Inputs) -> None:
    """A network whose piece table is turned round, read through the map that turns ids round, says the same."""
    turned = make_checkpoint().network
    order = identity(network).flip(0)
    with torch.no_grad():
        turned.encoder.embeddings.pieces.weight.copy_(network.encoder.embeddings.pieces.weight[order])
    turned.cls_id = int(order[network.cls_id])
    mapped = Ensemble([turned], [order])
    for got, wanted in zip(answer(mapped, inputs), answer(network, inputs), strict=True):
        torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-5)


def test_networks_and_maps_come_in_pairs(network: RiseNetwork) -> None:
    with pytest.raises(ValueError, match="0 maps for 1 networks"):
        Ensemble([network], [])
