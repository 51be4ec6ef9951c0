"""Saved: a system's outputs as they were written down earlier, so that anyone can score them again without the system.

A file of outputs is JSONL: ``{"id": "...", "passes": ["the text after pass 1", ...]}``, one row an example. Passes that
change nothing are left out, so a question that stayed as it was has none. The questions, targets and dialogues are
the data set's and are not in it. A row of predictions beside their targets (``{"id": "...", "prediction": "..."}``) is
read too, as one pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from riseq.data.formats import read_jsonl
from riseq.data.rows import BadRow
from riseq.data.source import name_source, open_source
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification, Step

MANIFEST = "manifest.json"
Outputs = Mapping[str, tuple[str, ...]]


class Saved:
    """Hands out what a file of outputs has for each example; ``limit`` is how many passes of it count."""

    name = "saved"

    def __init__(self, file: Path | None = None, *, limit: int | None = None) -> None:
        """Read ``file``; without a ``limit`` it is that of the manifest beside the file, where there is one."""
        if file is None:
            raise InputError("the system 'saved' needs a file of outputs; name it with --model")
        self._file = file
        self._outputs = read_outputs(file)
        self._limit = read_limit(file.parent / MANIFEST) if limit is None else limit

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield the saved output of each example."""
        for example in examples:
            passes = self._outputs.get(example.id)
            if passes is None:
                raise InputError(f"{self._file}: has no output for the example {example.id!r}; is it of another set?")
            steps = tuple(map(Step, trim(example.question, passes)))[: self._limit]
            yield Simplification(example.question, steps[-1].text if steps else example.question, steps)


def read_outputs(path: str | Path) -> Outputs:
    """Return the texts after each pass, by the example's id."""
    outputs: dict[str, tuple[str, ...]] = {}
    name = name_source(path)
    with open_source(path) as file:
        for row in read_jsonl(file, name, need_target=False):
            if isinstance(row, BadRow):
                raise InputError(str(row))
            number, fields = row
            key, passes = fields.get("id"), fields.get("passes", [fields.get("prediction")])
            if not isinstance(key, str):
                raise InputError(f"{name}:{number}: id: expected a string")
            if not isinstance(passes, list) or not all(isinstance(text, str) for text in passes):
                raise InputError(f"{name}:{number}: passes: expected a list of strings, the text after each pass")
            if key in outputs:
                raise InputError(f"{name}:{number}: id: {key!r} is there twice, expected one output an example")
            outputs[key] = tuple(passes)
    return outputs


def list_passes(result: Simplification) -> list[str]:
    """Return the texts after each pass of ``result``; a system that writes in one go has made one pass."""
    texts = [step.text for step in result.steps] or [result.text]
    if texts[-1] != result.text:
        texts.append(result.text)
    return trim(result.question, texts)


def trim(question: str, passes: Sequence[str]) -> list[str]:
    """Return the passes without those that leave every word, in any case, as it was."""
    kept: list[str] = []
    before = forms(question)
    for text in passes:
        words = forms(text)
        if words != before:
            kept.append(text)
            before = words
    return kept


def read_limit(manifest: Path) -> int | None:
    """Return how many passes count, as the manifest says; None where it does not, or is not there."""
    if not manifest.is_file():
        return None
    limit = json.loads(manifest.read_text(encoding="utf-8")).get("counted_passes")
    return limit if isinstance(limit, int) else None
