"""Smoothing changes nothing but how evenly activations use their range."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from riseq.engine.backends.pytorch import TorchBackend
from riseq.engine.drafts import gather, start
from riseq.model.inputs import find_spans
from riseq.model.network import RiseNetwork
from riseq.model.quantisation import RowScaledLinear, SmoothedLinear, smooth_activations
from riseq.model.transformer import Layer
from tiny_model import Family, make_checkpoint, make_examples, make_pieces

LOUD = 5
"""A channel that is made far larger than the others."""


def make_loud(family: Family) -> RiseNetwork:
    network = make_checkpoint(family).network
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, nn.LayerNorm):
                module.weight[LOUD] *= 30
    return network


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_the_function_stays_the_same(family: Family) -> None:
    pieces, plain = make_pieces(family), make_loud(family)
    smoothed = copy.deepcopy(plain)
    smooth_activations(smoothed, pieces)
    batch = gather([start(one.question, one.context, pieces, 512) for one in make_examples(8)], pieces)
    mine, theirs = TorchBackend(smoothed).score(batch), TorchBackend(plain).score(batch)
    torch.testing.assert_close(torch.from_numpy(mine.edits_BWE), torch.from_numpy(theirs.edits_BWE), atol=1e-3, rtol=0)
    spans = find_spans(batch, theirs.edits_BWE.argmax(-1))
    torch.testing.assert_close(
        torch.from_numpy(mine.score_phrases(spans)), torch.from_numpy(theirs.score_phrases(spans)), atol=1e-3, rtol=0
    )


def test_a_loud_channel_becomes_quiet_where_a_matrix_reads_it() -> None:
    network = make_loud("bert")
    smooth_activations(network, make_pieces("bert"))
    seen = {}

    def note(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
        sizes = inputs[0].abs().flatten(0, -2).amax(0)
        seen[module] = float(sizes.max() / sizes.median())

    layer = network.encoder.layers[0]
    assert isinstance(layer, Layer)
    up: nn.Module = layer.up
    assert isinstance(up, SmoothedLinear)
    up.register_forward_pre_hook(note)
    up.linear.register_forward_pre_hook(note)
    pieces = make_pieces("bert")
    TorchBackend(network).score(
        gather([start(one.question, one.context, pieces, 512) for one in make_examples(3)], pieces)
    )
    assert seen[up] > 10
    assert seen[up.linear] < seen[up] / 3


def test_query_key_and_value_share_what_they_are_divided_by() -> None:
    network = make_checkpoint().network
    smooth_activations(network, make_pieces("bert"))
    layer = network.encoder.layers[1]
    assert isinstance(layer, Layer)
    query, key, value = (getattr(layer.attention, name).inverse_D for name in ("query", "key", "value"))
    assert query is key is value


def test_a_scaled_layer_is_the_layer() -> None:
    linear = nn.Linear(6, 3)
    x = torch.randn(4, 6) * torch.tensor([[1.0], [100.0], [0.01], [0.0]])
    torch.testing.assert_close(RowScaledLinear(linear)(x), linear(x), atol=1e-4, rtol=1e-4)
