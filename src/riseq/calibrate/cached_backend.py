"""A backend that reads each row once: to try many settings of the engine on one set takes no longer than one."""

from __future__ import annotations

import numpy as np

from riseq.engine.backends import Backend, BatchScores, ScoreArray
from riseq.model.inputs import Batch, SpanBatch

NEVER = -1e4
"""The log-probability of every phrase but the best, which alone is kept."""


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
        key = b"".join(array.tobytes() for array in (batch.ids_BL, batch.firsts_BW, batch.condition_B))
        if key in self._rows:
            self._rows[key].reading = None  # it is large, and phrases are asked for at the first time or not at all
        else:
            self._rows[key] = _Row(self._backend, batch)
        return self._rows[key]


class _Row:
    """One row's scores and the best phrase at each span asked for; it is read again where a new one is wanted."""

    def __init__(self, backend: Backend, batch: Batch) -> None:
        self._backend, self._batch = backend, batch
        self.reading: BatchScores | None = backend.score(batch)
        self.edits_BWE = self.reading.edits_BWE.copy()
        self._best: dict[tuple[int, int], tuple[int, float]] = {}
        self._phrases = 0

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        wanted = list(zip(spans.start_N.tolist(), spans.end_N.tolist(), strict=True))
        if any(span not in self._best for span in wanted):
            scores_NP = (self.reading or self._backend.score(self._batch)).score_phrases(spans)
            self.reading, self._phrases = None, scores_NP.shape[1]
            best = zip(scores_NP.argmax(-1).tolist(), scores_NP.max(-1).tolist(), strict=True)
            self._best.update(zip(wanted, best, strict=True))
        known_NP = np.full((len(wanted), self._phrases), NEVER, dtype=np.float32)
        for index, (phrase, score) in enumerate(map(self._best.__getitem__, wanted)):
            known_NP[index, phrase] = score
        return known_NP
