"""The encoders against transformers' own."""

from __future__ import annotations

import pytest
import torch
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from riseq.model.backbone import rename
from riseq.model.transformer import (
    AdaptedLinear,
    BackboneConfig,
    Encoder,
    attend_fused,
    attend_plainly,
    bucket_edges,
    padding_mask,
    relative_buckets,
)
from tiny_world import make_encoder

VOCABULARY = 50
LENGTHS = [12, 7, 1]


def shape(family: str) -> BackboneConfig:
    mpnet = family == "mpnet"
    return BackboneConfig(
        family="mpnet" if mpnet else "bert",
        vocab_size=VOCABULARY,
        hidden=32,
        layers=2,
        heads=4,
        intermediate=64,
        max_positions=130,
        type_vocab=0 if mpnet else 2,
        norm_eps=1e-12,
        relative_buckets=32 if mpnet else 0,
        position_offset=2 if mpnet else 0,
    )


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_states_are_those_of_transformers_padding_or_not(family: str) -> None:
    theirs = make_encoder(family, VOCABULARY)
    ours = Encoder(shape(family), dropout=0.1).eval()
    named = {rename(name, family): tensor for name, tensor in theirs.state_dict().items()}
    ours.load_state_dict({name: tensor for name, tensor in named.items() if name is not None})
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, VOCABULARY, (3, 12), generator=generator)
    types = (torch.arange(12)[None, :] >= torch.tensor([5, 3, 0])[:, None]).long()
    mask = torch.arange(12)[None, :] < torch.tensor(LENGTHS)[:, None]
    pad = 1 if family == "mpnet" else 0  # MPNet counts positions by what is not its padding piece
    ids = torch.where(mask, ids, torch.tensor(pad))
    extra = {"token_type_ids": types} if family == "bert" else {}
    with torch.no_grad():
        wanted = theirs(input_ids=ids, attention_mask=mask.long(), **extra).last_hidden_state
        got = ours(ids, types, mask)
    assert wanted[mask].abs().max() > 0.1
    torch.testing.assert_close(got[mask], wanted[mask], atol=1e-5, rtol=0)


def test_buckets_are_those_of_transformers_for_all_distances() -> None:
    positions = torch.arange(513)
    behind = positions[None, :] - positions[:, None]
    wanted = MPNetEncoder.relative_position_bucket(behind, num_buckets=32)
    assert torch.equal(relative_buckets(positions, 32), wanted)
    assert len(wanted.unique()) == 32 - 1  # a distance of 0 has no bucket of its own ahead


def test_bucket_edges_are_whole_numbers_worked_out_by_hand() -> None:
    # 8 * 16 ** (k / 8) = 8 * 2 ** (k / 2): 11.3, 16, 22.6, 32, 45.3, 64, 90.5
    assert bucket_edges(16, 128) == [12, 16, 23, 32, 46, 64, 91]


def test_padding_mask_adds_nothing_to_real_pieces_and_rules_out_the_rest() -> None:
    scores = padding_mask(torch.tensor([[True, False]]), torch.float32)
    assert scores.shape == (1, 1, 1, 2)
    assert scores.flatten().tolist() == [0.0, -1e4]


def test_plain_attention_is_the_fused_one() -> None:
    generator = torch.Generator().manual_seed(3)
    query, key, value = torch.randn(3, 3, 4, 12, 8, generator=generator)
    mask = padding_mask(torch.arange(12)[None, :] < torch.tensor(LENGTHS)[:, None], torch.float32)
    for shown in (mask, None):
        torch.testing.assert_close(
            attend_plainly(query, key, value, shown, 0.0), attend_fused(query, key, value, shown, 0.0)
        )


def test_a_difference_of_low_rank_is_the_same_in_training() -> None:
    torch.manual_seed(4)
    layer, x = AdaptedLinear(8, 6, rank=2), torch.randn(5, 8)
    torch.nn.init.normal_(layer.wide)
    trained = layer.train()(x)
    torch.testing.assert_close(trained, layer.eval()(x))
    assert (trained - torch.nn.functional.linear(x, layer.weight, layer.bias)).abs().max() > 0.1
