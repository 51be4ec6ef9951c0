"""The two policies: what they may say, and that a row's answer is its own."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from riseq.core.edits import Op
from riseq.model.network import MAX_SPAN_PIECES, Inputs, RiseNetwork, Spans
from tiny_model import PHRASES, Family, make_checkpoint

FAMILIES: list[Family] = ["bert", "mpnet"]


def make_inputs(lengths: list[int], width: int, words: int = 6, seed: int = 0) -> Inputs:
    generator = torch.Generator().manual_seed(seed)
    rows = len(lengths)
    ids = torch.randint(5, 40, (rows, width), generator=generator)
    mask = torch.arange(width)[None, :] < torch.tensor(lengths)[:, None]
    ids = torch.where(mask, ids, torch.tensor(0))
    firsts = torch.tensor(lengths)[:, None] - 1 - words + torch.arange(words)[None, :]
    types = (torch.arange(width)[None, :] >= firsts[:, :1]).long()
    return Inputs(ids, types, mask, firsts, torch.ones_like(ids[:, 0]))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_marker_is_never_deleted_or_substituted(family: Family) -> None:
    network = make_checkpoint(family).network
    with torch.no_grad():
        network.edit_head.bias.copy_(torch.tensor([-50.0, 50.0, -50.0, 50.0]))
        inputs = make_inputs([20, 12], 20)
        scores = network.score_edits(network.encode(inputs), inputs.firsts_BW).exp()
    assert scores[:, 0, ..., [Op.DELETE, Op.SUBSTITUTE]].max() < 1e-6
    assert scores[:, 1:, ..., [Op.DELETE, Op.SUBSTITUTE]].sum(-1).min() > 0.999
    torch.testing.assert_close(scores.sum(-1), torch.ones(scores.shape[:-1]))


def test_what_goes_is_deleted_together_or_replaced_together() -> None:
    network = make_checkpoint("mpnet").network
    inputs = make_inputs([20, 12], 20)
    with torch.no_grad():
        scores = network.score_edits(network.encode(inputs), inputs.firsts_BW).exp()
    assert scores[:, :, Op.DELETE, Op.SUBSTITUTE].max() < 1e-6
    assert scores[:, :, Op.SUBSTITUTE, Op.DELETE].max() < 1e-6
    assert scores[:, 1:, Op.KEEP].min() > 1e-6


@pytest.mark.parametrize("decoder_input", ["states", "tokens"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_rows_answer_depends_neither_on_its_neighbours_nor_on_padding(
    family: Family, decoder_input: Literal["states", "tokens"]
) -> None:
    network = make_checkpoint(family, decoder_input).network
    inputs = make_inputs([14, 30, 21], 40)
    spans = Spans(torch.tensor([0, 1, 2]), torch.tensor([9, 25, 16]), torch.tensor([12, 27, 21]))
    edits, phrases = answer(network, inputs, spans)
    for row, length in enumerate((14, 30, 21)):
        alone = Inputs(*(part[row : row + 1] for part in inputs))
        alone = alone._replace(
            ids_BL=alone.ids_BL[:, :length], types_BL=alone.types_BL[:, :length], mask_BL=alone.mask_BL[:, :length]
        )
        one = Spans(torch.tensor([0]), spans.start_N[row : row + 1], spans.end_N[row : row + 1])
        own_edits, own_phrases = answer(network, alone, one)
        torch.testing.assert_close(own_edits[0], edits[row], atol=2e-5, rtol=0)
        torch.testing.assert_close(own_phrases[0], phrases[row], atol=2e-5, rtol=0)
    assert (phrases[0] - phrases[1]).abs().max() > 0.01


@torch.no_grad()
def answer(network: RiseNetwork, inputs: Inputs, spans: Spans) -> tuple[torch.Tensor, torch.Tensor]:
    states = network.encode(inputs)
    return network.score_edits(states, inputs.firsts_BW), network.score_phrases(inputs, states, spans)


def test_phrases_are_a_distribution_and_follow_the_span() -> None:
    network = make_checkpoint().network
    inputs = make_inputs([30], 30)
    spans = Spans(torch.tensor([0, 0]), torch.tensor([24, 26]), torch.tensor([25, 29]))
    _, phrases = answer(network, inputs, spans)
    assert phrases.shape == (2, len(PHRASES))
    torch.testing.assert_close(phrases.exp().sum(-1), torch.ones(2))
    assert (phrases[0] - phrases[1]).abs().max() > 0.01


def test_a_span_longer_than_the_limit_is_read_by_its_first_pieces() -> None:
    network = make_checkpoint().network
    inputs = make_inputs([40], 40)
    start = torch.tensor([5])
    limit = answer(network, inputs, Spans(torch.tensor([0]), start, start + MAX_SPAN_PIECES))[1]
    longer = answer(network, inputs, Spans(torch.tensor([0]), start, start + MAX_SPAN_PIECES + 9))[1]
    shorter = answer(network, inputs, Spans(torch.tensor([0]), start, start + 3))[1]
    assert torch.equal(limit, longer)
    assert not torch.allclose(limit, shorter)
