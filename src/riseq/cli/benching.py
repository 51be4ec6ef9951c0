"""The run of ``riseq bench``: everything it measures, and where it says so."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import typer

from riseq.cli.shared import say
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.engine.simplifier import Simplifier
    from riseq.types import Example

BUSY = 0.5
"""The load average from which on a run is told to be disturbed."""


def run_bench(
    model: Path | None,
    asked: tuple[str, list[Example]],
    threads: int,
    repeats: int,
    rivals: bool,
    as_json: bool,
    write: Path | None,
) -> None:
    """Measure the model on the questions ``asked``, (their name, themselves), and tell it as wished."""
    from riseq.engine.simplifier import Simplifier
    from riseq.hub import find_default_model
    from riseq.reproduce.bench import measure
    from riseq.reproduce.bench_page import Circumstances, as_numbers, format_page, write_page
    from riseq.reproduce.facts import describe_machine

    if write is not None and not write.is_dir():
        raise InputError(f"{write}: no such folder, expected the one to write RESULTS.md in")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if load is not None and load > BUSY:
        say(f"the machine is at work already (load average {load:.2f}): every number will be worse than it could be")
    name, examples = asked
    engine = Simplifier.load(model, threads=threads)
    made, skipped = _make_rivals(engine, examples, model or find_default_model(), threads) if rivals else ({}, [])
    measured = measure(engine, examples, threads, made, skipped, repeats, model)
    command = shlex.join(["riseq", *sys.argv[1:]])
    where = Circumstances(
        command, describe_machine(), date.today(), name, "the model that ships" if model is None else model.name, load
    )
    if as_json:
        typer.echo(json.dumps(as_numbers(measured)))
    else:
        typer.echo(format_page(measured, where), nl=False)
    if write is not None:
        for missing in write_page(write, measured, where):
            say(missing)
        say(f"wrote {write / 'RESULTS.md'}")


def _make_rivals(
    engine: Simplifier, examples: list[Example], model: Path | None, threads: int
) -> tuple[dict[str, Callable[[], object]], list[str]]:
    """Return the decoders to compare with, or why there are none."""
    from riseq.engine.drafts import start
    from riseq.reproduce.rivals import make_rivals

    if model is None or not (model / "config.json").is_file():
        return {}, ["decoders that write word by word (the model's shape is not known)"]
    shape = json.loads((model / "config.json").read_text(encoding="utf-8"))["network"]["backbone"]
    drafts = [start(one.question, one.context, engine.pieces, engine.backend.max_pieces) for one in examples]
    # What a decoder writes is as long as what the engine makes of the same questions.
    written = [sum(len(engine.pieces.cut(word)) for word in _words(result.text)) for result in engine.batch(examples)]
    read = round(mean(draft.length for draft in drafts))
    try:
        return make_rivals(shape, read, max(1, round(mean(written))), threads), []
    except ModuleNotFoundError as error:
        return {}, [f"decoders that write word by word (they need the package {error.name!r})"]


def _words(text: str) -> list[str]:
    from riseq.text.words import forms

    return list(forms(text))
