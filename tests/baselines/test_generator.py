"""The encoder-decoder: its mixture is a distribution, it copies, and keeping the past changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor
from transformers import DynamicCache

from riseq.baselines.encoder_decoder import (
    QUESTION_PIECES,
    EncoderDecoder,
    collate_sources,
    encode_source,
    join_pieces,
    name_pieces,
)
from riseq.baselines.generator import TARGET_PIECES, BatchDecoder, Generator, GeneratorConfig, SourceBatch
from riseq.model.backbone import load_backbone, start_decoder
from riseq.model.transformer import BackboneConfig
from riseq.text.pieces import Pieces
from riseq.types import Example, InputError
from tiny_model import Family, make_examples, make_pieces
from tiny_world import make_rows, write_backbone

FAMILIES = pytest.mark.parametrize("family", ["bert", "mpnet"])
COPIES = pytest.mark.parametrize("copies", [True, False], ids=["mixture", "generation"])


def make_generator(family: Family = "bert", copies: bool = True) -> tuple[Generator, Pieces]:
    torch.manual_seed(3)
    pieces = make_pieces(family)
    offset = 2 if family == "mpnet" else 0
    shape = BackboneConfig(
        family=family,
        vocab_size=len(pieces),
        hidden=32,
        layers=2,
        heads=4,
        intermediate=64,
        max_positions=400 + offset,
        type_vocab=0 if family == "mpnet" else 2,
        norm_eps=1e-12,
        relative_buckets=32 if family == "mpnet" else 0,
        position_offset=offset,
    )
    return Generator(GeneratorConfig(shape, 2, copies)).eval(), pieces


def make_batch(pieces: Pieces, count: int = 6) -> SourceBatch:
    return collate_sources([encode_source(pieces, example) for example in make_examples(count)], pieces)


class Steps:
    """The log-probabilities [B, K, V] of a batch's next pieces, step by step, the past kept."""

    def __init__(self, network: Generator, batch: SourceBatch) -> None:
        self.decoder, self.past = BatchDecoder(network, batch), DynamicCache()

    def step(self, ids_BK: Tensor) -> Tensor:
        found = self.decoder(ids_BK.flatten()[:, None], self.past).logits
        return torch.as_tensor(found).view(*ids_BK.shape, -1)


def begin(network: Generator, batch: SourceBatch, pieces: Pieces, beams: int = 1) -> Tensor:
    return Steps(network, batch).step(torch.full((len(batch.ids_BL), beams), pieces.cls_id))


@FAMILIES
@COPIES
@torch.no_grad()
def test_the_next_piece_has_a_distribution(family: Family, copies: bool) -> None:
    network, pieces = make_generator(family, copies)
    scores = begin(network, make_batch(pieces), pieces, beams=3)
    assert scores.shape == (6, 3, len(pieces))
    torch.testing.assert_close(scores.exp().sum(-1), torch.ones(6, 3))


@torch.no_grad()
def test_the_mixture_is_what_its_parts_say() -> None:
    network, pieces = make_generator()
    batch = make_batch(pieces)
    memory = network.encode(batch)
    states = network.decode(torch.full((6, 1), pieces.cls_id), memory, batch)
    assert network.copier is not None
    weights, attention = network.copier(states, memory, batch.copies_2BL)
    wanted = weights[:, :, :1].exp() * network.score_pieces(states).exp()
    for row in range(6):
        for place, piece in enumerate(batch.ids_BL[row].tolist()):
            for number, mask in enumerate(batch.copies_2BL):
                if mask[row, place]:
                    wanted[row, 0, piece] += weights[row, 0, number + 1].exp() * attention[number, row, 0, place]
    torch.testing.assert_close(network.score_next(states, memory, batch).exp(), wanted)


@torch.no_grad()
def test_a_network_that_only_copies_says_the_pieces_of_its_source_and_no_others() -> None:
    network, pieces = make_generator()
    batch = make_batch(pieces)
    assert network.copier is not None
    for source, mask in enumerate(batch.copies_2BL, 1):
        network.copier.mix.weight.zero_()
        network.copier.mix.bias.fill_(-60.0)
        network.copier.mix.bias[source] = 60.0
        probabilities = begin(network, batch, pieces).exp()[:, 0]
        for row in range(len(mask)):
            own = set(batch.ids_BL[row][mask[row]].tolist())
            if own:  # a first question has no context to copy
                heard = set((probabilities[row] > 1e-6).nonzero()[:, 0].tolist())
                assert heard
                assert heard <= own
                assert not heard & {pieces.cls_id, pieces.sep_id, pieces.pad_id}


@torch.no_grad()
def test_without_a_context_nothing_is_copied_from_it() -> None:
    network, pieces = make_generator()
    assert network.copier is not None
    network.copier.mix.bias.copy_(torch.tensor([0.0, 0.0, 50.0]))
    batch = collate_sources([encode_source(pieces, Example("1", (), "Who was he?"))], pieces)
    scores = begin(network, batch, pieces).exp()
    torch.testing.assert_close(scores.sum(), torch.tensor(1.0))
    assert not batch.copies_2BL[1].any()


@FAMILIES
@COPIES
@torch.no_grad()
def test_keeping_the_past_changes_nothing(family: Family, copies: bool) -> None:
    network, pieces = make_generator(family, copies)
    batch = make_batch(pieces)
    written = torch.randint(4, len(pieces), (6, 7))
    before = torch.cat([torch.full((6, 1), pieces.cls_id), written[:, :-1]], dim=1)
    memory = network.encode(batch)
    at_once = network.score_next(network.decode(before, memory, batch), memory, batch)
    steps = Steps(network, batch)
    found = [steps.step(before[:, t : t + 1]) for t in range(7)]
    torch.testing.assert_close(torch.cat(found, dim=1), at_once, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_reordered_beams_go_on_from_the_beams_they_were() -> None:
    network, pieces = make_generator()
    batch = make_batch(pieces, 2)
    start = torch.full((2, 3), pieces.cls_id)
    steps = Steps(network, batch)
    steps.step(start)
    steps.step(torch.tensor([[5, 6, 7], [8, 9, 10]]))
    steps.past.reorder_cache(torch.LongTensor([2, 0, 0, 4, 4, 5]))
    found = steps.step(torch.tensor([[11, 12, 13], [14, 15, 16]]))
    plain = Steps(network, batch)
    plain.step(start)
    plain.step(torch.tensor([[7, 5, 5], [9, 9, 10]]))
    torch.testing.assert_close(found, plain.step(torch.tensor([[11, 12, 13], [14, 15, 16]])))


@COPIES
@torch.no_grad()
def test_the_loss_is_the_distributions_own(copies: bool) -> None:
    network, pieces = make_generator(copies=copies)
    batch = make_batch(pieces)
    before, targets = torch.randint(4, len(pieces), (2, 6, 5))
    # Targets that can be copied, so that every part of the mixture counts.
    targets[:, 1] = batch.ids_BL[:, 2]
    memory = network.encode(batch)
    scores = network.score_next(network.decode(before, memory, batch), memory, batch)
    wanted = -scores.gather(-1, targets[:, :, None])[:, :, 0]
    torch.testing.assert_close(network.score_targets(before, targets, batch), wanted, atol=1e-4, rtol=1e-4)
    smoothed = network.score_targets(before, targets, batch, smoothing=0.1)
    assert not torch.allclose(smoothed, wanted)


@torch.no_grad()
def test_padding_changes_nothing() -> None:
    network, pieces = make_generator()
    sources = [encode_source(pieces, example) for example in make_examples(6)]
    together = begin(network, collate_sources(sources, pieces), pieces)
    for row, source in enumerate(sources):
        alone = begin(network, collate_sources([source], pieces), pieces)
        torch.testing.assert_close(alone[0], together[row], atol=1e-4, rtol=1e-4)


@FAMILIES
def test_it_starts_from_a_pretrained_encoder(tmp_path: Path, family: Family) -> None:
    backbone = load_backbone(write_backbone(tmp_path / family, family, make_rows()))
    network = Generator(GeneratorConfig(backbone.config, 1, True))
    start_decoder(network.encoder, network.decoder, network.positions, network.norm, backbone)
    state = network.state_dict()
    torch.testing.assert_close(state["encoder.layers.1.up.weight"], backbone.weights["layers.1.up.weight"])
    # One decoder layer starts as the encoder's last, its cross-attention as that one's attention.
    torch.testing.assert_close(state["decoder.0.cross.key.weight"], backbone.weights["layers.1.attention.key.weight"])


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    network, pieces = make_generator()
    EncoderDecoder(network, pieces).save(tmp_path / "model", {"epoch": 2}, "# card\n")
    found = EncoderDecoder.load(tmp_path / "model")
    assert found.facts == {"epoch": 2}
    assert found.network.config == network.config
    for name, tensor in network.state_dict().items():
        assert torch.equal(found.network.state_dict()[name], tensor)
    EncoderDecoder(network, pieces).save(tmp_path / "half", {}, "# card\n", half=True)
    sizes = [(tmp_path / name / "network.safetensors").stat().st_size for name in ("model", "half")]
    assert sizes[1] < 0.6 * sizes[0]
    assert EncoderDecoder.load(tmp_path / "half").network.state_dict()["piece_bias"].dtype == torch.float32


def test_another_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.json"):
        EncoderDecoder.load(tmp_path)
    network, pieces = make_generator()
    EncoderDecoder(network, pieces).save(tmp_path / "model", {}, "# card\n")
    config = tmp_path / "model" / "config.json"
    config.write_text(config.read_text().replace('"decoder_layers": 2', '"decoder_layers": 3'))
    with pytest.raises(InputError, match="don't belong together"):
        EncoderDecoder.load(tmp_path / "model")
    config.write_text("{}")
    with pytest.raises(InputError, match="describes no encoder-decoder"):
        EncoderDecoder.load(tmp_path / "model")


def test_a_long_question_is_read_up_to_a_whole_word() -> None:
    pieces = make_pieces("bert")
    source = encode_source(pieces, Example("1", (), "band " * 60 + "zzzzzzzzzz"))
    assert (source.question, source.truncated) == (60, True)
    assert encode_source(pieces, Example("1", (), "band " * QUESTION_PIECES)).truncated is False
    assert QUESTION_PIECES < TARGET_PIECES


def test_pieces_become_words() -> None:
    pieces = make_pieces("bert")
    names = name_pieces(pieces)
    ids = [pieces.cls_id, *pieces.encode(["who", "was", "zappa", "?"]), pieces.sep_id]
    assert join_pieces(names, ids) == "who was zappa ?"
    assert join_pieces(names, [pieces.vocabulary["##a"], pieces.vocabulary["##b"], 10_000]) == "ab"
    assert join_pieces(names, []) == ""
