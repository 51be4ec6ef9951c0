"""The one protocol of everything that simplifies, and the simplest system there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from riseq.types import Example, Simplification


class System(Protocol):
    """Something that turns self-contained questions into conversational ones."""

    @property
    def name(self) -> str:
        """The name it is called by on the command line and in tables."""
        ...

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield one result an example, in order, holding no more than a batch in memory."""
        ...


class Origin:
    """The paper's first baseline: its output is its input."""

    name = "origin"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question unchanged."""
        for example in examples:
            yield Simplification(question=example.question, text=example.question)
