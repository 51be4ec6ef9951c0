"""Batches of a Hugging Face dataset, for ``Dataset.map``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from riseq.hub import find_default_model, find_model
from riseq.integrations.rows import RowEditor
from riseq.types import InputError


@dataclass(frozen=True)
class SimplifyBatch(RowEditor):
    """Gives each row of a batch its conversational question: ``dataset.map(SimplifyBatch(), batched=True)``.

    ``question``, ``context`` and ``output`` name columns; without a column of contexts nothing has been said before. A
    missing question stays missing. With ``num_proc`` each process loads an engine.
    """

    question: str = "question"
    context: str | None = "context"
    output: str = "text"
    mark: str = field(init=False, repr=False)
    """What the model's files say of themselves: datasets keeps results by it, and another model's are not these."""

    def __post_init__(self) -> None:
        """Check the settings, and look at the model."""
        self.check()
        object.__setattr__(self, "protect", tuple(self.protect))
        object.__setattr__(self, "mark", _read_mark(self.model))

    def __call__(self, batch: Mapping[str, Sequence[object]]) -> dict[str, list[str | None]]:
        """Return the new column of a batch."""
        for name in (self.question, self.context):
            if name is not None and name not in batch:
                raise InputError(f"no column {name!r}, expected one of: {', '.join(batch)}")
        questions = batch[self.question]
        contexts = [()] * len(questions) if self.context is None else batch[self.context]
        return {self.output: self.edit(questions, contexts)}  # type: ignore[arg-type]


def _read_mark(model: str | Path | None) -> str:
    """Return a fingerprint of the small files of a model's folder, which name the checksums of the large ones."""
    folder = find_default_model() if model is None else find_model(model)
    total = hashlib.sha256()
    for path in sorted(folder.glob("*.json")) if folder else []:
        total.update(path.read_bytes())
    return total.hexdigest()[:16]
