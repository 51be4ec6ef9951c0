"""What the engine asks of whatever runs the network."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from riseq.core.chain import max_marginals
from riseq.model.inputs import Batch, SpanBatch

ScoreArray = NDArray[np.float32]


def read_edits(edits: ScoreArray, batch: Batch) -> ScoreArray:
    """Return the scores [B, W, 4] of edits by a network's output; those of a joint policy by its best paths."""
    return edits if edits.ndim == 3 else max_marginals(edits, batch.real_BW[:, : edits.shape[1]])


class BatchScores(Protocol):
    """A network's scores of one batch: of its edits, and later of phrases, from states that it holds."""

    @property
    def edits_BWE(self) -> ScoreArray:
        """Log-probabilities of the four edits at each word, the marker's first."""

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        """Return the log-probabilities [N, P] of all phrases at each span, of which there is at least one.

        Those of a network that copies are ``riseq.engine.phrasing.Phrasing``'s to read.
        """


class Backend(Protocol):
    """A network that scores batches."""

    @property
    def max_pieces(self) -> int:
        """How many pieces a row may have."""

    @property
    def batch_pieces(self) -> int:
        """How many pieces, padding counted, it likes to read at once; a longer row still comes alone."""

    def score(self, batch: Batch) -> BatchScores:
        """Return the scores of ``batch``."""


@runtime_checkable
class QueuedScores(Protocol):
    """Scores of a network that works on while its caller does: phrases too can be asked for before they are read."""

    def start_phrases(self, spans: SpanBatch) -> Callable[[], ScoreArray]:
        """Return what waits for what ``score_phrases`` returns, and gives it."""


@runtime_checkable
class QueuedBackend(Protocol):
    """A backend whose scores may still be under way when ``score`` returns."""

    @property
    def in_flight(self) -> int:
        """How many windows of questions had best be under way."""


@runtime_checkable
class ParallelBackend(Protocol):
    """A backend that many rows are better read by side by side, each on one thread, than one after the other on all."""

    @property
    def workers(self) -> int:
        """How many may read at a time."""

    def single_threaded(self) -> Backend:
        """Return the same network on one thread; it may be called from several threads at once."""
