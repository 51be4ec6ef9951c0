"""What the systems that write a question anew share: batches of examples, and a written question as a result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from riseq.core.edits import MARKER
from riseq.core.levenshtein import gold_edits
from riseq.model.writing import Written
from riseq.text.realise import realise
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification

HELD = 1_024
"""Examples held at a time: enough to make batches of like length."""


def need_model(name: str, model: Path | None) -> Path:
    """Return the folder of a system that has no model of its own."""
    if model is None:
        raise InputError(f"the system {name!r} comes with no model; train one with recipes/{name}.yaml and name it")
    return model


def write_all(
    examples: Iterable[Example],
    write: Callable[[Sequence[Example]], list[Written]],
    finish: Callable[[Example, Written], Simplification],
) -> Iterator[Simplification]:
    """Yield the result of each example, in order."""
    remaining = iter(examples)
    while held := list(islice(remaining, HELD)):
        for example, written in zip(held, write(held), strict=True):
            yield finish(example, written)


def restore(example: Example, written: Written) -> Simplification:
    """Return lower-cased words as a person writes them: the question's own spelling, by the edits that lead to them.

    An output without a word says nothing, and leaves the question as it is.
    """
    words, wanted = forms(example.question), forms(written.text)
    if not wanted:
        return Simplification(example.question, example.question, truncated=written.truncated)
    step = realise(example.question, gold_edits([MARKER, *words], [MARKER, *wanted]), example.context)
    # The spelling must not change what was written.
    text = step.text if forms(step.text) == wanted else written.text
    return Simplification(example.question, text, truncated=written.truncated)


def keep(example: Example, written: Written) -> Simplification:
    """Return what was written as it is; nothing leaves the question as it is."""
    return Simplification(example.question, written.text or example.question, truncated=written.truncated)
