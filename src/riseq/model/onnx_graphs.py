"""The network as the two graphs that ship: one reads a batch and scores its edits, one scores phrases for spans.

They share one embedding table: the first graph gives out the pieces' embeddings beside their states, and the second
takes from those what its spans need. Dimensions in names: B batch, L pieces, W words, R rows with spans, N spans, S
pieces of the longest span, D hidden.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.model.network import RiseNetwork
from riseq.model.transformer import Attention, Layer, relative_buckets

ENCODER_INPUTS = ("ids", "types", "mask", "firsts")
ENCODER_OUTPUTS = ("edits", "states", "pieces")
PHRASER_INPUTS = ("states", "pieces", "mask", "rows", "places", "lengths")
PHRASER_OUTPUTS = ("phrases",)

Keyed = tuple[Tensor, Tensor]
"""The keys and values of a memory."""


class EncoderGraph(nn.Module):
    """The editing policy: a padded batch in, log-probabilities of edits, states and embedded pieces out."""

    def __init__(self, network: RiseNetwork) -> None:
        super().__init__()
        self.network = network
        encoder = network.encoder
        self.furthest = network.config.backbone.max_positions - 1
        if encoder.bias is not None:
            # By distance and not by its logarithm: that lies on a bucket's edge at 16, 32, 64 and 128, and another
            # library's rounding would fall on the other side.
            distances = torch.arange(-self.furthest, self.furthest + 1)
            buckets = relative_buckets(distances, encoder.bias.num_embeddings)[:, self.furthest]
            self.register_buffer("bias_by_distance", encoder.bias.weight.detach()[buckets])

    def forward(self, ids_BL: Tensor, types_BL: Tensor, mask_BL: Tensor, firsts_BW: Tensor) -> tuple[Tensor, ...]:
        """Return edits [B, W, 4], states [B, L, D] and pieces [B, L, D]."""
        encoder = self.network.encoder
        positions_L = torch.arange(ids_BL.shape[1], device=ids_BL.device)
        states = encoder.embeddings(ids_BL, positions_L[None, :], types_BL)
        real = mask_BL.to(torch.int32)
        bias = None
        if encoder.bias is not None:
            distances_LL = positions_L[:, None] - positions_L[None, :]
            bias = self.get_buffer("bias_by_distance")[distances_LL + self.furthest].permute(2, 0, 1)[None]
        for layer in encoder.layers:
            assert isinstance(layer, Layer)
            attended = _attend(layer.attention, states, _key(layer.attention, states), real, bias)
            states = _feed_forward(layer, layer.attention_norm(states + attended))
        # The same rows of the same table as above: onnxruntime computes them once.
        return self.network.score_edits(states, firsts_BW), states, encoder.embeddings.pieces(ids_BL)


class PhraserGraph(nn.Module):
    """The phrasing policy: the encoder's outputs and spans in, log-probabilities of phrases out.

    Row ``rows_N`` has its span's pieces at ``places_NS``, of which the first ``lengths_N`` count.
    """

    def __init__(self, network: RiseNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        states_RLD: Tensor,
        pieces_RLD: Tensor,
        mask_RL: Tensor,
        rows_N: Tensor,
        places_NS: Tensor,
        lengths_N: Tensor,
    ) -> Tensor:
        """Return phrases [N, P]."""
        network = self.network
        span = pieces_RLD[rows_N[:, None], places_NS]
        if network.config.decoder_input == "states":
            span = span + states_RLD[rows_N[:, None], places_NS]
        # Every row starts with [CLS], so the table itself is not needed.
        x = torch.cat([pieces_RLD[rows_N, 0][:, None], span], dim=1)
        steps_S = torch.arange(places_NS.shape[1], device=x.device)
        positions = torch.cat([lengths_N[:, None], steps_S[None, :].expand(lengths_N.shape[0], -1)], dim=1)
        x = network.span_norm(x + network.span_positions(positions))
        real = (steps_S[None, :] < lengths_N[:, None]).to(torch.int32)
        real = torch.cat([torch.ones_like(lengths_N, dtype=torch.int32)[:, None], real], dim=1)
        memory_real = mask_RL.to(torch.int32)[rows_N]
        for depth, layer in enumerate(network.decoder):
            assert isinstance(layer, Layer)
            assert layer.cross is not None
            assert layer.cross_norm is not None
            # Only [CLS] is read in the end, so the last layer asks for nothing else.
            asking = x[:, :1] if depth == len(network.decoder) - 1 else x
            attended = _attend(layer.attention, asking, _key(layer.attention, x), real, None)
            x = layer.attention_norm(asking + attended)
            # A row's keys and values are made once, however many spans it has.
            keys, values = _key(layer.cross, states_RLD)
            x = layer.cross_norm(x + _attend(layer.cross, x, (keys[rows_N], values[rows_N]), memory_real, None))
            x = _feed_forward(layer, x)
        scores: Tensor = network.phrase_head(x[:, :1]).log_softmax(-1)
        return scores[:, 0]


def _key(attention: Attention, memory: Tensor) -> Keyed:
    return attention.key(memory), attention.value(memory)


def _attend(attention: Attention, x: Tensor, memory: Keyed, real: Tensor, bias: Tensor | None) -> Tensor:
    """Return the attended states, by onnxruntime's fused kernel."""
    # Written out, attention is a dozen nodes of which most move memory: an encoder pass takes a tenth longer.
    query = attention.query(x)
    attended = torch.onnx.ops.symbolic(
        "com.microsoft::MultiHeadAttention",
        (query, *memory, None, real, bias),
        {"num_heads": attention.heads},
        dtype=query.dtype,
        shape=query.shape,
        version=1,
    )
    out: Tensor = attention.out(attended)
    return out


def _feed_forward(layer: Layer, x: Tensor) -> Tensor:
    out: Tensor = layer.norm(x + layer.down(functional.gelu(layer.up(x))))
    return out
