"""An encoder-decoder that generates a question piece by piece, or copies too (Trans++).

Dimensions in names: B questions, K beams, L source pieces, T output pieces, V vocabulary, D hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import torch
from torch import FloatTensor, Tensor, nn
from torch.nn import functional
from transformers import Cache, GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from riseq.model.transformer import Attention, BackboneConfig, Encoder, Layer, cast_mask, padding_mask

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


class SourceBatch(NamedTuple):
    """Padded sources: ``[CLS] c1 [SEP] c2 [SEP] x [SEP]``, the [SEP] before the question x being its marker."""

    ids_BL: Tensor
    types_BL: Tensor
    """1 from the marker on."""
    mask_BL: Tensor
    """True at real pieces."""
    copies_2BL: Tensor
    """True at what can be copied: the question's pieces and the context's, without the marks around them."""

    def to(self, device: torch.device) -> SourceBatch:
        """Return the batch on ``device``."""
        return SourceBatch(*(part.to(device, non_blocking=True) for part in self))


class Copier(nn.Module):
    """The attention over the question and that over the context which copy, and the weights of the mixture."""

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
        future = cast_mask((steps_T[None, :] > steps_T[:, None]).to(x.dtype)[None, None] * _MASKED)
        memory_mask = cast_mask(padding_mask(batch.mask_BL, x.dtype))
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
            weights_BT3, attention_2BTL = self.copier(states, memory, batch.copies_2BL)
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
        weights_BK3, attention_2BKL = self.copier(states_BKD, memory_BLD, batch.copies_2BL)
        weights_BK3 = weights_BK3.exp()
        mixed = weights_BK3[:, :, :1] * generated_BKV.exp()
        index = batch.ids_BL[:, None, :].expand(-1, states_BKD.shape[1], -1)
        for number, attention_BKL in enumerate(attention_2BKL, start=1):
            mixed = mixed.scatter_add(2, index, weights_BK3[:, :, number : number + 1] * attention_BKL)
        scores: Tensor = mixed.clamp(min=_NEVER).log()
        return scores


class BatchDecoder(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """A generator that has read one batch, as transformers' ``generate`` takes it: a causal model prompted by [CLS].

    All beams of a question attend to one copy of its source.
    """

    def __init__(self, network: Generator, batch: SourceBatch) -> None:
        layers = cast("list[Layer]", list(network.decoder))
        size = network.config.backbone.vocab_size
        super().__init__(PreTrainedConfig.from_dict({"vocab_size": size, "num_hidden_layers": len(layers)}))
        self.network, self.batch, self.layers = network, batch, layers
        self.memory = network.encode(batch)
        self.memory_mask = padding_mask(batch.mask_BL, self.memory.dtype)
        self.cross = [_keys_values(cast(Attention, layer.cross), self.memory) for layer in layers]

    def forward(self, input_ids: Tensor, past_key_values: Cache, **_: Any) -> CausalLMOutputWithPast:
        """Return the log-probabilities of the piece after ``input_ids``, the last piece of each beam, [B * K, 1, V]."""
        network, ids_BK = self.network, input_ids.view(len(self.memory), -1)
        x_BKD = network.embed(ids_BK, torch.full_like(ids_BK, past_key_values.get_seq_length()))
        for number, (layer, (keys, values)) in enumerate(zip(self.layers, self.cross, strict=True)):
            assert layer.cross is not None
            assert layer.cross_norm is not None
            own = x_BKD.reshape(-1, 1, x_BKD.shape[-1])  # each beam has its own past, so it is a row of its own
            past = past_key_values.update(*_keys_values(layer.attention, own), number)
            x_BKD = layer.attention_norm(x_BKD + _attend(layer.attention, own, *past).view_as(x_BKD))
            x_BKD = layer.cross_norm(x_BKD + _attend(layer.cross, x_BKD, keys, values, self.memory_mask))
            x_BKD = layer.norm(x_BKD + layer.down(functional.gelu(layer.up(x_BKD))))
        scores = network.score_next(x_BKD, self.memory, self.batch).flatten(0, 1)[:, None]
        return CausalLMOutputWithPast(logits=cast(FloatTensor, scores), past_key_values=past_key_values)


def _keys_values(attention: Attention, memory: Tensor) -> tuple[Tensor, Tensor]:
    return attention.split(attention.key(memory)), attention.split(attention.value(memory))


def _attend(attention: Attention, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None) -> Tensor:
    queries = attention.split(attention.query(x))
    attended = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    out: Tensor = attention.out(attended.transpose(1, 2).flatten(2))
    return out
