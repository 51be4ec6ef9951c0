"""What the engine asks of whatever runs the network."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from riseq.model.inputs import Batch, SpanBatch

Scores = NDArray[np.float32]


class Reading(Protocol):
    """What a network made of one batch; it holds the states that phrases are scored from."""

    @property
    def edits_BWE(self) -> Scores:
        """Log-probabilities of the four edits at each word, the marker's first."""
        ...

    def score_phrases(self, spans: SpanBatch) -> Scores:
        """Return the log-probabilities [N, P] of all phrases at each span, of which there is at least one."""
        ...


class Backend(Protocol):
    """A network that reads batches."""

    @property
    def max_pieces(self) -> int:
        """How many pieces a row may have."""
        ...

    @property
    def batch_pieces(self) -> int:
        """How many pieces, padding counted, it likes to read at once; a longer row still comes alone."""
        ...

    def read(self, batch: Batch) -> Reading:
        """Return what the network makes of ``batch``."""
        ...


@runtime_checkable
class Divisible(Protocol):
    """A backend that many rows are better read by side by side, each on one thread, than one after the other on all."""

    @property
    def workers(self) -> int:
        """How many may read at a time."""
        ...

    def alone(self) -> Backend:
        """Return the same network on one thread; it may be called from several threads at once."""
        ...
