"""Origin: the question as it is, the floor every other system has to beat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from riseq.types import Example, Simplification


class Origin:
    """The paper's first baseline: its output is its input."""

    name = "origin"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question unchanged."""
        for example in examples:
            yield Simplification(question=example.question, text=example.question)
