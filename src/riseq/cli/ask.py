"""``riseq ask``: what to ask next in a dialogue, from a pool of questions."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from riseq import cli
from riseq.controls import Controls
from riseq.data.dialogue_file import read_dialogue, read_questions
from riseq.data.rows import BadRow, sift
from riseq.types import InputError


@cli.add_options(Controls, before="threads")
def ask(
    pool: Annotated[Path, cli.argument("POOL", "Questions: .txt (one a line), .jsonl, .json, .csv, .tsv, .parquet.")],
    context: cli.ContextOption = None,
    context_file: cli.ContextFileOption = None,
    number: Annotated[int, cli.option("--number -n N", "How many questions at most.", min=1)] = 3,
    model: cli.ModelOption = None,
    threads: cli.ThreadsOption = None,
    as_json: Annotated[bool, cli.option("--json", "Print a JSON object a line, with the score.")] = False,
    skip_bad: cli.SkipBadOption = False,
    **options: Any,
) -> None:
    """Pick the questions of a pool that may be asked next, in conversational form.

    POOL has self-contained questions. Those that fit the dialogue best come
    first, less what the dialogue has asked or answered already; where none
    fits, nothing is printed.

    \b
    [bold]Examples[/]
      riseq ask examples/pool.txt -c "Is the Kindle Paperwhite waterproof?" -c "Yes."
      riseq ask pool.csv --context-file chat.json -n 5 --json
    """
    if bool(context) == bool(context_file):
        got = "both" if context else "neither"
        raise InputError(f"expected the dialogue as --context or as --context-file, got {got}")
    said = read_dialogue(context_file) if context_file else cli.make_example("?", context or []).context
    skipped: list[BadRow] = []
    rows = sift(read_questions(pool), skipped.append if skip_bad else None)
    questions = [record.example.question for record in rows]
    for row in skipped:
        cli.notify(f"skipped {row}")
    if not questions:
        raise InputError(f"{pool}: no questions, expected at least one")

    from riseq.engine.simplifier import Simplifier

    simplifier, controls = Simplifier.load(model, threads=threads), cli.take_options(Controls, options)
    for one in simplifier.ask(said, questions, number, controls=controls):
        typer.echo(json.dumps(one.to_dict(), ensure_ascii=False) if as_json else one.text)
