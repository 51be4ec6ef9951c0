"""A checkpoint turned into the folder that ships: graphs for onnxruntime, and no torch to run them."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from riseq.files import make_folder
from riseq.model.checkpoint import LAYOUT as CHECKPOINT_LAYOUT
from riseq.model.checkpoint import Checkpoint, load_checkpoint
from riseq.model.network import MAX_SPAN_PIECES, RiseNetwork
from riseq.model.onnx_folder import FORMAT, LAYOUT, checksum, is_exported
from riseq.model.onnx_graphs import (
    ENCODER_INPUTS,
    ENCODER_OUTPUTS,
    PHRASER_INPUTS,
    PHRASER_OUTPUTS,
    EncoderGraph,
    PhraserGraph,
)
from riseq.model.quantisation import ByteEmbedding, balance, quantise_graph
from riseq.types import InputError

OPSET = 20

PRECISIONS = ("int8", "float32")


def export(
    source: str | Path, folder: str | Path, precision: str = "int8", reduce_range: bool = False
) -> dict[str, int]:
    """Write the checkpoint in ``source`` as an exported model to ``folder``; return the size of each file in bytes."""
    source, folder = Path(source), Path(folder)
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}; expected {' or '.join(PRECISIONS)}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder to write")
    if folder.is_dir() and any(folder.iterdir()) and not is_exported(folder):
        raise InputError(f"{folder}: holds something other than an exported model, expected a new or empty folder")
    checkpoint = load_checkpoint(source)
    card = source / CHECKPOINT_LAYOUT.card
    return export_checkpoint(
        checkpoint, folder, card.read_text(encoding="utf-8") if card.is_file() else "", precision, reduce_range
    )


def export_checkpoint(
    checkpoint: Checkpoint, folder: Path, card: str, precision: str = "int8", reduce_range: bool = False
) -> dict[str, int]:
    """Write ``checkpoint`` whole: ``folder`` appears, or replaces an older one, only once all of it is on disk."""
    with make_folder(folder) as work:
        with _quiet():
            _write_graphs(checkpoint, work, precision, reduce_range)
        lines = "".join(f"{line}\n" for line in checkpoint.phrases.to_lines())
        (work / LAYOUT.phrases).write_text(lines, encoding="utf-8", newline="\n")
        checkpoint.pieces.save(work / LAYOUT.vocabulary)
        (work / LAYOUT.card).write_text(card, encoding="utf-8")
        config = _describe(checkpoint, precision, work)
        (work / LAYOUT.config).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return {path.name: path.stat().st_size for path in sorted(work.iterdir())}


def _describe(checkpoint: Checkpoint, precision: str, work: Path) -> dict[str, object]:
    config = checkpoint.network.config
    own: dict[str, object] = {
        "format": FORMAT,
        "precision": precision,
        "phrases": len(checkpoint.phrases),
        "pieces": len(checkpoint.pieces),
        "max_pieces": config.backbone.max_positions - config.backbone.position_offset,
        "span_pieces": MAX_SPAN_PIECES,
        "checksums": {
            name: checksum((work / name).read_bytes())
            for name in (LAYOUT.encoder, LAYOUT.phraser, LAYOUT.phrases, LAYOUT.vocabulary)
        },
        "network": dataclasses.asdict(config),
    }
    return own | {name: fact for name, fact in checkpoint.facts.items() if name not in own}


def _write_graphs(checkpoint: Checkpoint, work: Path, precision: str, reduce_range: bool) -> None:
    # A copy: the checkpoint's own network stays as it was.
    network = copy.deepcopy(checkpoint.network).float().cpu().eval()
    if precision == "int8":
        balance(network, checkpoint.pieces)
        network.encoder.embeddings.pieces = ByteEmbedding(network.encoder.embeddings.pieces)  # type: ignore[assignment]
    _write_encoder(network, work / LAYOUT.encoder)
    _write_phraser(network, work / LAYOUT.phraser)
    if precision == "int8":
        for name in (LAYOUT.encoder, LAYOUT.phraser):
            float_graph = work / f"float.{name}"
            (work / name).rename(float_graph)
            quantise_graph(float_graph, work / name, reduce_range)
            float_graph.unlink()


def _write_encoder(network: RiseNetwork, path: Path) -> None:
    # The example's sizes are all different and above 1, so that none of them is taken for a constant.
    rows, pieces, words = (torch.export.Dim(name) for name in ("rows", "pieces", "words"))
    ids = torch.ones(2, 9, dtype=torch.int64)
    arguments = (ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool), torch.ones_like(ids[:, :5]))
    shapes = ({0: rows, 1: pieces},) * 3 + ({0: rows, 1: words},)
    _write(EncoderGraph(network), arguments, shapes, ENCODER_INPUTS, ENCODER_OUTPUTS, path)


def _write_phraser(network: RiseNetwork, path: Path) -> None:
    rows, pieces, spans, span_pieces = (torch.export.Dim(name) for name in ("rows", "pieces", "spans", "span_pieces"))
    states = torch.zeros(2, 9, network.config.backbone.hidden)
    arguments = (
        states,
        torch.zeros_like(states),
        torch.ones(2, 9, dtype=torch.bool),
        torch.tensor([0, 1, 1]),
        torch.ones(3, 4, dtype=torch.int64),
        torch.tensor([4, 2, 1]),
    )
    row = {0: rows, 1: pieces}
    shapes = (row, row, row, {0: spans}, {0: spans, 1: span_pieces}, {0: spans})
    _write(PhraserGraph(network), arguments, shapes, PHRASER_INPUTS, PHRASER_OUTPUTS, path)


def _write(
    graph: nn.Module,
    arguments: tuple[Tensor, ...],
    shapes: Sequence[dict[int, Any]],
    inputs: Sequence[str],
    outputs: Sequence[str],
    path: Path,
) -> None:
    program = torch.onnx.export(
        graph.eval(),
        arguments,
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_shapes=tuple(shapes),
        opset_version=OPSET,
        dynamo=True,
        verbose=False,
    )
    assert program is not None
    model = program.model_proto
    # The exporter notes where each node came from, with the paths of this machine.
    graph_proto = model.graph
    parts = (graph_proto.node, graph_proto.value_info, graph_proto.initializer, graph_proto.input, graph_proto.output)
    for part in (model, graph_proto, *(one for kind in parts for one in kind)):
        del part.metadata_props[:]
    path.write_bytes(model.SerializeToString())


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's and the quantiser's advice to their own developers."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
