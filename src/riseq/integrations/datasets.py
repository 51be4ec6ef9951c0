"""Batches of a Hugging Face dataset, for ``Dataset.map``."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from riseq.hub import find_default_model, find_model
from riseq.integrations import RowEditor
from riseq.jobs import digest
from riseq.types import InputError


class SimplifyBatch(RowEditor):
    """Gives each row of a batch its conversational question: ``dataset.map(SimplifyBatch(), batched=True)``.

    ``question``, ``context`` and ``output`` name columns; without a column of contexts nothing has been said before.
    With ``num_proc`` each process loads an engine. The rest is ``RowEditor``'s.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        question: str = "question",
        context: str | None = "context",
        output: str = "text",
        **settings: Any,
    ) -> None:
        super().__init__(model, **settings)
        self.question, self.context, self.output = question, context, output
        # datasets keeps results by what is in here, and another model's are not these.
        folder = find_default_model() if model is None else find_model(model)
        self.fingerprint = None if folder is None else digest(folder)

    def __call__(self, batch: Mapping[str, Sequence[object]]) -> dict[str, list[str | None]]:
        """Return the new column of a batch."""
        for name in (self.question, self.context):
            if name is not None and name not in batch:
                raise InputError(f"no column {name!r}, expected one of: {', '.join(batch)}")
        questions = batch[self.question]
        contexts = [()] * len(questions) if self.context is None else batch[self.context]
        return {self.output: self.edit(questions, contexts)}  # type: ignore[arg-type]
