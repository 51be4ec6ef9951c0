"""What a network kept of the exported model that it went on from keeps its bytes, so that a repository stores it once.

Weights that are read back from eight or four bits and written again come out a little different: the scales are found
anew. A layer that training left alone (``frozen_layers``) takes over the older graph's own bytes instead, and the other
layers have learnt above exactly those.
"""

from pathlib import Path
from typing import Any

import torch

from riseq.model.checkpoint import WeightGraph, load_trained
from riseq.model.folder import LAYOUT
from riseq.model.network import RiseNetwork
from riseq.types import InputError

_EXPECTED = "expected a model of the same shape and precision"


def keep_bytes(network: RiseNetwork, folder: Path, older: Path) -> list[str]:
    """Give the graphs in ``folder`` the bytes of those in ``older`` for each part that is the same in both networks.

    Return the names of these parts.
    """
    import onnx

    kept = find_unchanged(network, load_trained(older).network)
    weights = [name for name in network.state_dict() if part_of(name, network.config.low_rank > 0) in kept]
    for name in (LAYOUT.encoder, LAYOUT.phraser):
        new, old = WeightGraph(folder / name), WeightGraph(older / name)
        mine, theirs = onnx.load(folder / name), onnx.load(older / name)
        mine_by_name, theirs_by_name = _by_name(mine.graph), _by_name(theirs.graph)
        for weight in weights:
            pairs = new.find_sources(weight), old.find_sources(weight)
            if len(pairs[0]) != len(pairs[1]):
                raise InputError(f"{older}: its {name} has {weight} in another form; {_EXPECTED}")
            for to, source in zip(*pairs, strict=True):
                _take(mine_by_name[to], theirs_by_name[source], older)
        onnx.save_model(mine, folder / name)
    return kept


def find_unchanged(network: RiseNetwork, older: RiseNetwork) -> list[str]:
    """Return the names of the parts whose every weight is the same: layers, embeddings and what else has weights."""
    before = older.state_dict()
    parts: dict[str, bool] = {}
    for name, tensor in network.state_dict().items():
        part = part_of(name, network.config.low_rank > 0)
        same = name in before and torch.equal(tensor.float().cpu(), before[name].float())
        parts[part] = parts.get(part, True) and same
    return [part for part, same in parts.items() if same]


def part_of(name: str, alone: bool = False) -> str:
    """Return the part that a weight belongs to; each is one where weights are learnt ``alone``, not by layers.

    >>> part_of("encoder.layers.3.up.weight"), part_of("encoder.embeddings.norm.bias"), part_of("edit_head.bias")
    ('encoder.layers.3', 'encoder.embeddings', 'edit_head')
    """
    if alone:
        return name
    words = name.split(".")
    depth = {"encoder": 3 if words[1:2] == ["layers"] else 2, "decoder": 2}
    return ".".join(words[: depth.get(words[0], 1)])


def _by_name(graph: Any) -> dict[str, Any]:
    return {one.name.removeprefix("network."): one for one in graph.initializer}


def _take(mine: Any, theirs: Any, older: Path) -> None:
    """Give the tensor ``mine`` what ``theirs`` has, under its own name."""
    if (list(mine.dims), mine.data_type) != (list(theirs.dims), theirs.data_type):
        raise InputError(f"{older}: {theirs.name} has another shape or type; {_EXPECTED}")
    name = mine.name
    mine.CopyFrom(theirs)
    mine.name = name
