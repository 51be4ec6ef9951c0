"""``riseq bench``: how fast the engine is on this machine."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from riseq.cli import ModelOption, load_set_or_examples, option, take_evenly
from riseq.types import InputError


def bench(
    model: ModelOption = None,
    data: Annotated[Path | None, option("--data -d FILE", "Questions with dialogues.")] = None,
    threads: Annotated[int, option("--threads -t N", "Cores that one call uses.", min=1)] = 2,
    repeats: Annotated[int, option("--repeats N", "How often all is measured.", min=1)] = 5,
    limit: Annotated[int | None, option("--limit N", "Take N questions of them.", min=1)] = None,
    as_json: Annotated[bool, option("--json", "Print one JSON object instead.")] = False,
) -> None:
    """Measure how fast the engine is on this machine.

    One question at a time beside one bare encoder pass over the same
    tokens, many at once, and the first question of a new process; without
    [bold]--data[/] on the example dialogues that come with riseq. A model that resolves
    questions is measured as one that simplifies them.

    \b
    [bold]Examples[/]
      riseq bench
      riseq bench --data questions.jsonl --limit 50 --repeats 3
      riseq bench --model models/resolve --data everyday/suite+resolve
    """
    from riseq.engine.benchmark import ENGINE, measure_speed
    from riseq.engine.directions import load_engine

    examples = load_set_or_examples(data)
    if not examples:
        raise InputError("no questions to measure with: there are no example dialogues here; name a file with --data")
    engine = load_engine(model, threads=threads)
    speed = measure_speed(engine, take_evenly(examples, limit or len(examples)), repeats, model, {})
    if as_json:
        typer.echo(json.dumps({**asdict(speed), "threads": threads}))
        return
    typer.echo(f"{speed.questions} questions with a dialogue before them, {threads} threads, best of {repeats}")
    typer.echo(f"one question  {1000 * speed.singles[ENGINE]:7.1f} ms, {speed.encoder_ratio:.2f} bare encoder passes")
    typer.echo(f"in bulk       {speed.bulk[ENGINE]:7.1f} questions a second")
    typer.echo(f"cold start    {speed.cold_s:7.2f} s to the first answer, {speed.cold_mb:.0f} MB after it")
