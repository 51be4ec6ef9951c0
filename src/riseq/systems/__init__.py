"""What simplifies, behind one protocol, and the two systems that need nothing but riseq itself."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from riseq.controls import Controls
from riseq.types import Example, Simplification


class System(Protocol):
    """Something that turns self-contained questions into conversational ones."""

    @property
    def name(self) -> str:
        """The name it is called by on the command line and in tables."""

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield one result an example, in order, holding no more than a batch in memory."""


class Origin:
    """The paper's first baseline: its output is its input."""

    name = "origin"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question unchanged."""
        for example in examples:
            yield Simplification(question=example.question, text=example.question)


class Rise:
    """RISE: the trained model's edits, up to three passes; a question without context stays as it is."""

    name = "rise"

    def __init__(self, model: Path | None = None, *, controls: Controls, threads: int | None = None) -> None:
        """Load the model called ``model``, or the one that ships; the rest is as ``Simplifier`` takes it."""
        from riseq.engine.simplifier import Simplifier

        self._controls, self._simplifier = controls, Simplifier.load(model, threads=threads)

    def ask_first_turns(self) -> None:
        """From now on let the network edit questions without context too, as evaluations without that rule want it."""
        self._simplifier.asks_first_turns = True

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question made conversational."""
        return self._simplifier.batch(examples, controls=self._controls)
