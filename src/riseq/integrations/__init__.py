"""riseq in the tools that people already have, one thin module each; every module needs its own extra."""

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Unpack

from riseq.controls import ControlOptions, Controls, check_count
from riseq.data.dialogue import Asked, read_item
from riseq.engine.simplifier import Simplifier
from riseq.types import InputError


@lru_cache(maxsize=1)
def load_engine(model: str | Path | None, threads: int, process: int) -> Simplifier:  # noqa: ARG001
    """Return the engine of this process, by its id: a fork has its parent's engine without the threads that run it."""
    return Simplifier.load(model, threads=threads)


class RowEditor:
    """Edits rows of a table in whatever process a tool sends them to; it is small, and goes there without its engine.

    ``model`` is what ``Simplifier.load`` takes, and has to be there where the rows are edited; ``threads`` are cores of
    an engine. With ``skip_bad`` a row that cannot be used gets None and stops nothing. The rest is ``Simplifier``'s.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        threads: int = 1,
        skip_bad: bool = False,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> None:
        self.model, self.controls = model, Controls.of(controls, **options)
        self.threads, self.skip_bad = check_count("threads", threads), skip_bad

    def edit(self, questions: Iterable[str | None], contexts: Iterable[object]) -> list[str | None]:
        """Return the conversational form of each question; a missing question stays missing."""
        rows: list[Asked | None] = []
        for index, (question, context) in enumerate(zip(questions, contexts, strict=True)):
            item: Any = question, context
            try:
                rows.append(None if question is None else read_item(item, f"row {index} of the batch: "))
            except InputError:
                if not self.skip_bad:
                    raise
                rows.append(None)
        engine = load_engine(self.model, self.threads, os.getpid())
        results = engine.batch([row for row in rows if row is not None], controls=self.controls)
        return [None if row is None else next(results).text for row in rows]
