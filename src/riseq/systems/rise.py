"""RISE: the trained model, editing in passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from riseq.infer.simplifier import Simplifier
from riseq.types import Example, Simplification


class Rise:
    """The network's edits, up to three passes; a question without context stays as it is."""

    name = "rise"

    def __init__(self, model: Path | None = None) -> None:
        """Load the model in the folder ``model``, or the one that ships."""
        self._simplifier = Simplifier.load(model)

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question made conversational."""
        return self._simplifier.batch(examples)
