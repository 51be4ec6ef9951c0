"""A backend that reads each row once: to try many settings of the engine on one set takes no longer than one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from riseq.engine.backends import Backend, BatchScores, ScoreArray
from riseq.model.inputs import Batch, SpanBatch

NEVER = -1e4
"""The log-probability of every phrase but the best, which alone is kept."""


@dataclass(slots=True)
class _Row:
    """What is known of one row: its scores, and the best phrase at each span asked for."""

    edits_BWE: ScoreArray
    phrases: int = 0
    best: dict[tuple[int, int], tuple[int, float]] = field(default_factory=dict)


class CachedBackend:
    """A backend that keeps what another one read; rows come alone, as an int8 network wants them."""

    batch_pieces = 1

    def __init__(self, backend: Backend) -> None:
        """Read with ``backend`` what was not read yet."""
        self.max_pieces = backend.max_pieces
        self._backend = backend
        self._rows: dict[bytes, _Row] = {}

    def score(self, batch: Batch) -> BatchScores:
        """Return what the network makes of a batch of one row."""
        if len(batch.ids_BL) != 1:
            raise ValueError(f"a batch of {len(batch.ids_BL)} rows, expected 1")
        key = batch.ids_BL.tobytes() + batch.firsts_BW.tobytes()
        reading = None
        if key not in self._rows:
            reading = self._backend.score(batch)
            self._rows[key] = _Row(reading.edits_BWE.copy())
        return _CachedReading(self._rows[key], self._backend, batch, reading)


class _CachedReading:
    """One row's reading, made again only where a phrase is wanted that was not wanted before."""

    def __init__(self, row: _Row, backend: Backend, batch: Batch, reading: BatchScores | None) -> None:
        self._row, self._backend, self._batch, self._reading = row, backend, batch, reading

    @property
    def edits_BWE(self) -> ScoreArray:
        return self._row.edits_BWE

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        wanted = list(zip(spans.start_N.tolist(), spans.end_N.tolist(), strict=True))
        if any(span not in self._row.best for span in wanted):
            self._reading = self._reading or self._backend.score(self._batch)
            scores_NP = self._reading.score_phrases(spans)
            self._row.phrases = scores_NP.shape[1]
            for span, scores in zip(wanted, scores_NP, strict=True):
                self._row.best[span] = (int(scores.argmax()), float(scores.max()))
        known_NP = np.full((len(wanted), self._row.phrases), NEVER, dtype=np.float32)
        for index, span in enumerate(wanted):
            phrase, score = self._row.best[span]
            known_NP[index, phrase] = score
        return known_NP
