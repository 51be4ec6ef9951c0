"""``riseq bench``: how fast the engine is on this machine."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated

import typer

from riseq.cli.options import ModelOption
from riseq.cli.shared import load_set, load_set_or_examples, notify, take_evenly
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.engine.simplifier import Simplifier
    from riseq.types import Example

BUSY = 0.5
"""The load average from which on a run is told to be disturbed."""


def bench(
    model: ModelOption = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", "-d", metavar="FILE", help="Questions with dialogues. CAsT-19 under RISEQ_DATA, or the examples."
        ),
    ] = None,
    threads: Annotated[int, typer.Option("--threads", "-t", metavar="N", min=1, help="Cores that one call uses.")] = 2,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", min=1, help="How often all is measured.")] = 5,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Take N questions, spread evenly over the set.")
    ] = None,
    rivals: Annotated[
        bool, typer.Option("--rivals/--no-rivals", help="Whether GPT-2 and a BERT2BERT write beside it (needs torch).")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the page.")] = False,
    write: Annotated[
        Path | None,
        typer.Option("--write", "-w", metavar="FOLDER", help="Put the page into FOLDER/RESULTS.md, numbers beside it."),
    ] = None,
) -> None:
    """Measure how fast the engine is on this machine.

    One question at a time beside one bare encoder pass over the same
    tokens, and beside decoders that write word by word; many at once; where
    the time goes; a cold start; how it grows. All take turns in one run.

    \b
    [bold]Examples[/]
      riseq bench
      riseq bench --no-rivals --limit 50 --repeats 3
      riseq bench --write benchmarks
    """
    name, examples = _load_questions(data)
    examples = take_evenly(examples, limit or len(examples))
    run_bench(model, (name, examples), threads, repeats, rivals, as_json, write)


def _load_questions(data: Path | None) -> tuple[str, list[Example]]:
    """Return questions and what to call them."""
    from riseq.data.dataset import data_root

    if data is not None:
        return str(data), load_set(data)
    if data_root(os.environ) is not None:
        return "CAsT-19", load_set(Path("cast19/test.qonly"))
    examples = load_set_or_examples(None)
    if not examples:
        raise InputError("no questions to measure with: RISEQ_DATA is not set; name a file with --data")
    return "the example dialogues", examples


def run_bench(
    model: Path | None,
    questions: tuple[str, list[Example]],
    threads: int,
    repeats: int,
    rivals: bool,
    as_json: bool,
    write: Path | None,
) -> None:
    """Measure the model on the ``questions``, a name and examples, and print what was measured."""
    from riseq.engine.simplifier import Simplifier
    from riseq.hub import find_default_model
    from riseq.reproduce.bench import measure
    from riseq.reproduce.bench_page import Circumstances, as_numbers, format_page, write_page
    from riseq.reproduce.facts import describe_machine

    if write is not None and not write.is_dir():
        raise InputError(f"{write}: no such folder, expected the one to write RESULTS.md in")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    if load is not None and load > BUSY:
        notify(f"the machine is at work already (load average {load:.2f}): every number will be worse than it could be")
    name, examples = questions
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
            notify(missing)
        notify(f"wrote {write / 'RESULTS.md'}")


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
