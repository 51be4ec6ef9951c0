"""The weights of an exported model, read back from its graphs, so that training can go on from what ships.

The exporter keeps the names of tables, norms and biases; a matrix loses its name, but is found before its bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.model.folder import LAYOUT
from riseq.model.transformer import relative_buckets
from riseq.types import InputError

Array = NDArray[Any]
_PRODUCTS = ("MatMul", "MatMulInteger")
_BIAS = "encoder.bias.weight"


class WeightGraph:
    """A graph's tensors, and its nodes by what they make and by the tensors they take."""

    def __init__(self, path: Path) -> None:
        import onnx

        graph = onnx.load(path).graph
        self.tensors: dict[str, Array] = {
            one.name.removeprefix("network."): onnx.numpy_helper.to_array(one) for one in graph.initializer
        }
        self.made_by = {output: node for node in graph.node for output in node.output}
        self.taken_by = {name.removeprefix("network."): node for node in graph.node for name in node.input}

    def find(self, name: str) -> Array | None:
        """Return the plain weight called ``name`` in the network, or None where this graph has not got it."""
        if name in self.tensors:
            return self.tensors[name]
        layer, _, kind = name.rpartition(".")
        if f"{layer}.rows" in self.tensors:  # quantisation.ByteEmbedding
            return self.tensors[f"{layer}.rows"] * self.tensors[f"{layer}.scale"].reshape(-1, 1)
        bias = next((one for one in (f"{layer}.bias", f"{layer}.linear.bias") if one in self.tensors), None)
        if bias is None or kind == "bias":
            return None if bias is None else self.tensors[bias]
        return self._find_matrix(self.taken_by[bias])

    def _find_matrix(self, node: Any) -> Array:
        """Return the matrix whose product ``node`` is made from, as a linear layer has it."""
        while node.op_type not in _PRODUCTS:  # an addition, and what brings the sums of int8 back to scale
            node = next(self.made_by[one] for one in node.input if one in self.made_by)
        given, name = node.input[0], node.input[1]
        matrix = self.tensors[name]
        if node.op_type == "MatMulInteger":
            matrix = matrix.astype(np.float32) * self.tensors[f"{name.removesuffix('_quantized')}_scale"]
            given = self.made_by[given].input[0]
        before = self.made_by.get(given)
        divided = [] if before is None else [one for one in before.input if one.endswith(".inverse_D")]
        if divided:  # quantisation.SmoothedLinear
            matrix = matrix * self.tensors[divided[0].removeprefix("network.")][:, None]
        return matrix.T


def read_weights(folder: Path, shapes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights called as in ``shapes`` from the graphs in ``folder``; int8 as the floats it stands for."""
    graphs = [WeightGraph(folder / name) for name in (LAYOUT.encoder, LAYOUT.phraser)]
    weights = {}
    for name, shape in shapes.items():
        if name == _BIAS:
            found = _read_bias(graphs[0].tensors["bias_by_distance"], len(shape))
        else:
            found = next((one for graph in graphs if (one := graph.find(name)) is not None), None)  # type: ignore[arg-type]
        if found is None or found.shape != tuple(shape.shape):
            raise InputError(f"{folder}: its graphs have no {name} of shape {tuple(shape.shape)}")
        weights[name] = torch.from_numpy(np.array(found, dtype=np.float32))
    return weights


def _read_bias(by_distance: Array, count: int) -> Array:
    """Return a bias for each of ``count`` buckets of distances; one that no distance falls into is never asked for."""
    furthest = len(by_distance) // 2
    buckets = relative_buckets(torch.arange(-furthest, furthest + 1), count)[:, furthest]
    table = np.zeros((count, by_distance.shape[1]), dtype=np.float32)
    table[buckets.numpy()] = by_distance
    return table
