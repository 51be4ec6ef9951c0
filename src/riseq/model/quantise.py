"""Weights in eight bits: the embedding table by rows, everything else by onnxruntime."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from riseq.core.edits import Op

NARROW = len(Op)
"""A matrix with no more columns stays in float32: the edit head is as good as free."""


class ByteEmbedding(nn.Module):
    """An embedding table of int8 rows, each with its own scale."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        weight = table.weight.detach()
        scale = weight.abs().amax(dim=1).clamp(min=1e-12) / 127
        self.register_buffer("rows", (weight / scale[:, None]).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the rows of ``ids`` in float32."""
        rows, scale = self.get_buffer("rows"), self.get_buffer("scale")
        return rows[ids].to(scale.dtype) * scale[ids][..., None]


def quantise_graph(source: Path, target: Path, reduce_range: bool) -> None:
    """Write the graph in ``source`` to ``target`` with int8 matrices, one scale a column.

    ``reduce_range`` takes seven bits of the eight: on x86 processors without VNNI the sums of two full products can
    overflow. On CANARD's development set seven bits gave the first model that shipped 0.14 BLEU-4 less than eight.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = onnx.load(source)
    columns = {weight.name: weight.dims[-1] for weight in model.graph.initializer if len(weight.dims) == 2}
    narrow = [
        node.name
        for node in model.graph.node
        if node.op_type == "MatMul" and columns.get(node.input[1], NARROW + 1) <= NARROW
    ]
    quantize_dynamic(
        source,
        target,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=reduce_range,
        weight_type=QuantType.QInt8,
        nodes_to_exclude=narrow,
        extra_options={"MatMulConstBOnly": True},
    )
