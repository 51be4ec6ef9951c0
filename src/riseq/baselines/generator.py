"""An encoder-decoder that writes a question piece by piece, generating or copying too (Trans++), and its folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.baselines.inputs import SourceBatch
from riseq.files import make_folder
from riseq.model.backbone import Backbone
from riseq.model.checkpoint import load_weights, save_weights
from riseq.model.folder import LAYOUT
from riseq.model.transformer import Attention, BackboneConfig, Encoder, Layer, padding_mask
from riseq.text.pieces import Pieces
from riseq.types import InputError

TARGET_PIECES = 72
"""The longest output, its end counted: a whole question as it is read, and a little more."""
_NEVER = 1e-30  # what a probability of 0 is taken for in logarithms
_MASKED = -1e4


@dataclass(frozen=True, slots=True)
class GeneratorConfig:
    """Everything that decides the network's shape."""

    backbone: BackboneConfig
    decoder_layers: int
    copies: bool
    """Whether a piece can also be copied from the question and from the context."""
    dropout: float = 0.1


class Copier(nn.Module):
    """Where to copy from (an attention over the question, one over the context) and how much to trust each source."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.queries = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        self.keys = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(2))
        self.mix = nn.Linear(3 * hidden, 3)

    def forward(self, states_BTD: Tensor, memory_BLD: Tensor, masks_2BL: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log weights of generating and of both copies [B, T, 3], and the copies' attention [2, B, T, L]."""
        attended, read = [], [states_BTD]
        for query, key, mask_BL in zip(self.queries, self.keys, masks_2BL, strict=True):
            scores_BTL = query(states_BTD) @ key(memory_BLD).transpose(1, 2) * states_BTD.shape[-1] ** -0.5
            masked = scores_BTL.float().masked_fill(~mask_BL[:, None, :], _MASKED)
            # An empty source would be read evenly, padding and all; it is not read.
            attention = masked.softmax(-1) * mask_BL[:, None, :]
            attended.append(attention)
            read.append(attention.to(memory_BLD.dtype) @ memory_BLD)
        weights_BT3 = self.mix(torch.cat(read, dim=-1)).float()
        # A source without a piece has nothing to copy.
        there_2B = masks_2BL.any(-1)
        empty_B3 = torch.stack([torch.zeros_like(there_2B[0]), *(~there_2B)], dim=-1)
        weights_BT3 = weights_BT3.masked_fill(empty_B3[:, None, :], _MASKED)
        return weights_BT3.log_softmax(-1), torch.stack(attended)


class Generator(nn.Module):
    """A pretrained encoder, a decoder of its layers with cross-attention, and piece embeddings that all ends share."""

    def __init__(self, config: GeneratorConfig) -> None:
        super().__init__()
        self.config = config
        shape = config.backbone
        self.encoder = Encoder(shape, config.dropout)
        self.decoder = nn.ModuleList(Layer(shape, config.dropout, cross=True) for _ in range(config.decoder_layers))
        self.positions = nn.Embedding(TARGET_PIECES, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, shape.norm_eps)
        self.dropout = nn.Dropout(config.dropout)
        self.transform = nn.Linear(shape.hidden, shape.hidden)
        self.transform_norm = nn.LayerNorm(shape.hidden, shape.norm_eps)
        self.piece_bias = nn.Parameter(torch.zeros(shape.vocab_size))
        self.copier = Copier(shape.hidden) if config.copies else None

    def encode(self, batch: SourceBatch) -> Tensor:
        """Return the states of every source piece, [B, L, D]."""
        states: Tensor = self.encoder(batch.ids_BL, batch.types_BL, batch.mask_BL)
        return states

    def embed(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Return the embedded output pieces."""
        x: Tensor = self.dropout(self.norm(self.encoder.embeddings.pieces(ids) + self.positions(positions)))
        return x

    def decode(self, ids_BT: Tensor, memory_BLD: Tensor, batch: SourceBatch) -> Tensor:
        """Return the states after each output piece, all at once, [B, T, D]."""
        steps_T = torch.arange(ids_BT.shape[1], device=ids_BT.device)
        x = self.embed(ids_BT, steps_T[None, :])
        future = (steps_T[None, :] > steps_T[:, None]).to(x.dtype)[None, None] * _MASKED
        memory_mask = padding_mask(batch.mask_BL, x.dtype)
        if torch.is_autocast_enabled("cuda") and x.is_cuda:
            kind = torch.get_autocast_dtype("cuda")
            future, memory_mask = future.to(kind), memory_mask.to(kind)
        for layer in self.decoder:
            x = layer(x, future, memory_BLD, memory_mask)
        return x

    def score_pieces(self, states: Tensor) -> Tensor:
        """Return the log-probabilities of generating each piece of the vocabulary."""
        x = self.transform_norm(functional.gelu(self.transform(states)))
        logits = functional.linear(x, self.encoder.embeddings.pieces.weight, self.piece_bias)
        return logits.float().log_softmax(-1)

    def score_targets(self, ids_BT: Tensor, targets_BT: Tensor, batch: SourceBatch, smoothing: float = 0.0) -> Tensor:
        """Return the negative log-likelihood of each target piece [B, T], after the pieces ``ids_BT`` before it."""
        memory = self.encode(batch)
        states = self.decode(ids_BT, memory, batch)
        generated_BTV = self.score_pieces(states)
        chosen_BT = generated_BTV.gather(-1, targets_BT[:, :, None])[:, :, 0]
        if self.copier is not None:
            weights_BT3, attention_2BTL = self.copier(states, memory, _copy_masks(batch))
            same_BTL = (batch.ids_BL[:, None, :] == targets_BT[:, :, None]).float()
            copied_2BT = (attention_2BTL * same_BTL).sum(-1)
            parts = [chosen_BT, *copied_2BT.clamp(min=_NEVER).log()]
            chosen_BT = torch.logsumexp(weights_BT3 + torch.stack(parts, dim=-1), dim=-1)
        loss = -chosen_BT
        return loss if not smoothing else (1 - smoothing) * loss - smoothing * generated_BTV.mean(-1)

    def score_next(self, states_BKD: Tensor, memory_BLD: Tensor, batch: SourceBatch) -> Tensor:
        """Return the log-probabilities of the next piece after each state, [B, K, V]: the mixture where it copies."""
        generated_BKV = self.score_pieces(states_BKD)
        if self.copier is None:
            return generated_BKV
        weights_BK3, attention_2BKL = self.copier(states_BKD, memory_BLD, _copy_masks(batch))
        weights_BK3 = weights_BK3.exp()
        mixed = weights_BK3[:, :, :1] * generated_BKV.exp()
        places = batch.ids_BL[:, None, :].expand(-1, states_BKD.shape[1], -1)
        for number, attention_BKL in enumerate(attention_2BKL, start=1):
            mixed = mixed.scatter_add(2, places, weights_BK3[:, :, number : number + 1] * attention_BKL)
        scores: Tensor = mixed.clamp(min=_NEVER).log()
        return scores


class GeneratorStepper:
    """A generator at work on a batch with ``beams`` outputs a question: what was computed for a piece is kept."""

    def __init__(self, network: Generator, batch: SourceBatch, begin_id: int, beams: int = 1) -> None:
        self.network, self.batch, self.begin_id, self.beams = network, batch, begin_id, beams
        self.memory = network.encode(batch)
        self.memory_mask = padding_mask(batch.mask_BL, self.memory.dtype)
        self.cross = [_keys_values(_cross(layer), self.memory) for layer in network.decoder]
        self.kept: list[tuple[Tensor, Tensor] | None] = [None] * len(self.cross)
        self.length = 0

    def begin(self) -> Tensor:
        """Return the log-probabilities of the first piece, [B, K, V]."""
        rows = self.memory.shape[0]
        return self.step(torch.full((rows, self.beams), self.begin_id, device=self.memory.device))

    def step(self, ids_BK: Tensor) -> Tensor:
        """Return the log-probabilities of the piece after ``ids_BK``, [B, K, V]."""
        rows, beams = ids_BK.shape
        network = self.network
        x_BKD = network.embed(ids_BK, torch.full_like(ids_BK, self.length))
        for place, (module, (keys, values)) in enumerate(zip(network.decoder, self.cross, strict=True)):
            layer = _layer(module)
            # Each beam has its own past, so it is a row of its own; all beams of a question ask the same memory.
            own = x_BKD.reshape(rows * beams, 1, -1)
            new_keys, new_values = _keys_values(layer.attention, own)
            past = self.kept[place]
            if past is not None:
                new_keys, new_values = torch.cat([past[0], new_keys], 2), torch.cat([past[1], new_values], 2)
            self.kept[place] = (new_keys, new_values)
            attended = _attend(layer.attention, own, new_keys, new_values, None).view_as(x_BKD)
            x_BKD = layer.attention_norm(x_BKD + attended)
            assert layer.cross is not None
            assert layer.cross_norm is not None
            x_BKD = layer.cross_norm(x_BKD + _attend(layer.cross, x_BKD, keys, values, self.memory_mask))
            x_BKD = layer.norm(x_BKD + layer.down(functional.gelu(layer.up(x_BKD))))
        self.length += 1
        return network.score_next(x_BKD, self.memory, self.batch)

    def reorder(self, beams_BK: Tensor) -> None:
        """Let beam k of each question go on from what its beam ``beams_BK[k]`` was."""
        rows = torch.arange(beams_BK.shape[0], device=beams_BK.device)[:, None] * beams_BK.shape[1]
        index = (rows + beams_BK).flatten()
        self.kept = [None if past is None else (past[0][index], past[1][index]) for past in self.kept]


def initialise_generator(network: Generator, backbone: Backbone) -> None:
    """Load the backbone into the encoder and start the decoder from its last layers, cross-attention included."""
    missing, unexpected = network.encoder.load_state_dict(backbone.weights, strict=False)
    if missing or unexpected:
        raise InputError(f"the encoder's weights do not fit: missing {missing[:3]}, unexpected {unexpected[:3]}")
    with torch.no_grad():
        layers = list(network.encoder.layers)
        for number, mine in enumerate(network.decoder):
            state = dict(layers[max(0, len(layers) - len(network.decoder) + number)].state_dict())
            state |= {k.replace("attention", "cross", 1): v for k, v in state.items() if k.startswith("attention")}
            mine.load_state_dict(state)
        table, offset = network.encoder.embeddings, backbone.config.position_offset
        rows = table.positions.weight[offset : offset + TARGET_PIECES]
        network.positions.weight[: len(rows)].copy_(rows)
        network.norm.load_state_dict(table.norm.state_dict())


def _copy_masks(batch: SourceBatch) -> Tensor:
    return torch.stack([batch.question_BL, batch.context_BL])


def _layer(module: nn.Module) -> Layer:
    assert isinstance(module, Layer)
    return module


def _cross(module: nn.Module) -> Attention:
    cross = _layer(module).cross
    assert cross is not None
    return cross


def _keys_values(attention: Attention, memory: Tensor) -> tuple[Tensor, Tensor]:
    return attention.split(attention.key(memory)), attention.split(attention.value(memory))


def _attend(attention: Attention, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> Tensor:
    queries = attention.split(attention.query(x))
    attended = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    out: Tensor = attention.out(attended.transpose(1, 2).flatten(2))
    return out


FORMAT = 1
_OURS = ("format", "generator")


@dataclass(frozen=True, slots=True)
class GeneratorCheckpoint:
    """A network with the pieces it reads and writes, and what is known of its making."""

    network: Generator
    pieces: Pieces
    facts: Mapping[str, Any]


def save_generator(folder: Path, checkpoint: GeneratorCheckpoint, card: str, half: bool = False) -> None:
    """Write the model's folder whole; ``half`` stores the weights in float16."""
    network = checkpoint.network
    with make_folder(folder) as work:
        save_weights(work / LAYOUT.weights, network.state_dict(), half)
        checkpoint.pieces.save(work / LAYOUT.vocabulary)
        config = {"format": FORMAT, "generator": dataclasses.asdict(network.config), **checkpoint.facts}
        (work / LAYOUT.config).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (work / LAYOUT.card).write_text(card, encoding="utf-8")


def load_generator(folder: str | Path) -> GeneratorCheckpoint:
    """Return the encoder-decoder in ``folder``, its parts checked against each other."""
    folder = Path(folder)
    for name in (LAYOUT.config, LAYOUT.weights, LAYOUT.vocabulary):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no {name}; expected the folder of an encoder-decoder that riseq trained")
    config = read_facts_file(folder / LAYOUT.config)
    if "generator" not in config or config.get("format") != FORMAT:
        raise InputError(f"{folder}: {LAYOUT.config} describes no encoder-decoder of format {FORMAT}")
    try:
        shape = dict(config["generator"])
        built = GeneratorConfig(**{**shape, "backbone": BackboneConfig(**shape["backbone"])})
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder / LAYOUT.config}: not the shape of an encoder-decoder ({error})") from error
    pieces = Pieces.load(folder / LAYOUT.vocabulary)
    with torch.device("meta"):
        network = Generator(built)
    try:
        network.load_state_dict(load_weights(folder / LAYOUT.weights), assign=True)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise InputError(f"{folder}: weights and config don't belong together ({first})") from error
    if len(pieces) > built.backbone.vocab_size:
        raise InputError(
            f"{folder}: {LAYOUT.vocabulary} has {len(pieces)} pieces, the network {built.backbone.vocab_size}"
        )
    facts = {k: v for k, v in config.items() if k not in _OURS}
    return GeneratorCheckpoint(network.eval(), pieces, facts)


def read_facts_file(path: Path) -> dict[str, Any]:
    """Return what a model's JSON file says."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected names and values, got {type(found).__name__}")
    return found
