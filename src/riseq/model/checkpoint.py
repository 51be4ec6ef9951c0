"""A trained network's folder: weights in safetensors, shape in JSON, phrases and vocabulary as text; never pickle.

The weights of an exported model are read back from its graphs, so that training can go on from what ships.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from riseq.core.phrases import PhraseVocabulary
from riseq.core.templates import TemplateVocabulary
from riseq.files import make_folder
from riseq.hub import MODEL_FOLDER, check_files, find_model
from riseq.model.differences import read_graph
from riseq.model.folder import (
    EXPORTED_FIELDS,
    FORMAT,
    LAYOUT,
    is_exported,
    load_exported,
    read_config,
    read_phrases,
    read_templates,
    write_facts,
    write_vocabularies,
)
from riseq.model.network import NetworkConfig, RiseNetwork
from riseq.model.transformer import BackboneConfig, relative_buckets
from riseq.text.pieces import Pieces
from riseq.types import InputError

Array = NDArray[Any]
Shape = TypeVar("Shape")
_OWN_FIELDS = {"format", "network", "cls_id", "digests", *EXPORTED_FIELDS}
"""What a config says of the folder itself, a checkpoint's or an exported model's; the rest is known of its making."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A network with the phrases it says and the pieces it reads, and what is known of its making."""

    network: RiseNetwork
    phrases: PhraseVocabulary
    pieces: Pieces
    facts: Mapping[str, Any]
    templates: TemplateVocabulary = field(default_factory=TemplateVocabulary)


def save_checkpoint(folder: Path, checkpoint: Checkpoint, card: str) -> None:
    """Write the model's folder whole: it appears, or replaces an older one, only once all of it is on disk."""
    network = checkpoint.network
    with make_folder(folder) as work:
        save_weights(work / LAYOUT.weights, network.state_dict())
        written = write_vocabularies(work, checkpoint.phrases, checkpoint.pieces, checkpoint.templates)
        config = {
            "format": FORMAT,
            "network": dataclasses.asdict(network.config),
            "cls_id": network.cls_id,
            "phrases": len(checkpoint.phrases),
            "digests": {name: _digest(work / name) for name in sorted([*written, LAYOUT.weights])},
            **checkpoint.facts,
        }
        write_facts(work, config, card)


def load_checkpoint(folder: str | Path) -> Checkpoint:
    """Return the model in ``folder``, its parts checked against each other."""
    folder = Path(folder)
    check_files(folder, (LAYOUT.config, LAYOUT.weights, LAYOUT.phrases, LAYOUT.vocabulary), MODEL_FOLDER)
    config = read_config(folder, {"digests": dict}, digests={})  # the first checkpoints have none
    shape = read_shape(folder, NetworkConfig, config.get("network"))
    phrases = read_phrases(folder / LAYOUT.phrases)
    pieces = Pieces.load(folder / LAYOUT.vocabulary)
    _check_parts(folder, config, shape, phrases, pieces)
    templates = read_templates(folder, shape.templates)
    network = _open_network(shape, pieces.cls_id)
    fill_network(network, folder)
    # As many phrases or pieces in another order load too, and say something else.
    for name, expected in config["digests"].items():
        if _digest(folder / name) != expected:
            raise InputError(f"{folder}: {name} is not the file the network was saved with; they don't belong together")
    return Checkpoint(network.eval(), phrases, pieces, _read_facts(config), templates)


def load_trained(name: str | Path) -> Checkpoint:
    """Return the model called ``name``: a checkpoint, or an exported one, its int8 as the floats it stands for."""
    folder = find_model(name)
    if not is_exported(folder):
        return load_checkpoint(folder)
    exported = load_exported(folder)
    shape = read_shape(folder, NetworkConfig, exported.config.get("network"))
    network = _open_network(shape, exported.pieces.cls_id)
    network.load_state_dict(read_weights(folder, network.state_dict()))
    facts = _read_facts(exported.config)
    return Checkpoint(network.eval(), exported.phrases, exported.pieces, facts, exported.templates)


def read_shape(folder: Path, kind: Callable[..., Shape], values: Any, what: str = "a network") -> Shape:
    """Return the shape of ``kind`` that a model's config has as ``values``, its backbone's among them."""
    try:
        return kind(**{**values, "backbone": BackboneConfig(**values["backbone"])})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder / LAYOUT.config}: not the shape of {what} ({error})") from error


def fill_network(network: nn.Module, folder: Path) -> None:
    """Give ``network`` the weights in a checkpoint's folder."""
    try:
        network.load_state_dict(load_weights(folder / LAYOUT.weights), assign=True)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise InputError(f"{folder}: weights and config don't belong together ({first})") from error


def _read_facts(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in config.items() if name not in _OWN_FIELDS}


def _open_network(config: NetworkConfig, cls_id: int) -> RiseNetwork:
    """Return a network whose weights are still to be filled."""
    with torch.device("meta"):
        network = RiseNetwork(config, cls_id)
    network.to_empty(device="cpu").reset_buffers()
    return network


def _check_parts(
    folder: Path, config: Mapping[str, Any], shape: NetworkConfig, phrases: PhraseVocabulary, pieces: Pieces
) -> None:
    most, at, expected = shape.backbone.vocab_size, pieces.cls_id, config.get("cls_id")
    checks = {
        f"{LAYOUT.phrases} has {len(phrases)} phrases, the network {shape.phrases}": len(phrases) == shape.phrases,
        f"{LAYOUT.vocabulary} has {len(pieces)} pieces, the network {most}": len(pieces) <= most,
        f"{LAYOUT.vocabulary} has [CLS] at {at}, the network at {expected}": at == expected,
    }
    for message, holds in checks.items():
        if not holds:
            raise InputError(f"{folder}: {message}; they don't belong together")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def save_weights(path: Path, state: Mapping[str, Tensor], half: bool = False) -> None:
    """Write a network's tensors, in float16 where ``half``."""
    kind = torch.float16 if half else torch.float32
    # Copies, for safetensors takes no two names of one tensor.
    tensors = {name: tensor.detach().to("cpu", kind, copy=True).contiguous() for name, tensor in state.items()}
    save_file(tensors, path, metadata={"format": "pt"})


def load_weights(path: Path) -> dict[str, Tensor]:
    """Return a network's tensors in float32."""
    try:
        return {name: tensor.float() for name, tensor in load_file(path).items()}
    except SafetensorError as error:
        raise InputError(f"{path}: not a safetensors file ({error})") from error


class WeightGraph:
    """A graph's tensors, and its nodes by what they make and by the tensors they take.

    The exporter keeps the names of tables, norms and biases; a matrix loses its name, but is found before its bias.
    """

    def __init__(self, path: Path) -> None:
        import onnx

        graph = onnx.load_model_from_string(read_graph(path)).graph if not path.is_file() else onnx.load(path).graph
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
        if kind in ("narrow", "wide"):
            return self.tensors.get(f"{layer}.linear.{kind}")  # quantisation.SmoothedLinear
        if f"{layer}.rows" in self.tensors:  # quantisation.ByteEmbedding
            return self.tensors[f"{layer}.rows"] * self.tensors[f"{layer}.scale"].reshape(-1, 1)
        if f"{name}_Q4" in self.tensors:
            return _scale_blocks(*(self.tensors[f"{name}_{part}"] for part in ("Q4", "zero_points", "scales")))
        bias = next((one for one in (f"{layer}.bias", f"{layer}.linear.bias") if one in self.tensors), None)
        if bias is None or kind == "bias":
            return None if bias is None else self.tensors[bias]
        return self._find_matrix(self.taken_by[bias])

    def _find_matrix(self, node: Any) -> Array:
        """Return the matrix whose product ``node`` is made from, as a linear layer has it."""
        node = self._find_product(node)
        name = node.input[1]
        matrix = self.tensors[name]
        if node.op_type == "MatMulNBits":
            inputs = next(one.i for one in node.attribute if one.name == "K")
            scales = self.tensors[node.input[2]].reshape(len(matrix), -1)
            zeros = _unpack(self.tensors[node.input[3]].reshape(len(matrix), -1))
            return _scale_blocks(_unpack(matrix)[:, :inputs], zeros[:, : scales.shape[1]], scales)
        if node.op_type == "MatMulInteger":
            matrix = matrix.astype(np.float32) * self.tensors[f"{name.removesuffix('_quantized')}_scale"]
        if divided := self._find_divisor(node):
            matrix = matrix * self.tensors[divided][:, None]
        return matrix.T

    def find_sources(self, name: str) -> list[str]:
        """Return the names of the tensors that the weight called ``name`` is made from; none where it is not here."""
        layer, _, kind = name.rpartition(".")
        tables = (
            (name,),
            (f"{layer}.rows", f"{layer}.scale"),
            tuple(f"{name}_{p}" for p in ("Q4", "zero_points", "scales")),
        )
        for found in (*tables, *([(f"{layer}.linear.bias",)] if kind == "bias" else [])):
            if found[0] in self.tensors:
                return list(found)
        bias = next((one for one in (f"{layer}.bias", f"{layer}.linear.bias") if one in self.tensors), None)
        if bias is None or kind == "bias":
            return []
        node = self._find_product(self.taken_by[bias])
        matrix = node.input[1]
        scale = f"{matrix.removesuffix('_quantized')}_scale"
        made = [one for one in (*node.input, scale, self._find_divisor(node)) if one in self.tensors]
        return list(dict.fromkeys(made))

    def _find_product(self, node: Any) -> Any:
        """Return the product that ``node`` is made from."""
        while not node.op_type.startswith("MatMul"):  # an addition, and what brings the sums of int8 back to scale
            node = next(self.made_by[one] for one in node.input if one in self.made_by)
        return node

    def _find_divisor(self, node: Any) -> str:
        """Return the name of what the product's inputs are divided by (quantisation.SmoothedLinear), or nothing."""
        given = node.input[0]
        if node.op_type == "MatMulInteger":
            given = self.made_by[given].input[0]
        before = self.made_by.get(given)
        divided = [] if before is None else [one for one in before.input if one.endswith(".inverse_D")]
        return str(divided[0]).removeprefix("network.") if divided else ""


def _unpack(halves: Array) -> Array:
    """Return each row's numbers of four bits, two of which share a byte, the first in its lower half."""
    return np.stack([halves & 15, halves >> 4], -1).reshape(len(halves), -1)


def _scale_blocks(values: Array, zeros: Array, scales: Array) -> Array:
    """Return the floats that ``values`` stand for; a row's blocks have each a number that stands for 0, and a scale."""
    block = -(-values.shape[1] // scales.shape[1])
    zeros, scales = (np.repeat(one.astype(np.float32), block, 1)[:, : values.shape[1]] for one in (zeros, scales))
    floats: Array = (values.astype(np.float32) - zeros) * scales
    return floats


def read_weights(folder: Path, shapes: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights called as in ``shapes`` from the graphs in ``folder``; int8 as the floats it stands for."""
    graphs = [WeightGraph(folder / name) for name in (LAYOUT.encoder, LAYOUT.phraser)]
    weights = {}
    found: Array | None
    for name, shape in shapes.items():
        if name == "encoder.bias.weight":
            found = _read_bias(graphs[0].tensors["bias_by_distance"], len(shape))
        else:
            found = next((one for graph in graphs if (one := graph.find(name)) is not None), None)
        if found is None:
            found = _start_difference(name, tuple(shape.shape))
        if found is None or found.shape != tuple(shape.shape):
            raise InputError(f"{folder}: its graphs have no {name} of shape {tuple(shape.shape)}")
        weights[name] = torch.from_numpy(np.array(found, dtype=np.float32))
    return weights


def _start_difference(name: str, shape: tuple[int, ...]) -> Array | None:
    """Return a part of a difference that an export left out, since there is none: what it was begun as."""
    if name.endswith(".wide"):
        return np.zeros(shape, dtype=np.float32)
    if name.endswith(".narrow"):
        return np.random.default_rng(0).normal(scale=shape[0] ** -0.5, size=shape).astype(np.float32)
    return None


def _read_bias(by_distance: Array, count: int) -> Array:
    """Return a bias for each of ``count`` buckets of distances; one that no distance falls into is never asked for."""
    furthest = len(by_distance) // 2
    buckets = relative_buckets(torch.arange(-furthest, furthest + 1), count)[:, furthest]
    table = np.zeros((count, by_distance.shape[1]), dtype=np.float32)
    table[buckets.numpy()] = by_distance
    return table
