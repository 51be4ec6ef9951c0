"""The exported graphs at work, by onnxruntime."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riseq.engine.backends import ScoreArray, read_edits
from riseq.extras import import_onnxruntime
from riseq.model.differences import read_graph
from riseq.model.folder import LAYOUT, ExportedModel, load_exported
from riseq.model.inputs import Batch, SpanBatch
from riseq.types import Device, InputError

BATCH_PIECES = 2_048
GPU_BATCH_PIECES = 65_536
SPIN_US = "200"
"""How long a thread of the encoder's pool waits for work before it sleeps; an older onnxruntime passes over it."""
SLOWER = {"int8": ["SkipLayerNormFusion"]}
"""onnxruntime's rewritings that cost a precision time: a sum and its norm in one take longer than one after the other.

Rounding differs a little, and with it an int8 graph's scales; the saved outputs of the other precisions are with it.
"""
COPIED = ("first", "last", "room")
"""The phrase graph's inputs of the words that can be copied."""
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
_PRODUCT = (
    b'\x08\t:>\n\x18\n\x01a\n\x01b\x12\x01c"\rMatMulInteger\x12\x01gZ\t\n\x01a\x12\x04\n\x02\x08\x02Z\t\n\x01b\x12\x04\n\x02\x08\x03'
    b"b\t\n\x01c\x12\x04\n\x02\x08\x06B\x04\n\x00\x10\x14"
)
"""A graph of one node: c = MatMulInteger(a, b), of unsigned and signed bytes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the encoder made of rows that it read together, for the phrase graph."""

    feeds: Mapping[str, NDArray[Any]]
    """Its inputs of each row, by name."""
    phraser: Any
    span_pieces: int

    def score_phrases(self, spans: SpanBatch) -> list[ScoreArray]:
        """Return the phrases' log-probabilities at each span: the vocabulary's, then those of copying, if there are."""
        # Rows without a span stay out: the graph makes keys and values of every row it is given.
        rows, row_N = np.unique(spans.row_N, return_inverse=True)
        count, pieces = self.feeds["mask"].shape
        given = slice(None) if len(rows) == count else rows
        length_N = np.minimum(spans.end_N - spans.start_N, self.span_pieces)
        places_NS = spans.start_N[:, None] + np.arange(length_N.max())[None, :]
        feeds = {name: rows_of[given] for name, rows_of in self.feeds.items()}
        feeds |= {"rows": row_N.astype(np.int64), "places": np.minimum(places_NS, pieces - 1), "lengths": length_N}
        scores: list[ScoreArray] = self.phraser.run(None, feeds)
        return scores


@dataclass(frozen=True, slots=True)
class OnnxScores:
    """A batch's edit scores, and what phrases are scored from: one reading of all rows, or one of each."""

    edits_BWE: ScoreArray
    readings: Sequence[Reading]

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        """Return the log-probabilities [N, P] of all phrases at each span."""
        if len(self.readings) == 1:
            return np.concatenate(self.readings[0].score_phrases(spans), axis=1)
        places = [np.flatnonzero(spans.row_N == row) for row in range(len(self.readings))]
        found = [
            reading.score_phrases(SpanBatch(np.zeros_like(at), spans.word_N[at], spans.start_N[at], spans.end_N[at]))
            for reading, at in zip(self.readings, places, strict=True)
            if len(at)
        ]
        stacked = np.concatenate([_stack(parts) for parts in zip(*found, strict=True)], axis=1)
        return stacked[np.argsort(np.concatenate(places))]


def _stack(arrays: Sequence[ScoreArray]) -> ScoreArray:
    """Return arrays one below the other: a row with fewer words has fewer spans to copy, and others are impossible."""
    width = max(array.shape[1] for array in arrays)
    return np.concatenate([np.pad(one, ((0, 0), (0, width - one.shape[1])), constant_values=-np.inf) for one in arrays])


class OnnxBackend:
    """An exported model in onnxruntime: on the GPU where it is one of float32 and onnxruntime can, else on the CPU."""

    def __init__(
        self, exported: ExportedModel, folder: Path, threads: int | None = None, device: Device | None = None
    ) -> None:
        """Open the two graphs; ``threads`` is how many cores one call may use, all of them where it is None.

        On the ``device`` cuda it is an error if they cannot run there, on cpu no GPU is used.
        """
        self.max_pieces, self.precision = exported.max_pieces, exported.precision
        self.threads = threads or count_cores()
        self.batch_pieces = BATCH_PIECES
        providers = pick_providers(exported.precision, import_onnxruntime().get_available_providers(), device)
        self.workers = self.threads if exported.precision == "int8" else 1
        self._single: OnnxBackend | None = None
        self._lock = Lock()
        self._reopen = (folder.resolve(), threads, device)
        self._span_pieces = exported.span_pieces
        slower = SLOWER.get(exported.precision, [])
        self._encoder = _open(folder / LAYOUT.encoder, threads, providers, slower)
        if CUDA in self._encoder.get_providers():
            self.batch_pieces = GPU_BATCH_PIECES
        # One thread: its work is so little that a second one costs a question more than it saves.
        self._phraser = _open(folder / LAYOUT.phraser, 1, providers, slower)
        self._takes = {node.name for node in self._encoder.get_inputs()}
        phrases = self._phraser.get_outputs()[0].shape[-1]
        if phrases != len(exported.phrases):
            raise InputError(
                f"{folder}: {LAYOUT.phrases} has {len(exported.phrases)} phrases, {LAYOUT.phraser} {phrases}; "
                "they don't belong together"
            )

    def __repr__(self) -> str:
        device = "cuda" if CUDA in self._encoder.get_providers() else "cpu"
        return f"OnnxBackend(precision={self.precision!r}, device={device!r}, threads={self.threads})"

    def __reduce__(self) -> tuple[Callable[..., OnnxBackend], tuple[Path, int | None, Device | None]]:
        # Sessions don't travel to another process; the folder does.
        return _reopen, self._reopen

    def score(self, batch: Batch) -> OnnxScores:
        """Return the scores of ``batch``."""
        # An int8 graph scales a tensor by the largest value in it, so neighbours in a batch would change each other's
        # scores: there each row is read alone, and a question has one answer whatever stands beside it.
        if self.precision != "int8" or len(batch.lengths_B) == 1:
            edits, reading = self._read(_list_inputs(batch))
            return OnnxScores(read_edits(edits, batch), [reading])
        found, readings = zip(*map(self._read, _split_rows(batch)), strict=True)
        edits_BWPE = np.zeros((len(found), batch.firsts_BW.shape[1] - 1, *found[0].shape[2:]), dtype=np.float32)
        for row, edits in enumerate(found):
            edits_BWPE[row, : edits.shape[1]] = edits[0]
        return OnnxScores(read_edits(edits_BWPE, batch), readings)

    def _read(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[ScoreArray, Reading]:
        """Return the encoder's scores of edits, and what it read."""
        taken = {name: inputs[name] for name in self._takes}
        edits, states, pieces = self._encoder.run(["edits", "states", "pieces"], taken)
        copied = {name: inputs[name] for name in COPIED if name in inputs}
        feeds = {"states": states, "pieces": pieces, "mask": inputs["mask"], **copied}
        return edits, Reading(feeds, self._phraser, self._span_pieces)

    def single_threaded(self) -> OnnxBackend:
        """Return the same model on one thread, opened when first asked for: its weights are in memory once more.

        Threads that share a row wait for each other at every matrix; side by side on rows of their own they don't.
        """
        with self._lock:
            if self._single is None:
                self._single = _reopen(self._reopen[0], 1, self._reopen[2])
            return self._single


def _list_inputs(batch: Batch) -> dict[str, NDArray[Any]]:
    """Return the graphs' inputs of a batch, by name."""
    inputs: dict[str, NDArray[Any]] = {"ids": batch.ids_BL, "types": batch.types_BL, "mask": batch.mask_BL}
    inputs |= {"firsts": batch.firsts_BW[:, :-1], "condition": batch.condition_B}
    if (words := batch.copies) is not None:
        inputs |= dict(zip(COPIED, (words.first_BC, words.last_BC, words.room_BC), strict=True))
    return inputs


def _split_rows(batch: Batch) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the graphs' inputs of each row of a batch, without its padding."""
    inputs = _list_inputs(batch)
    widths_B = dict.fromkeys(("ids", "types", "mask"), batch.lengths_B) | {"firsts": batch.words_B}
    if batch.copies is not None:
        widths_B |= dict.fromkeys(COPIED, batch.copies.copyable.words.lengths)
    for row in range(len(batch.lengths_B)):
        own = {name: inputs[name][row : row + 1, : widths[row]] for name, widths in widths_B.items()}
        yield own | {"condition": inputs["condition"][row : row + 1]}


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _reopen(folder: Path, threads: int | None, device: Device | None = None) -> OnnxBackend:
    return OnnxBackend(load_exported(folder), folder, threads, device)


@cache
def adds_exactly() -> bool:
    """Return whether this processor's fast product of bytes is exact.

    Without VNNI it adds two products in sixteen bits, which the largest bytes overflow. onnxruntime can be told to take
    a slower kernel where they do (``session.x64quantprecision``), but took it on a Zen 5, which has VNNI, as well:
    asking the processor itself made an encoder pass 1.5 times as fast there.
    """
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "0")
    session = onnxruntime.InferenceSession(_PRODUCT, options, providers=[CPU])
    largest = {"a": np.full((8, 64), 255, np.uint8), "b": np.full((64, 32), 127, np.int8)}
    (sums,) = session.run(None, largest)
    return bool((sums == 255 * 127 * 64).all())


def pick_providers(precision: str, available: Sequence[str], device: Device | None = None) -> list[str]:
    """Return what is to run a graph on a ``device``, or on the best one, the best first.

    CUDA has no kernel that quantises an activation: an int8 graph would cross between GPU and CPU at every matrix.
    """
    if device == "cuda" and precision != "float32":
        raise InputError(f"an {precision} model runs on the CPU; --device cuda goes with a checkpoint or float32")
    if device == "cuda" and CUDA not in available:
        raise InputError("--device cuda: this onnxruntime knows no GPU; expected onnxruntime-gpu, or a checkpoint")
    if device == "cpu":
        return [CPU]
    return [CUDA, CPU] if precision == "float32" and CUDA in available else [CPU]


def runs_on_gpu(precision: str) -> bool:
    """Return whether this onnxruntime runs graphs of a precision on a GPU."""
    return precision == "float32" and CUDA in import_onnxruntime().get_available_providers()


def _open(path: Path, threads: int | None, providers: list[str], slower: list[str]) -> Any:
    onnxruntime = import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "1")
    # Long enough for the gaps inside a pass; longer, and waiting takes the cores from whatever else runs. On two busy
    # cores a pass of 48 pieces took half the processor time that it takes with onnxruntime's own limit.
    options.add_session_config_entry("session.intra_op.spin_duration_us", SPIN_US)
    options.add_session_config_entry("session.x64quantprecision", "0" if adds_exactly() else "1")
    try:
        graph = path if path.is_file() else read_graph(path)
        return onnxruntime.InferenceSession(graph, options, providers=providers, disabled_optimizers=slower)
    except Exception as error:  # onnxruntime has a dozen kinds; all of them mean that the file is no good
        raise InputError(f"{path}: onnxruntime cannot open it ({str(error).splitlines()[0][:200]})") from error
