"""Results as the rows of a table."""

from __future__ import annotations

import json

from riseq.types import Example, Simplification, Step, TextEdit


def result_row(example: Example, result: Simplification, flat: bool = False) -> dict[str, object]:
    """Return the row of one result; where ``flat``, its steps are JSON text, for tables with typed cells."""
    steps = [_step_row(step) for step in result.steps]
    return {
        "id": example.id,
        "context": list(example.context),
        "question": example.question,
        "text": result.text,
        "steps": json.dumps(steps, ensure_ascii=False) if flat else steps,
    }


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
