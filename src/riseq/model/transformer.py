"""One transformer layer for encoder and decoder, and the encoders of the BERT and MPNet families.

transformers' MPNet has neither cross-attention nor a fused attention kernel; one layer that both families' weights fit
lets encoder and decoder share code, start from the same weights, and export to a plain graph. Dimensions in names:
B batch, L pieces, D hidden, H heads, N spans.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class BackboneConfig:
    """The shape of an encoder, in one vocabulary for all families."""

    family: Literal["bert", "mpnet"]
    vocab_size: int
    hidden: int
    layers: int
    heads: int
    intermediate: int
    max_positions: int
    type_vocab: int
    """0 where the family has no token types."""
    norm_eps: float
    relative_buckets: int
    """0 where positions are absolute alone."""
    position_offset: int
    """The first piece's row in the position table (MPNet starts after its padding row)."""


class AdaptedLinear(nn.Linear):
    """A linear layer with a low-rank difference to its matrix: what was learnt above one that stays as it is."""

    def __init__(self, inputs: int, outputs: int, rank: int) -> None:
        super().__init__(inputs, outputs)
        self.narrow = nn.Parameter(torch.randn(inputs, rank) * inputs**-0.5)
        self.wide = nn.Parameter(torch.zeros(rank, outputs))  # at first no difference

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs."""
        # One product instead of three: the difference is far smaller than what goes through it.
        return functional.linear(x, self.weight + (self.narrow @ self.wide).T, self.bias)


def make_linear(inputs: int, outputs: int, rank: int) -> nn.Linear:
    """Return a linear layer, with a difference of this rank where it is not 0."""
    return AdaptedLinear(inputs, outputs, rank) if rank else nn.Linear(inputs, outputs)


class Attention(nn.Module):
    """Multi-head attention over ``memory`` (or over the states themselves)."""

    def __init__(self, hidden: int, heads: int, dropout: float, rank: int = 0) -> None:
        super().__init__()
        self.heads = heads
        self.query = make_linear(hidden, hidden, rank)
        self.key = make_linear(hidden, hidden, rank)
        self.value = make_linear(hidden, hidden, rank)
        self.out = make_linear(hidden, hidden, rank)
        self.dropout = dropout

    def split(self, x: Tensor) -> Tensor:
        """Return the heads apart: [B, H, L, D / H]."""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)

    def forward(self, x_BLD: Tensor, memory_BMD: Tensor, mask: Tensor | None) -> Tensor:
        """Return the attended states; ``mask`` is added to the scores."""
        query, key, value = self.query(x_BLD), self.key(memory_BMD), self.value(memory_BMD)
        slow = query.requires_grad and query.dtype is torch.bfloat16 and query.is_cpu
        attend = attend_plainly if slow else attend_fused
        dropout = self.dropout if self.training else 0.0
        attended = attend(self.split(query), self.split(key), self.split(value), mask, dropout)
        out: Tensor = self.out(attended.transpose(1, 2).flatten(2))
        return out


def attend_fused(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """Return the values that each head attends to, [B, H, L, D / H], by torch's own kernels."""
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)


def attend_plainly(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """Return what ``attend_fused`` does; on a CPU in bfloat16 that one's gradient takes four times as long."""
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
    odds = (scores if mask is None else scores + mask).softmax(-1)
    attended: Tensor = functional.dropout(odds, dropout) @ value
    return attended


class Layer(nn.Module):
    """Self-attention, cross-attention where there is a memory, and a feed-forward block, each with a norm after it."""

    def __init__(self, config: BackboneConfig, dropout: float, cross: bool, rank: int = 0) -> None:
        super().__init__()
        self.attention = Attention(config.hidden, config.heads, dropout, rank)
        self.attention_norm = nn.LayerNorm(config.hidden, config.norm_eps)
        self.cross = Attention(config.hidden, config.heads, dropout, rank) if cross else None
        self.cross_norm = nn.LayerNorm(config.hidden, config.norm_eps) if cross else None
        self.up = make_linear(config.hidden, config.intermediate, rank)
        self.down = make_linear(config.intermediate, config.hidden, rank)
        self.norm = nn.LayerNorm(config.hidden, config.norm_eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, mask: Tensor | None, memory: Tensor | None = None, memory_mask: Tensor | None = None
    ) -> Tensor:
        """Return the layer's states."""
        x = self.attention_norm(x + self.dropout(self.attention(x, x, mask)))
        if self.cross is not None and self.cross_norm is not None and memory is not None:
            x = self.cross_norm(x + self.dropout(self.cross(x, memory, memory_mask)))
        out: Tensor = self.norm(x + self.dropout(self.down(functional.gelu(self.up(x)))))
        return out


class Embeddings(nn.Module):
    """Piece, position and type embeddings, summed and normalised."""

    def __init__(self, config: BackboneConfig, dropout: float) -> None:
        super().__init__()
        self.pieces = nn.Embedding(config.vocab_size, config.hidden)
        self.positions = nn.Embedding(config.max_positions, config.hidden)
        self.types = nn.Embedding(config.type_vocab, config.hidden) if config.type_vocab else None
        self.norm = nn.LayerNorm(config.hidden, config.norm_eps)
        self.dropout = nn.Dropout(dropout)
        self.offset = config.position_offset

    def forward(self, ids: Tensor, positions: Tensor, types: Tensor, added: Tensor | None = None) -> Tensor:
        """Return the embedded pieces; ``added`` joins the sum before the norm."""
        x = self.pieces(ids) + self.positions(positions + self.offset)
        if self.types is not None:
            x = x + self.types(types)
        if added is not None:
            x = x + added
        out: Tensor = self.dropout(self.norm(x))
        return out


class Encoder(nn.Module):
    """A BERT or MPNet encoder."""

    def __init__(self, config: BackboneConfig, dropout: float, rank: int = 0) -> None:
        super().__init__()
        self.embeddings = Embeddings(config, dropout)
        self.layers = nn.ModuleList(Layer(config, dropout, cross=False, rank=rank) for _ in range(config.layers))
        self.bias = nn.Embedding(config.relative_buckets, config.heads) if config.relative_buckets else None

    def forward(self, ids_BL: Tensor, types_BL: Tensor, mask_BL: Tensor, added: Tensor | None = None) -> Tensor:
        """Return the pieces' states; ``mask_BL`` is true at real pieces, ``added`` joins the embeddings' sum."""
        positions_L = torch.arange(ids_BL.shape[1], device=ids_BL.device)
        x = self.embeddings(ids_BL, positions_L[None, :], types_BL, added)
        mask = padding_mask(mask_BL, x.dtype)
        if self.bias is not None:
            buckets_LL = relative_buckets(positions_L, self.bias.num_embeddings)
            # The bias stays as pretrained: its gradient needs every head's attention map in memory, a third of a step.
            mask = mask + self.bias(buckets_LL).detach().permute(2, 0, 1)[None].to(mask.dtype)
        mask = cast_mask(mask)
        for layer in self.layers:
            x = layer(x, mask)
        states: Tensor = x
        return states


def padding_mask(mask_BL: Tensor, dtype: torch.dtype) -> Tensor:
    """Return scores to add to attention [B, 1, 1, L]: 0 at real pieces, a large negative number at padding."""
    scores: Tensor = (~mask_BL)[:, None, None, :].to(dtype) * -1e4
    return scores


def cast_mask(mask: Tensor) -> Tensor:
    """Return the mask in the type that attention is computed in: under autocast its queries are not of ``mask``'s."""
    device = mask.device.type
    return mask.to(torch.get_autocast_dtype(device)) if torch.is_autocast_enabled(device) else mask


def relative_buckets(positions_L: Tensor, buckets: int, max_distance: int = 128) -> Tensor:
    """Return MPNet's bucket of each pair of positions: half for each direction, exact when near, logarithmic beyond."""
    behind = positions_L[:, None] - positions_L[None, :]
    half = buckets // 2
    distance = behind.abs()
    edges = bucket_edges(half, max_distance)
    bucket = distance.clamp(max=half // 2)
    for edge in edges:
        bucket = bucket + (distance >= edge)
    return bucket + (behind < 0).to(torch.long) * half


def bucket_edges(half: int, max_distance: int) -> list[int]:
    """Return the distances at which MPNet's logarithmic buckets after the first begin.

    Far bucket k holds the distances with ``floor(log(d / exact) / log(max_distance / exact) * far) = k``. In floating
    point the logarithm lies on an edge at 16, 32, 64 and 128, where devices and runtimes round to different sides;
    powers of integers do not.
    """
    exact = half // 2
    far = half - exact
    edges, distance = [], exact
    for k in range(1, far):
        while distance**far * exact**k < max_distance**k * exact**far:
            distance += 1
        edges.append(distance)
    return edges
