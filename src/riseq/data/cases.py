"""Cases: a question in its dialogue with what a person would accept, from a suite, everyday dialogues or targets."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from riseq.data.corpora import read_everyday
from riseq.data.dataset import locate_dataset, read_dataset
from riseq.data.dialogue import read_context
from riseq.data.rows import BadRow, FieldError, OnBad, sift, take_utterances
from riseq.data.tables import Record, read_outcomes
from riseq.files import STDIN, name_source, open_source
from riseq.types import Example


@dataclass(frozen=True, slots=True)
class Case:
    """A question in its dialogue, and how an answer is judged."""

    example: Example
    gold: tuple[str, ...]
    """Forms that a person would say there, the example's target first."""
    phenomenon: str = ""
    """What it tries; "" in a set of targets, where other forms may be as good as the one written down."""
    keep: tuple[str, ...] = ()
    """What would be lost for good."""
    gone: tuple[str, ...] = ()
    """What was said before, and would not be said again."""
    bad: tuple[str, ...] = ()
    """Words that would be wrong, such as "he" for a woman."""


def load_cases(name: str | Path, *, on_bad: OnBad | None = None) -> list[Case]:
    """Return the cases of a suite (rows with ``gold``), of everyday dialogues (``turns``) or of a set with targets.

    Bad rows are treated as in ``load_dataset``.
    """
    path = locate_dataset(name)
    first: object = None
    if str(path) != STDIN and ".jsonl" in str(path).lower():
        with open_source(path) as file, suppress(ValueError, RecursionError):
            first = json.loads(file.readline())
    columns = first if isinstance(first, dict) else {}
    if "turns" in columns:
        questions = (list(forms) for _, forms in groupby(read_everyday(path), key=lambda pair: pair.id))
        return [Case(forms[0], tuple(one.target or "" for one in forms), "everyday") for forms in questions]
    if "gold" in columns:
        rows = read_outcomes(path, read=read_context)
        return list(sift((_read_case(row, name_source(path)) for row in rows), on_bad))
    return [Case(one, (one.target or "",)) for one in read_dataset(path, on_bad=on_bad, need_target=True)]


def _read_case(outcome: Record | BadRow, file: str) -> Case | BadRow:
    if isinstance(outcome, BadRow):
        return outcome
    try:
        gold, *words = (take_utterances(outcome.row, field) for field in ("gold", "keep", "gone", "bad"))
        example = replace(outcome.example, target=gold[0])
    except (FieldError, IndexError) as error:
        return BadRow(file, outcome.line, str(error) if isinstance(error, FieldError) else "gold: empty")
    return Case(example, gold, str(outcome.row.get("phenomenon") or "suite"), *words)
