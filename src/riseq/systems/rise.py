"""RISE: the trained model, editing in passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Unpack

from riseq.controls import ControlOptions, Controls
from riseq.engine.simplifier import Simplifier
from riseq.types import Example, Simplification


class Rise:
    """The network's edits, up to three passes; a question without context stays as it is."""

    name = "rise"

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        controls: Controls | None = None,
        threads: int | None = None,
        **options: Unpack[ControlOptions],
    ) -> None:
        """Load the model called ``model``, or the one that ships; the rest is as ``Simplifier`` takes it."""
        self._controls = Controls.of(controls, **options)  # a mistake should not wait for the model
        self._simplifier = Simplifier.load(model, threads=threads)

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question made conversational."""
        return self._simplifier.batch(examples, controls=self._controls)
