"""``riseq predict``: a system's outputs on sets, written down for the report."""

import shlex
from pathlib import Path
from typing import Annotated

from riseq.cli import DEFAULT_SYSTEM, FirstTurnsOption, LimitOption, ModelOption, SystemOption, notify, option


def predict(
    into: Annotated[Path, option("--into -i FOLDER", "The system's folder in the store.")],
    system: SystemOption = DEFAULT_SYSTEM,
    model: ModelOption = None,
    data: Annotated[list[str] | None, option("--data -d SET", "A set (default the report's); repeat it.")] = None,
    take: Annotated[Path | None, option("--take FOLDER", "Import outputs (SET.jsonl) and run nothing.")] = None,
    made_by: Annotated[str | None, option("--made-by COMMAND", "With --take: the command that made them.")] = None,
    title: Annotated[str | None, option("--title TEXT", "Its name in the tables.")] = None,
    note: Annotated[str, option("--note TEXT", "What else should be known of it.")] = "",
    hardware: Annotated[str | None, option("--trained-on TEXT", "The machine it was trained on.")] = None,
    hours: Annotated[float | None, option("--hours H", "How long it trained.", min=0)] = None,
    trained_by: Annotated[str | None, option("--trained-by TEXT", "The command or steps that trained it.")] = None,
    first_turns: FirstTurnsOption = None,
    again: Annotated[bool, option("--again", "Also run sets whose outputs are already there.")] = False,
    limit: LimitOption = None,
) -> None:
    """Save a system's outputs on sets, for [bold]riseq reproduce[/].

    FOLDER gets a packed JSONL file a set (id and the text after each pass)
    and manifest.json, which says how they were made. Its name is the system's
    in the report. A run that was stopped continues; outputs of another model,
    data set or version of riseq are made again.

    [bold]--first-turns asked[/] also saves what RISE makes of questions without a dialogue,
    which it keeps by itself: the report then has both forms of its scores. With
    [bold]--take[/] it says that the outputs are such.

    \b
    [bold]Examples[/]
      riseq predict --system rule --into benchmarks/predictions/rule
      riseq predict -s rise -m runs/large/best --into benchmarks/predictions/rise-large
      riseq predict -s rise -m runs/large/best --take outputs --into benchmarks/predictions/rise-large
      riseq predict -s mine.py:Mine --title "Mine" --into benchmarks/predictions/mine
    """
    from riseq.reproduce.plan import SAVED_SETS
    from riseq.reproduce.predict import PredictionJob, import_outputs, note_training, save_outputs
    from riseq.systems.saved import Store

    store, name = Store(into.parent), into.name
    sets = data or list(SAVED_SETS)
    options = (
        ("--model", model),
        ("--first-turns", first_turns),
        ("--limit", limit),
        ("--take", take),
        ("--into", into),
    )
    given = [part for option, value in options if value is not None for part in (option, str(value))]
    command = shlex.join(["riseq", "predict", "--system", system, *given])
    job = PredictionJob(name, system, made_by or command, model, title, note, limit, first_turns)
    done = save_outputs(store, job, sets, again) if take is None else import_outputs(store, job, take)
    if any(value is not None for value in (hardware, hours, trained_by)):
        note_training(store, name, hardware, hours, trained_by)
    left = "" if take is not None or len(done) == len(sets) else f"; {len(sets) - len(done)} were there"
    notify(f"wrote the outputs of {name} on {', '.join(done) or 'no set'} to {into}{left}")
