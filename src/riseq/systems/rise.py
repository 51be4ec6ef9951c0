"""RISE: the trained model, editing in passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from riseq.infer.controls import MAX_PASSES, NEUTRAL, check_controls
from riseq.infer.simplifier import Simplifier
from riseq.types import Example, Simplification


class Rise:
    """The network's edits, up to three passes; a question without context stays as it is."""

    name = "rise"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        strength: float | None = None,
        protect: Sequence[str] = (),
        max_passes: int | None = None,
        n_best: int | None = None,
        threads: int | None = None,
    ) -> None:
        """Load the model called ``model``, or the one that ships; the rest is as ``Simplifier`` takes it."""
        self._strength = NEUTRAL if strength is None else strength
        self._protect = tuple(protect)
        self._max_passes = MAX_PASSES if max_passes is None else max_passes
        self._n_best = 1 if n_best is None else n_best
        # A mistake should not wait for the model.
        check_controls(self._strength, self._protect, self._max_passes, self._n_best)
        self._simplifier = Simplifier.load(model, threads=threads, max_passes=self._max_passes)

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question made conversational."""
        return self._simplifier.batch(examples, strength=self._strength, protect=self._protect, n_best=self._n_best)
