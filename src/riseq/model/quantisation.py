"""Weights in eight or four bits, and a network made ready for eight: the same function, its activations smoothed."""

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.core.edits import Op
from riseq.extras import import_onnxruntime
from riseq.model.inputs import Condition, encode_context
from riseq.model.network import CopyInputs, Inputs, RiseNetwork, Spans
from riseq.model.transformer import Attention, Layer
from riseq.text.pieces import Pieces
from riseq.text.words import forms

NARROW = len(Op)
"""A matrix with no more columns stays in float32: the edit head is as good as free."""


class ByteEmbedding(nn.Module):
    """An embedding table of int8 rows, each with its own scale."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        weight = table.weight.detach()
        scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / 127
        self.register_buffer("rows", (weight / scale).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the rows of ``ids`` in float32."""
        rows, scale = self.get_buffer("rows"), self.get_buffer("scale")
        # Looked up and not indexed: so both have their names in the graph, which are read back (checkpoint).
        return functional.embedding(ids, rows).to(scale.dtype) * functional.embedding(ids, scale)


def find_narrow(graph: Any) -> set[str]:
    """Return the names of the matrices that stay in float32."""
    return {one.name for one in graph.initializer if len(one.dims) == 2 and one.dims[-1] <= NARROW}


def quantise_graph(source: Path, target: Path, reduce_range: bool) -> None:
    """Write the graph in ``source`` to ``target`` with int8 matrices, one scale a column.

    ``reduce_range`` takes seven bits of the eight: on x86 processors without VNNI the sums of two full products can
    overflow. On CANARD's development set seven bits gave the first model that shipped 0.14 BLEU-4 less than eight.
    """
    import onnx

    runtime = import_onnxruntime("onnxruntime.quantization")
    model = onnx.load(source)
    narrow = find_narrow(model.graph)
    excluded = [node.name for node in model.graph.node if node.op_type == "MatMul" and node.input[1] in narrow]
    runtime.quantize_dynamic(
        source,
        target,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
        reduce_range=reduce_range,
        weight_type=runtime.QuantType.QInt8,
        nodes_to_exclude=excluded,
        extra_options={"MatMulConstBOnly": True},
    )


BLOCK = 32
"""How many weights of a column share a scale where they have four bits."""


def quantise_to_four_bits(source: Path, target: Path) -> None:
    """Write the graph in ``source`` to ``target`` with its matrices and its table of pieces in four bits, in blocks."""
    import onnx

    runtime = import_onnxruntime("onnxruntime.quantization.matmul_nbits_quantizer")
    model = onnx.load(source)
    narrow = find_narrow(model.graph)
    tables = [node for node in model.graph.node if node.op_type == "Gather"]
    whole = [node.name for node in tables if not node.input[0].endswith("embeddings.pieces.weight")]
    whole += [node.name for node in model.graph.node if node.op_type == "MatMul" and node.input[1] in narrow]
    # Activations have eight bits, by blocks of a row: what stands beside a row in a batch changes nothing.
    quantiser = runtime.MatMulNBitsQuantizer(
        model,
        block_size=BLOCK,
        is_symmetric=False,
        accuracy_level=4,
        nodes_to_exclude=whole,
        op_types_to_quantize=("MatMul", "Gather"),
    )
    quantiser.process()
    onnx.save_model(quantiser.model.model, target)


SMOOTHING = 0.7
"""How much of a channel's size moves into the matrix (SmoothQuant's alpha).

Measured with the first model that shipped on 120 questions of CANARD's development set, by how far the edits'
probabilities move: 0.7 moves them less than 0.85, 1 or none at all."""
LOWEST = 0.17
"""The smallest value by which a piece is divided: that of GELU's dip, which bounds what a piece has below 0."""

DIALOGUES: tuple[tuple[str, ...], ...] = (
    ("Who was Marie Curie?", "She was a physicist and chemist.", "What did Marie Curie discover?"),
    ("Tell me about the Bronze Age collapse.", "What evidence is there for the Bronze Age collapse?"),
    ("Is Lisbon worth a visit in winter?", "How do I get there?", "What are the oldest parts of Lisbon?"),
    ("Did the band tour in 1996?", "Yes, they played 43 concerts in Europe.", "Which album did the band tour for?"),
    ("What causes migraines?", "Are they hereditary?", "How do doctors treat migraines?"),
    ("When was Ira Hayes born?", "1923", "Was anyone opposed to Ira Hayes revealing the truth?"),
)
"""Dialogues, each with its question last, that show which channels are large: it is the network's doing, not theirs."""


class SmoothedLinear(nn.Module):
    """A linear layer whose inputs are divided by a size for each channel, which its matrix has taken over."""

    def __init__(self, linear: nn.Linear, inverse_D: Tensor) -> None:
        super().__init__()
        self.linear = linear
        self.register_buffer("inverse_D", inverse_D)

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's outputs."""
        out: Tensor = self.linear(x * self.get_buffer("inverse_D"))
        return out


class RowScaledLinear(nn.Module):
    """A linear layer whose inputs are divided by their row's largest value, and its outputs multiplied by it."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.weight, self.bias = linear.weight, linear.bias

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's outputs."""
        largest = x.amax(dim=-1, keepdim=True).clamp(min=LOWEST)
        return torch.matmul(x / largest, self.weight.T) * largest + self.bias


def smooth_activations(network: RiseNetwork, pieces: Pieces) -> None:
    """Even out, in place, the sizes of what the matrices of ``network`` read; what it computes stays the same.

    Eight bits hold a tensor by its largest value: a few large channels would leave nothing of the others (SmoothQuant).
    """
    sizes = _measure(network, pieces)
    for layer in (*network.encoder.layers, *network.decoder):
        assert isinstance(layer, Layer)
        _divide(layer.attention, ("query", "key", "value"), sizes)
        if layer.cross is not None:
            _divide(layer.cross, ("query",), sizes)
            _divide(layer.cross, ("key", "value"), sizes)
        _divide(layer, ("up",), sizes)
        layer.down = RowScaledLinear(layer.down)  # type: ignore[assignment]


def _divide(owner: Attention | Layer, names: Sequence[str], sizes: dict[nn.Module, Tensor]) -> None:
    """Move the sizes of the channels that ``names`` read into their matrices; they read one and the same tensor."""
    layers = [getattr(owner, name) for name in names]
    of_inputs = torch.stack([sizes[layer] for layer in layers]).amax(0).clamp(min=1e-4)
    of_weights = torch.stack([layer.weight.detach().abs().amax(0) for layer in layers]).amax(0).clamp(min=1e-5)
    factor = of_inputs**SMOOTHING / of_weights ** (1 - SMOOTHING)
    factor /= factor.log().mean().exp()
    inverse = 1 / factor
    for name, layer in zip(names, layers, strict=True):
        with torch.no_grad():
            layer.weight.mul_(factor)
        setattr(owner, name, SmoothedLinear(layer, inverse))


def _measure(network: RiseNetwork, pieces: Pieces) -> dict[nn.Module, Tensor]:
    """Return the largest absolute value that each linear layer reads in each channel."""
    sizes: dict[nn.Module, Tensor] = {}

    def note(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        largest = inputs[0].detach().abs().flatten(0, -2).amax(0)
        sizes[module] = torch.maximum(sizes.get(module, largest), largest)

    with ExitStack() as hooks, torch.no_grad():
        for linear in (module for module in network.modules() if isinstance(module, nn.Linear)):
            hooks.callback(linear.register_forward_pre_hook(note).remove)
        for *context, question in DIALOGUES:
            inputs = _make_inputs(pieces, context, question)
            starts = inputs.firsts_BW[0]
            spans = Spans(torch.zeros_like(starts), starts, starts + 1)
            # Which words can be copied makes no difference to what the matrices read.
            nowhere = torch.zeros_like(starts)[None]
            words = CopyInputs(nowhere, nowhere, nowhere, None) if network.config.copies else None
            network.score_phrases(inputs, network.encode(inputs), spans, words)
    return sizes


def _make_inputs(pieces: Pieces, context: Sequence[str], question: str) -> Inputs:
    """Return one question in its dialogue as a batch of one row."""
    before = encode_context(pieces, context).ids
    cuts = [(pieces.sep_id,), *map(pieces.cut, forms(question)), (pieces.sep_id,)]
    ids_BL = torch.tensor([[*before, *chain.from_iterable(cuts)]])
    types_BL = (torch.arange(ids_BL.shape[1]) >= len(before)).long()[None]
    firsts_BW = torch.tensor([list(accumulate(map(len, cuts[:-2]), initial=len(before)))])
    condition_B = torch.tensor([Condition.GROUNDED])
    return Inputs(ids_BL, types_BL, torch.ones_like(ids_BL, dtype=torch.bool), firsts_BW, condition_B)
