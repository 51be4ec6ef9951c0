"""The exported graphs at work, by onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from riseq.infer.backend import Scores
from riseq.model.collate import Batch, SpanBatch
from riseq.model.exported import LAYOUT, Exported, read_exported
from riseq.types import InputError

FLOAT_BATCH_PIECES = 2_048


@dataclass(frozen=True, slots=True)
class OnnxReading:
    """A batch's edit scores, and the tensors that the phrase graph takes."""

    edits_BWE: Scores
    states_BLD: Scores
    pieces_BLD: Scores
    mask_BL: NDArray[np.bool_]
    phraser: Any
    span_pieces: int

    def score_phrases(self, spans: SpanBatch) -> Scores:
        """Return the log-probabilities [N, P] of all phrases at each span."""
        # Rows without a span stay out: the graph makes keys and values of every row it is given.
        rows, row_N = np.unique(spans.row_N, return_inverse=True)
        every = len(rows) == len(self.mask_BL)
        length_N = np.minimum(spans.end_N - spans.start_N, self.span_pieces)
        places_NS = spans.start_N[:, None] + np.arange(length_N.max())[None, :]
        feeds = {
            "states": self.states_BLD if every else self.states_BLD[rows],
            "pieces": self.pieces_BLD if every else self.pieces_BLD[rows],
            "mask": self.mask_BL if every else self.mask_BL[rows],
            "rows": row_N.astype(np.int64),
            "places": np.minimum(places_NS, self.mask_BL.shape[1] - 1),
            "lengths": length_N,
        }
        scores: Scores = self.phraser.run(["phrases"], feeds)[0]
        return scores


class OnnxBackend:
    """An exported model in onnxruntime on the CPU."""

    def __init__(self, exported: Exported, folder: Path, threads: int | None = None) -> None:
        """Open the two graphs; ``threads`` is how many cores one call may use, all of them where it is None."""
        self.max_pieces = exported.max_pieces
        # An int8 graph scales a tensor by the largest value in it, so neighbours in a batch would change each other's
        # scores: there each row is read alone, and a question has one answer whatever stands beside it.
        self.batch_pieces = 1 if exported.precision == "int8" else FLOAT_BATCH_PIECES
        self._reopen = (folder.resolve(), threads)
        self._span_pieces = exported.span_pieces
        self._encoder = _open(exported.encoder, folder / LAYOUT.encoder, threads)
        # Both pools have the same cores: if each waited for work by spinning, a question would take twice the time.
        self._phraser = _open(exported.phraser, folder / LAYOUT.phraser, threads, spin=False)
        self._takes = {node.name for node in self._encoder.get_inputs()}
        phrases = self._phraser.get_outputs()[0].shape[-1]
        if phrases != len(exported.phrases):
            raise InputError(
                f"{folder}: {LAYOUT.phrases} has {len(exported.phrases)} phrases, {LAYOUT.phraser} {phrases}; "
                "they don't belong together"
            )

    def __reduce__(self) -> tuple[Callable[[Path, int | None], OnnxBackend], tuple[Path, int | None]]:
        # Sessions don't travel to another process; the folder does.
        return _reopen, self._reopen

    def read(self, batch: Batch) -> OnnxReading:
        """Return what the encoder makes of ``batch``."""
        mask = batch.mask_BL
        feeds = {"ids": batch.ids_BL, "types": batch.types_BL, "mask": mask, "firsts": batch.firsts_BW[:, :-1]}
        edits, states, pieces = self._encoder.run(
            ["edits", "states", "pieces"], {name: feed for name, feed in feeds.items() if name in self._takes}
        )
        return OnnxReading(edits, states, pieces, mask, self._phraser, self._span_pieces)


def _reopen(folder: Path, threads: int | None) -> OnnxBackend:
    return OnnxBackend(read_exported(folder), folder, threads)


def _open(graph: bytes, path: Path, threads: int | None, spin: bool = True) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spin else "0")
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a dozen kinds; all of them mean that the file is no good
        raise InputError(f"{path}: onnxruntime cannot open it ({str(error).splitlines()[0][:200]})") from error
