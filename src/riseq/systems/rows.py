"""Results as the rows of a table."""

from __future__ import annotations

import json
from collections.abc import Mapping

from riseq.types import Example, Simplification, Step, TextEdit

COLUMNS = ("id", "context", "question", "text", "confidence", "truncated", "steps")
"""The columns every result has."""
NESTED = ("steps", "alternatives")
"""The columns whose values are lists of objects."""


def result_row(example: Example, result: Simplification) -> dict[str, object]:
    """Return the row of one result; ``alternatives`` is there where several were asked for."""
    row: dict[str, object] = {
        "id": example.id,
        "context": list(example.context),
        "question": example.question,
        "text": result.text,
        "confidence": result.confidence,
        "truncated": result.truncated,
        "steps": [_step_row(step) for step in result.steps],
    }
    if result.alternatives:
        row["alternatives"] = [_alternative_row(one) for one in result.alternatives]
    return row


def flat_row(row: Mapping[str, object]) -> dict[str, object]:
    """Return a result's row for tables with typed cells: what is nested is JSON text."""
    return {name: json.dumps(value, ensure_ascii=False) if name in NESTED else value for name, value in row.items()}


def prediction_row(example: Example, prediction: Simplification) -> dict[str, object]:
    """Return the row of one prediction beside its target."""
    return {
        "id": example.id,
        "context": list(example.context),
        "question": example.question,
        "target": example.target,
        "prediction": prediction.text,
    }


def _step_row(step: Step) -> dict[str, object]:
    return {"text": step.text, "edits": [_edit_row(edit) for edit in step.edits]}


def _edit_row(edit: TextEdit) -> dict[str, object]:
    row: dict[str, object] = {
        "op": edit.op.name.lower(),
        "start": edit.start,
        "end": edit.end,
        "old": edit.old,
        "new": edit.new,
    }
    return row if edit.probability is None else {**row, "probability": edit.probability}


def _alternative_row(result: Simplification) -> dict[str, object]:
    row: dict[str, object] = {"text": result.text}
    told = {"confidence": result.confidence, "probability": result.probability}
    return {**row, **{name: value for name, value in told.items() if value is not None}}
