"""What a network kept of the exported model that it went on from keeps its bytes, so that a repository stores it once.

Weights that are read back from eight or four bits and written again come out a little different: the scales are found
anew. A layer that training left alone (``frozen_layers``) takes over the older graph's own bytes instead, and the other
layers have learnt above exactly those. Where it was learnt above all of it (``low_rank``), each weight is taken for
itself, and what changed is written as the older one's and a difference (``riseq.model.factors``).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.model.checkpoint import WeightGraph, load_trained
from riseq.model.differences import Change
from riseq.model.factors import NOISE, find_factors, find_shift, merge, move, quantise
from riseq.model.folder import LAYOUT
from riseq.model.network import RiseNetwork
from riseq.types import InputError

_EXPECTED = "expected a model of the same shape and precision"
_STACKS = ("encoder.layers.", "decoder.")
OF_HEADS = 7
"""The largest number of a new head's matrix in a model that is kept as what differs: four bits are enough there.

Of the first resolve that shipped so: 54.06 BLEU-4 on canard/dev.qa with 7, 54.02 with 15, 54.04 before."""
LARGE = 65_536
"""A head's matrix with fewer numbers is not worth it."""


def keep_bytes(network: RiseNetwork, folder: Path, older: Path) -> list[str]:
    """Give the graphs in ``folder`` the bytes of those in ``older`` for each part that is the same in both networks.

    Return the names of these parts.
    """
    import onnx

    before = load_trained(older).network.state_dict()
    kept = find_unchanged(network.state_dict(), before)
    weights = [name for name in network.state_dict() if part_of(name) in kept]
    for name in (LAYOUT.encoder, LAYOUT.phraser):
        new, old = WeightGraph(folder / name), WeightGraph(older / name)
        mine, theirs = onnx.load(folder / name), onnx.load(older / name)
        mine_by_name, theirs_by_name = _by_name(mine.graph), _by_name(theirs.graph)
        for weight in weights:
            for to, source in _pair(new, old, weight, weight, older):
                _take(mine_by_name[to], theirs_by_name[source], older)
        onnx.save_model(mine, folder / name)
    return kept


def find_unchanged(now: Mapping[str, Tensor], before: Mapping[str, Tensor]) -> list[str]:
    """Return the names of the parts whose every weight is the same: layers, embeddings and what else has weights."""
    parts: dict[str, bool] = {}
    for name, tensor in now.items():
        same = name in before and torch.equal(tensor.float().cpu(), before[name].float())
        parts[part_of(name)] = parts.get(part_of(name), True) and same
    return [part for part, same in parts.items() if same]


def part_of(name: str) -> str:
    """Return the part that a weight belongs to.

    >>> part_of("encoder.layers.3.up.weight"), part_of("encoder.embeddings.norm.bias"), part_of("edit_head.bias")
    ('encoder.layers.3', 'encoder.embeddings', 'edit_head')
    """
    words = name.split(".")
    depth = {"encoder": 3 if words[1:2] == ["layers"] else 2, "decoder": 2}
    return ".".join(words[: depth.get(words[0], 1)])


def build_above(network: RiseNetwork, folder: Path, older: Path, noise: float = NOISE) -> list[Change]:
    """Give the graphs in ``folder`` what ``older`` has, weight by weight, and what differs; return the latter.

    The network may have fewer layers than ``older``: each is taken for what became of the one that is nearest to it.
    ``noise`` is how far numbers of matrices may be off (``riseq.model.factors``).
    """
    import onnx

    now, before = network.state_dict(), load_trained(older).network.state_dict()
    origins, changes = find_origins(now, before), list[Change]()
    for name in (LAYOUT.encoder, LAYOUT.phraser):
        new, old = WeightGraph(folder / name), WeightGraph(older / name)
        mine, theirs = onnx.load(folder / name), onnx.load(older / name)
        mine_by_name, theirs_by_name = _by_name(mine.graph), _by_name(theirs.graph)
        for weight, tensor in now.items():
            wanted, origin = tensor.float().cpu().numpy(), origins.get(weight)
            if origin is None:
                _coarsen(wanted, [mine_by_name[one] for one in new.find_sources(weight)])
                continue
            pairs = _pair(new, old, weight, origin, older)
            if all(_bytes(mine_by_name[to]) == _bytes(theirs_by_name[source]) for to, source in pairs):
                continue  # tables too, whose rounded numbers alone are in the older graph
            for to, source in pairs:
                _take(mine_by_name[to], theirs_by_name[source], older)
            if not torch.equal(tensor.float().cpu(), before[origin].float()):
                changes += _change(wanted, [mine_by_name[to] for to, _ in pairs], noise)
        onnx.save_model(mine, folder / name)
    return changes


def find_origins(now: Mapping[str, Tensor], before: Mapping[str, Tensor]) -> dict[str, str]:
    """Return which weight of an older network each weight was begun from: of the same shape, in the nearest layer."""
    renamed = dict[str, str]()
    for stack in _STACKS:
        tops = [{name: state[name].float().cpu() for name in state if _is_top(name, stack)} for state in (now, before)]
        for mine, weight in tops[0].items():
            nearest = min(tops[1], key=lambda name: float((tops[1][name] - weight).norm()), default=mine)
            renamed[part_of(mine)] = part_of(nearest)
    named = {name: renamed.get(part := part_of(name), part) + name.removeprefix(part) for name in now}
    return {name: was for name, was in named.items() if was in before and before[was].shape == now[name].shape}


def _is_top(name: str, stack: str) -> bool:
    return name.startswith(stack) and name.removeprefix(stack).partition(".")[2] == "up.weight"


def _change(wanted: NDArray[np.float32], tensors: list[Any], noise: float) -> list[Change]:
    """Give ``tensors``, which are as in the older network, what is ``wanted``; return the difference, if it is one."""
    from onnx import numpy_helper

    arrays = [numpy_helper.to_array(one) for one in tensors]
    sources = [one.tobytes() for one in arrays]
    if len(tensors) == 1 and arrays[0].dtype == np.float32:
        base = arrays[0].ravel()
        # A graph has a matrix of few columns the other way round.
        turned = wanted.T if arrays[0].shape != wanted.shape else wanted
        shift = find_shift(turned.ravel() - base)
        made: tuple[NDArray[Any], ...] = (move(base, shift),)
        numbers = [0]
        difference: Any = shift
    else:
        numbers = [0, next(k for k, one in enumerate(tensors) if one.name.endswith("_scale"))]
        base, scales = (arrays[k] for k in numbers)
        divided = [one for one, tensor in zip(arrays, tensors, strict=True) if tensor.name.endswith(".inverse_D")]
        exact = wanted.T.astype(np.float64) / (divided[0][:, None] if divided else 1.0)
        difference = find_factors(exact / scales - base, noise)
        made = quantise(exact) if difference is None else merge(base, scales, difference)
    for k, array in zip(numbers, made, strict=True):
        _fill(tensors[k], array)
    return [Change([sources[k] for k in numbers], [one.tobytes() for one in made], difference)] if difference else []


def _coarsen(wanted: NDArray[np.float32], tensors: list[Any]) -> None:
    """Give a head that the older network has not got fewer bits, where it is large."""
    if wanted.ndim == 2 and wanted.size >= LARGE and tensors and tensors[0].name.endswith("_quantized"):
        made = quantise(wanted.T.astype(np.float64), OF_HEADS)
        scale = next(one for one in tensors if one.name.endswith("_scale"))
        _fill(tensors[0], made[0])
        _fill(scale, made[1])


def _bytes(tensor: Any) -> bytes:
    """Return a tensor's numbers, in whichever of the two places it has them."""
    from onnx import numpy_helper

    numbers: bytes = numpy_helper.to_array(tensor).tobytes()
    return numbers


def _fill(tensor: Any, array: NDArray[Any]) -> None:
    """Give ``tensor`` the values of ``array``, in the one place of the two that it may have them in."""
    tensor.ClearField("float_data")
    tensor.raw_data = array.tobytes()


def _pair(new: WeightGraph, old: WeightGraph, weight: str, origin: str, older: Path) -> list[tuple[str, str]]:
    """Return the names of the tensors that a weight is made from in a graph and in an older one."""
    names = new.find_sources(weight), old.find_sources(origin)
    if len(names[0]) != len(names[1]):
        raise InputError(f"{older}: its graphs have {origin} in another form; {_EXPECTED}")
    return list(zip(*names, strict=True))


def _by_name(graph: Any) -> dict[str, Any]:
    return {one.name.removeprefix("network."): one for one in graph.initializer}


def _take(mine: Any, theirs: Any, older: Path) -> None:
    """Give the tensor ``mine`` what ``theirs`` has, under its own name."""
    if (list(mine.dims), mine.data_type) != (list(theirs.dims), theirs.data_type):
        raise InputError(f"{older}: {theirs.name} has another shape or type; {_EXPECTED}")
    name = mine.name
    mine.CopyFrom(theirs)
    mine.name = name
