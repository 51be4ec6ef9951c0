"""An encoder's pass over rows laid end to end, without padding: what a GPU reads fastest.

Attention is flash attention over rows of any length where the device has it; elsewhere rows are padded for it alone.
Weights are copied once, in the precision that the pass runs in, and queries, keys and values are one matrix. Dimensions
in names: T pieces of all rows, B rows, L pieces of the longest, H heads, D hidden.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.model.network import RiseNetwork
from riseq.model.transformer import AdaptedLinear, Layer, padding_mask

HALF_PRECISIONS = (torch.bfloat16, torch.float16)


class Rows(NamedTuple):
    """Rows of pieces laid end to end, on a device."""

    ids_T: Tensor
    row_T: Tensor
    """The row of each piece."""
    positions_T: Tensor
    """The place of each piece in its row."""
    types_T: Tensor
    starts_B: Tensor
    """Where each row starts, and where the last ends: [B + 1], 32-bit."""
    lengths_B: Tensor
    condition_B: Tensor
    longest: int

    @classmethod
    def lay_out(cls, ids_T: Tensor, lengths_B: Tensor, context_B: Tensor, condition_B: Tensor, longest: int) -> Rows:
        """Return the rows of ``ids_T``, by their lengths and how many pieces stand before the marker in each."""
        starts = functional.pad(lengths_B.cumsum(0), (1, 0))
        rows = torch.arange(len(lengths_B), device=ids_T.device)
        # With its size given nothing waits for the device.
        row_T = rows.repeat_interleave(lengths_B, output_size=len(ids_T))
        positions_T = torch.arange(len(ids_T), device=ids_T.device) - starts[row_T]
        types_T = (positions_T >= context_B[row_T]).long()
        return cls(ids_T, row_T, positions_T, types_T, starts.int(), lengths_B, condition_B, longest)

    def find_places(self, row_N: Tensor) -> tuple[Tensor, Tensor]:
        """Return where the pieces of some rows are, [N, L], and which of those places are real."""
        steps_L = torch.arange(self.longest, device=row_N.device)
        real_NL = steps_L[None, :] < self.lengths_B[row_N][:, None]
        places_NL = self.starts_B[row_N].long()[:, None] + steps_L[None, :]
        return places_NL.clamp(max=len(self.ids_T) - 1), real_NL


class _LayerWeights(NamedTuple):
    """One layer's matrices."""

    joint: tuple[Tensor, Tensor]
    """Of queries, keys and values together."""
    out: tuple[Tensor, Tensor]
    attention_norm: tuple[Tensor, Tensor]
    up: tuple[Tensor, Tensor]
    down: tuple[Tensor, Tensor]
    norm: tuple[Tensor, Tensor]


class UnpaddedEncoder:
    """The encoder of a network of the BERT family, for rows without padding; a later change of its weights is lost."""

    def __init__(self, network: RiseNetwork, compiled: bool = False) -> None:
        """Copy the weights, in the precision and on the device that the network has them."""
        if not can_unpad(network):
            raise ValueError("a network with relative positions or smoothed matrices has no pass without padding")
        self.network = network
        backbone = network.config.backbone
        self.heads, self.eps = backbone.heads, backbone.norm_eps
        layers = [layer for layer in network.encoder.layers if isinstance(layer, Layer)]
        self.layers = [_copy_layer(layer) for layer in layers]
        self._after_attention: Callable[..., Tensor] = self._finish_layer
        if compiled:
            self._after_attention = torch.compile(self._finish_layer, dynamic=True)

    def encode(self, rows: Rows) -> Tensor:
        """Return the states of all pieces, [T, D]."""
        added = self.network.embed(rows.condition_B)
        added_TD = None if added is None else added[:, 0][rows.row_T]
        x = self.network.encoder.embeddings(rows.ids_T, rows.positions_T, rows.types_T, added_TD)
        attend = _attend_flat if x.is_cuda and x.dtype in HALF_PRECISIONS and _find_varlen() else _attend_padded
        for layer in self.layers:
            joint_T3HD = functional.linear(x, *layer.joint).view(len(x), 3, self.heads, -1)
            x = self._after_attention(x, attend(joint_T3HD, rows).flatten(1), layer)
        states: Tensor = x
        return states

    def _finish_layer(self, x: Tensor, attended: Tensor, layer: _LayerWeights) -> Tensor:
        size = (x.shape[-1],)
        x = functional.layer_norm(x + functional.linear(attended, *layer.out), size, *layer.attention_norm, self.eps)
        changed = functional.linear(functional.gelu(functional.linear(x, *layer.up)), *layer.down)
        return functional.layer_norm(x + changed, size, *layer.norm, self.eps)


def can_unpad(network: RiseNetwork) -> bool:
    """Return whether a network has a pass without padding.

    Attention here knows no relative positions, and layers made ready for eight bits have no plain matrices.
    """
    layers = (layer for layer in network.encoder.layers if isinstance(layer, Layer))
    plain = all(isinstance(one, nn.Linear) for layer in layers for one in (layer.attention.query, layer.up, layer.down))
    return network.encoder.bias is None and plain


def _copy_layer(layer: Layer) -> _LayerWeights:
    attention = layer.attention
    parts = [_merge(one) for one in (attention.query, attention.key, attention.value)]
    joint = torch.cat([weight for weight, _ in parts]), torch.cat([bias for _, bias in parts])
    norms = [(norm.weight.detach(), norm.bias.detach()) for norm in (layer.attention_norm, layer.norm)]
    return _LayerWeights(joint, _merge(attention.out), norms[0], _merge(layer.up), _merge(layer.down), norms[1])


def _merge(linear: nn.Linear) -> tuple[Tensor, Tensor]:
    """Return a layer's matrix and bias, a low-rank difference added to it."""
    weight = linear.weight.detach()
    if isinstance(linear, AdaptedLinear):
        weight = weight + (linear.narrow @ linear.wide).detach().T
    return weight, linear.bias.detach()


def _attend_padded(joint_T3HD: Tensor, rows: Rows) -> Tensor:
    """Return what each piece attends to in its own row, [T, H, D / H], by way of padded rows."""
    count = len(rows.lengths_B)
    padded = joint_T3HD.new_zeros((count, rows.longest, *joint_T3HD.shape[1:]))
    padded[rows.row_T, rows.positions_T] = joint_T3HD
    real_BL = torch.arange(rows.longest, device=joint_T3HD.device)[None, :] < rows.lengths_B[:, None]
    query, key, value = padded.permute(2, 0, 3, 1, 4)
    mask = padding_mask(real_BL, joint_T3HD.dtype)
    attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return attended.transpose(1, 2)[rows.row_T, rows.positions_T]


def _attend_flat(joint_T3HD: Tensor, rows: Rows) -> Tensor:
    """Return the same by flash attention over rows of any length."""
    query, key, value = joint_T3HD.unbind(1)
    around = rows.starts_B, rows.starts_B, rows.longest, rows.longest
    found: Tensor = _find_varlen()(query, key, value, *around)
    return found


def _find_varlen() -> Any:
    """Return torch's attention over rows of any length; None in a torch that has none."""
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None
    return varlen_attn
