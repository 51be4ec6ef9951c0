"""A checkpoint turned into the folder that ships: two graphs for onnxruntime, and no torch to run them.

One graph reads a batch and scores its edits, one scores phrases for spans. They share one embedding table: the first
gives out the pieces' embeddings beside their states, and the second takes from those what its spans need. Dimensions in
names: B batch, L pieces, W words, R rows with spans, N spans, S pieces of the longest span, D hidden, C words that
phrases can be copied from.
"""

import copy
import dataclasses
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.files import checksum, make_folder
from riseq.hub import find_model
from riseq.model.card import read_metadata, write_export_card
from riseq.model.checkpoint import Checkpoint, load_trained
from riseq.model.differences import Change, write_delta
from riseq.model.factors import NOISE
from riseq.model.folder import (
    FORMAT,
    LAYOUT,
    find_known_vocabulary,
    is_exported,
    load_exported,
    write_facts,
    write_vocabularies,
)
from riseq.model.graft import build_above, keep_bytes
from riseq.model.network import MAX_SPAN_PIECES, CopyInputs, RiseNetwork, merge_differences
from riseq.model.quantisation import (
    ByteEmbedding,
    quantise_graph,
    quantise_to_four_bits,
    smooth_activations,
)
from riseq.model.transformer import Attention, Layer, relative_buckets
from riseq.types import InputError

OPSET = 20
PRECISIONS = ("int8", "int4", "float32")
LARGEST_FILE = 95_000_000
"""Bytes; a larger graph has its table of pieces beside it, for code hosts take no larger files."""


def export(
    source: str | Path,
    folder: str | Path,
    precision: str = "int8",
    like: str | Path | None = None,
    noise: float = NOISE,
) -> dict[str, int]:
    """Write the model in ``source`` as an exported one to ``folder``; return the size of each file in bytes.

    ``like`` is an exported model whose bytes are taken over for every layer that is still as it is there; of a
    model learnt above that one, differences are written, whose numbers may be off by ``noise`` for fewer bytes.
    """
    source, folder = Path(source), Path(folder)
    if precision not in PRECISIONS:
        raise InputError(f"precision {precision!r}; expected one of {', '.join(PRECISIONS)}")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder to write")
    if folder.is_dir() and any(folder.iterdir()) and not is_exported(folder):
        raise InputError(f"{folder}: holds something other than an exported model, expected a new or empty folder")
    checkpoint, card = load_trained(source), source / LAYOUT.card
    _check_exportable(checkpoint)
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    read_metadata(text, card)  # a mistake in it should not wait for the graphs
    return export_checkpoint(checkpoint, folder, text, precision, like, noise)


def _check_exportable(checkpoint: Checkpoint) -> None:
    """Refuse what the engine cannot do yet."""
    config = checkpoint.network.config
    found = {"beside": config.beside, "stops": config.stops}
    if used := [name for name, value in found.items() if value]:
        raise InputError(f"a model trained with {' and '.join(used)} cannot be exported yet: the engine lacks that")


def export_checkpoint(
    checkpoint: Checkpoint,
    folder: Path,
    card: str,
    precision: str,
    like: str | Path | None = None,
    noise: float = NOISE,
) -> dict[str, int]:
    """Write ``checkpoint``, whose card is ``card``, and return the size of each file in bytes.

    It is written whole: ``folder`` appears, or replaces an older one, only once all of it is on disk. A network that
    was learnt above ``like`` is written as what differs (``riseq.model.differences``), but for ``noise``.
    """
    if like is not None and (found := load_exported(find_model(like)).precision) != precision:
        raise InputError(f"{like}: its precision is {found}, not {precision}; expected a model of the same precision")
    above = like is not None and _is_above(checkpoint.network, load_exported(find_model(like)).config)
    checkpoint = dataclasses.replace(checkpoint, network=merge_differences(checkpoint.network))
    with make_folder(folder) as work:
        with _quiet():
            _write_graphs(checkpoint, work, precision)
        changes = list[Change]()
        if like is not None and above:
            changes = build_above(checkpoint.network, work, find_model(like), noise)
        elif like is not None:
            keep_bytes(checkpoint.network, work, find_model(like))
        write_vocabularies(work, checkpoint.phrases, checkpoint.pieces, checkpoint.templates)
        config = _describe(checkpoint, precision, work)
        if like is not None and above:
            beside = Path(like).is_dir() and Path(like).resolve().parent == folder.resolve().parent
            _write_differences(work, find_model(like), Path(like).name if beside else str(like), changes)
            if find_known_vocabulary(config["checksums"]):
                (work / LAYOUT.vocabulary).unlink()
        write_facts(work, config, write_export_card(card, config, folder.resolve().name))
        return {path.name: path.stat().st_size for path in sorted(work.iterdir())}


def _is_above(network: RiseNetwork, older: Mapping[str, Any]) -> bool:
    """Return whether a network was learnt above an older one: by differences of low rank, or with fewer layers."""
    return network.config.low_rank > 0 or network.config.backbone.layers < older["network"]["backbone"]["layers"]


def _write_differences(work: Path, base: Path, name: str, changes: Sequence[Change]) -> None:
    """Replace the graphs in ``work`` by what differs from those in the folder ``base``, the model called ``name``."""
    import onnx

    graphs = [base / one for one in (LAYOUT.encoder, LAYOUT.phraser)]
    for graph in graphs:
        tensors = onnx.load(work / graph.name).graph.initializer
        shared = [onnx.numpy_helper.to_array(one).tobytes() for one in tensors]
        write_delta(work / graph.name, name, graphs, shared, changes)


def _describe(checkpoint: Checkpoint, precision: str, work: Path) -> dict[str, Any]:
    config = checkpoint.network.config
    names = (LAYOUT.encoder, LAYOUT.table, LAYOUT.phraser, LAYOUT.phrases, LAYOUT.vocabulary, LAYOUT.templates)
    own: dict[str, Any] = {
        "format": FORMAT,
        "precision": precision,
        "phrases": len(checkpoint.phrases),
        "pieces": len(checkpoint.pieces),
        "max_pieces": config.backbone.max_positions - config.backbone.position_offset,
        "span_pieces": MAX_SPAN_PIECES,
        "checksums": {name: checksum((work / name).read_bytes()) for name in names if (work / name).is_file()},
        "network": dataclasses.asdict(config),
    }
    return own | {name: fact for name, fact in checkpoint.facts.items() if name not in own}


def _write_graphs(checkpoint: Checkpoint, work: Path, precision: str) -> None:
    # A copy: the checkpoint's own network stays as it was.
    network = copy.deepcopy(checkpoint.network).float().cpu().eval()
    embeddings = network.encoder.embeddings
    if precision != "float32":
        embeddings.positions = ByteEmbedding(embeddings.positions)  # type: ignore[assignment]
    if precision == "int8":
        smooth_activations(network, checkpoint.pieces)
        embeddings.pieces = ByteEmbedding(embeddings.pieces)  # type: ignore[assignment]
    _write_encoder(network, work / LAYOUT.encoder)
    _write_phraser(network, work / LAYOUT.phraser)
    if precision == "int8":
        for name in (LAYOUT.encoder, LAYOUT.phraser):
            float_graph = work / f"float.{name}"
            (work / name).rename(float_graph)
            quantise_graph(float_graph, work / name, reduce_range=False)
            float_graph.unlink()
    elif precision == "int4":
        for name in (LAYOUT.encoder, LAYOUT.phraser):
            quantise_to_four_bits(work / name, work / name)
    if (work / LAYOUT.encoder).stat().st_size > LARGEST_FILE:
        _split_table(work / LAYOUT.encoder)


def _split_table(path: Path) -> None:
    """Move the largest tensor of the graph at ``path`` into a file beside it."""
    import onnx

    model = onnx.load(path)
    largest = max(len(one.raw_data) for one in model.graph.initializer)
    onnx.save_model(model, path, save_as_external_data=True, location=LAYOUT.table, size_threshold=largest)


def _write_encoder(network: RiseNetwork, path: Path) -> None:
    # The example's sizes are all different and above 1, so that none of them is taken for a constant.
    rows, pieces, words = (torch.export.Dim(name) for name in ("rows", "pieces", "words"))
    ids = torch.ones(2, 9, dtype=torch.int64)
    by_piece = {0: rows, 1: pieces}
    inputs = {"ids": (ids, by_piece), "types": (torch.zeros_like(ids), by_piece), "mask": (ids.bool(), by_piece)}
    inputs["firsts"] = torch.ones_like(ids[:, :5]), {0: rows, 1: words}
    if network.config.conditioned:
        inputs["condition"] = torch.ones_like(ids[:, 0]), {0: rows}
    _write(EncoderGraph(network), inputs, ["edits", "states", "pieces"], path)


def _write_phraser(network: RiseNetwork, path: Path) -> None:
    rows, pieces, spans, span_pieces = (torch.export.Dim(name) for name in ("rows", "pieces", "spans", "span_pieces"))
    states, by_piece = torch.zeros(2, 9, network.config.backbone.hidden), {0: rows, 1: pieces}
    inputs = {
        "states": (states, by_piece),
        "pieces": (torch.zeros_like(states), by_piece),
        "mask": (torch.ones(2, 9, dtype=torch.bool), by_piece),
        "rows": (torch.tensor([0, 1, 1]), {0: spans}),
        "places": (torch.ones(3, 4, dtype=torch.int64), {0: spans, 1: span_pieces}),
        "lengths": (torch.tensor([4, 2, 1]), {0: spans}),
    }
    outputs = ["phrases"]
    if network.config.copies:
        by_word = {0: rows, 1: torch.export.Dim("words")}
        for name in ("first", "last", "room"):
            inputs[name] = torch.ones(2, 5, dtype=torch.int64), by_word
        outputs += ["copies", "templates"] if network.config.templates else ["copies"]
    _write(PhraserGraph(network), inputs, outputs, path)


def _write(graph: nn.Module, inputs: Mapping[str, tuple[Tensor, Any]], outputs: Sequence[str], path: Path) -> None:
    """Write ``graph``, whose ``inputs`` have an example and the names of its dimensions each."""
    arguments, shapes = zip(*inputs.values(), strict=True)
    program = torch.onnx.export(
        graph.eval(),
        arguments,
        input_names=list(inputs),
        output_names=list(outputs),
        dynamic_shapes=shapes,
        opset_version=OPSET,
        dynamo=True,
        verbose=False,
    )
    assert program is not None
    model = program.model_proto  # a new one each time it is asked for
    made = model.graph
    # The exporter notes where each node came from, with the paths of this machine.
    for part in (model, made, *made.node, *made.value_info, *made.initializer, *made.input, *made.output):
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

    def forward(
        self, ids_BL: Tensor, types_BL: Tensor, mask_BL: Tensor, firsts_BW: Tensor, condition_B: Tensor | None = None
    ) -> tuple[Tensor, ...]:
        """Return edits [B, W, 4], states [B, L, D] and pieces [B, L, D]."""
        encoder = self.network.encoder
        positions_L = torch.arange(ids_BL.shape[1], device=ids_BL.device)
        added = None if condition_B is None else self.network.embed(condition_B)
        states = encoder.embeddings(ids_BL, positions_L[None, :], types_BL, added)
        real = mask_BL.to(torch.int32)
        bias = None
        if encoder.bias is not None:
            distances_LL = positions_L[:, None] - positions_L[None, :]
            by_distance = self.get_buffer("bias_by_distance")
            bias = functional.embedding(distances_LL + self.furthest, by_distance).permute(2, 0, 1)[None]
        for layer in encoder.layers:
            assert isinstance(layer, Layer)
            attended = _attend(layer.attention, states, _project(layer.attention, states), real, bias)
            states = _feed_forward(layer, layer.attention_norm(states + attended))
        # The same rows of the same table as above: onnxruntime computes them once.
        return self.network.score_edits(states, firsts_BW), states, encoder.embeddings.pieces(ids_BL)


class PhraserGraph(nn.Module):
    """The phrasing policy: the encoder's outputs and spans in, log-probabilities of phrases out.

    Row ``rows_N`` has its span's pieces at ``places_NS``, of which the first ``lengths_N`` count. Where phrases can be
    copied from C words, those are ``riseq.model.network.CopyInputs``.
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
        first_RC: Tensor | None = None,
        last_RC: Tensor | None = None,
        room_RC: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """Return phrases [N, P], and of a network that copies spans [N, K] and their templates [N, T]."""
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
            attended = _attend(layer.attention, asking, _project(layer.attention, x), real, None)
            x = layer.attention_norm(asking + attended)
            # A row's keys and values are made once, however many spans it has.
            keys, values = _project(layer.cross, states_RLD)
            x = layer.cross_norm(x + _attend(layer.cross, x, (keys[rows_N], values[rows_N]), memory_real, None))
            x = _feed_forward(layer, x)
        if first_RC is None or last_RC is None or room_RC is None:
            return (network.read_phrases(x, states_RLD, rows_N),)
        words = CopyInputs(first_RC, last_RC, room_RC, None)
        scores = network.read_phrases(x, states_RLD[rows_N], rows_N, words)
        phrases, templates = network.config.phrases, network.config.templates
        if not templates:
            return scores[:, :phrases], scores[:, phrases:]
        return scores[:, :phrases], scores[:, phrases : -templates - 1], scores[:, -templates - 1 :]


def _project(attention: Attention, memory: Tensor) -> tuple[Tensor, Tensor]:
    """Return the keys and values of ``memory``."""
    return attention.key(memory), attention.value(memory)


def _attend(
    attention: Attention, x: Tensor, memory: tuple[Tensor, Tensor], real: Tensor, bias: Tensor | None
) -> Tensor:
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
