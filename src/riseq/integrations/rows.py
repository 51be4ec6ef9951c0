"""Rows of a table, edited in whatever process a tool sends them to, with one engine a process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from riseq.controls import MAX_PASSES, NEUTRAL, Controls, check_count
from riseq.data.dialogue import Asked, read_item
from riseq.engine.simplifier import Simplifier
from riseq.types import InputError


@lru_cache(maxsize=1)
def _load(model: str | Path | None, threads: int, _process: int) -> Simplifier:
    return Simplifier.load(model, threads=threads)


def load_engine(model: str | Path | None, threads: int) -> Simplifier:
    """Return this process's engine, which is loaded once."""
    # A forked process has its parent's engine without the threads that run it: it needs one of its own.
    return _load(model, threads, os.getpid())


@dataclass(frozen=True)
class RowEditor:
    """Edits rows; it is small, and goes to other processes without its engine.

    ``model`` is what ``Simplifier.load`` takes, and has to be there where the rows are edited; ``threads`` are cores of
    an engine. With ``skip_bad`` a row that cannot be used gets None and stops nothing. The other fields are those of
    ``Simplifier``.
    """

    model: str | Path | None = None
    strength: float = NEUTRAL
    protect: Sequence[str] = ()
    max_passes: int = MAX_PASSES
    guard: bool = True
    threads: int = 1
    skip_bad: bool = False

    def check(self) -> None:
        """Raise here what would else be raised in another process."""
        Controls.of(strength=self.strength, protect=self.protect, max_passes=self.max_passes, guard=self.guard)
        check_count("threads", self.threads)

    def edit(self, questions: Iterable[str | None], contexts: Iterable[object]) -> list[str | None]:
        """Return the conversational form of each question; a missing question stays missing."""
        rows = [self._read(place, *row) for place, row in enumerate(zip(questions, contexts, strict=True))]
        results = load_engine(self.model, self.threads).batch(
            [row for row in rows if row is not None],
            strength=self.strength,
            protect=self.protect,
            max_passes=self.max_passes,
            guard=self.guard,
        )
        return [None if row is None else next(results).text for row in rows]

    def _read(self, place: int, question: str | None, context: object) -> Asked | None:
        if question is None:
            return None
        try:
            return read_item((question, () if context is None else context), f"row {place} of the batch: ")  # type: ignore[arg-type]
        except InputError:
            if self.skip_bad:
                return None
            raise
