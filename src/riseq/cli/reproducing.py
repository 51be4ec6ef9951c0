"""The verbs of the report: write a system's outputs down, and make the paper's tables and figures of them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riseq.cli.options import ModelOption, SystemOption
from riseq.cli.shared import say
from riseq.cli.simplifying import DEFAULT_SYSTEM
from riseq.types import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riseq.reproduce.plan import PlannedSystem

_STORE = Path("benchmarks", "predictions")
FAILED = 1

LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Take the first N rows of each set alone.")
]


def predict(
    into: Annotated[Path, typer.Option("--into", "-i", metavar="FOLDER", help="The system's folder in the store.")],
    system: SystemOption = DEFAULT_SYSTEM,
    model: ModelOption = None,
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data", "-d", metavar="SET", help="A set's name under RISEQ_DATA; repeat it. The report's three."
        ),
    ] = None,
    take: Annotated[
        Path | None,
        typer.Option(
            "--take", metavar="FOLDER", help="Take outputs that are already there, as SET.jsonl, and run nothing."
        ),
    ] = None,
    made_by: Annotated[
        str | None, typer.Option("--made-by", metavar="COMMAND", help="With --take: the command that made them.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its name in the tables.")] = None,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What else should be known of it.")] = "",
    hardware: Annotated[
        str | None, typer.Option("--trained-on", metavar="TEXT", help="The machine it was trained on.")
    ] = None,
    hours: Annotated[float | None, typer.Option("--hours", metavar="H", min=0, help="How long it trained.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Also run sets whose outputs are already there.")] = False,
    limit: LimitOption = None,
) -> None:
    """Write a system's outputs on sets down, for [bold]riseq reproduce[/].

    FOLDER gets a packed JSONL file a set (id and the text after each pass;
    not the set's own texts) and manifest.json, which tells how they were
    made. Its name is the system's in the report. A run that is stopped goes
    on where it stopped; outputs of another model, data set or version of riseq
    are made again.

    \b
    [bold]Examples[/]
      riseq predict --system rule --into benchmarks/predictions/rule
      riseq predict -s rise -m runs/large/best --into benchmarks/predictions/rise-large
      riseq predict -s rise -m runs/large/best --take outputs --into benchmarks/predictions/rise-large
      riseq predict -s mine.py:Mine --title "Mine" --into benchmarks/predictions/mine
    """
    from riseq.reproduce.plan import SETS
    from riseq.reproduce.predict import PredictionJob, import_outputs, note_training, save_outputs
    from riseq.systems.saved import Store

    store, name = Store(into.parent), into.name
    sets = data or list(SETS)
    told = (("--model", model), ("--limit", limit), ("--take", take), ("--into", into))
    given = [part for option, value in told if value is not None for part in (option, str(value))]
    command = shlex.join(["riseq", "predict", "--system", system, *given])
    job = PredictionJob(name, system, made_by or command, model, title, note, limit)
    done = save_outputs(store, job, sets, again) if take is None else import_outputs(store, job, take)
    if hardware is not None or hours is not None:
        note_training(store, name, hardware, hours)
    left = "" if take is not None or len(done) == len(sets) else f"; {len(sets) - len(done)} were there"
    say(f"wrote the outputs of {name} on {', '.join(done) or 'no set'} to {into}{left}")


def reproduce(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the report goes.")] = Path("report"),
    predictions: Annotated[
        Path | None, typer.Option("--predictions", metavar="FOLDER", help="Saved predictions; benchmarks/predictions.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="SECTION", help="Make this section alone; repeat it.")
    ] = None,
    compact: Annotated[
        Path | None,
        typer.Option("--compact", metavar="FOLDER", help="Also write a short report.md and its figures here."),
    ] = None,
    speed: Annotated[bool, typer.Option("--speed", help="First measure how fast each system is here.")] = False,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="First train every system by its recipe, and run it.")
    ] = False,
    systems: Annotated[
        list[str] | None,
        typer.Option("--system", "-s", metavar="NAME", help="With --retrain or --speed: this one; repeat it."),
    ] = None,
    runs: Annotated[
        Path, typer.Option("--runs", metavar="FOLDER", help="With --speed: where trained models are.")
    ] = Path("runs"),
    recipes: Annotated[Path | None, typer.Option("--recipes", metavar="FOLDER", help="With --retrain.")] = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="With --retrain: on top of each recipe; SYSTEM:NAME=VALUE for one alone; repeat it.",
        ),
    ] = None,
    limit: LimitOption = None,
) -> None:
    """Make the paper's tables and figures, next to ours.

    FOLDER gets report.html (one file, opens from disk), report.md,
    report.json, the figures, and every system's outputs beside question and
    target (outputs/). Reads saved predictions and the sets under RISEQ_DATA.

    [bold]--retrain[/] trains every system by its recipe, runs it, and makes the report
    of that, in FOLDER/runs and FOLDER/predictions. rise-small and rise-large
    too are trained by their recipes alone: those of the committed report had
    teachers (benchmarks/train_models.sh). Trainings that are done are
    skipped, one that was stopped goes on.

    \b
    [bold]Examples[/]
      riseq reproduce --out report
      riseq reproduce --only table1 --only cases
      riseq reproduce --speed --only speed
      riseq reproduce --retrain --out again --set device=cuda --set querysim:backbone=gpt2
    """
    from riseq.reproduce.plan import PLAN, RETRAINED, RUNS, plan_steps, run_steps
    from riseq.reproduce.report import build_report, write_compact, write_joined, write_report
    from riseq.reproduce.scoreboard import Scoreboard, shown_path
    from riseq.systems.saved import Store

    chosen = _choose(PLAN, systems or [])
    failed = 0
    if retrain:
        steps = plan_steps(chosen, out, recipes or _find("recipes"), change or [], limit)
        failed = len(run_steps(steps, out, say))
        predictions, runs = out / RETRAINED, out / RUNS
    elif change or recipes:
        raise InputError("--set and --recipes go with --retrain; a report is made from saved predictions without it")
    store = Store(predictions or _find(str(_STORE)))
    if not store.names():
        raise InputError(
            f"{store.folder}: has no saved predictions; riseq predict writes them, --retrain makes them all"
        )
    if speed:
        from riseq.data.dataset import load_dataset
        from riseq.reproduce.plan import UNSEEN
        from riseq.reproduce.report import measure_speeds

        timed = [one for one in chosen if one.group != "ablation"]
        measure_speeds(store, timed, runs, load_dataset(UNSEEN)[:limit])
    board = Scoreboard(store, limit, shown_as=shown_path(store.folder))
    report = build_report(board, only or [])
    page = write_report(report, out)
    if compact is not None:
        say(f"wrote {write_compact(report, compact)}")
    if not only:
        write_joined(board, out / "outputs")
    say(f"wrote {page}")
    if failed:
        say(f"{failed} steps failed; their systems are told as not run. The same command tries them again")
        raise typer.Exit(FAILED)


def _choose(plan: Sequence[PlannedSystem], names: Sequence[str]) -> list[PlannedSystem]:
    unknown = next((name for name in names if name not in {one.name for one in plan}), None)
    if unknown is not None:
        raise InputError(
            f"no system of the report is called {unknown!r}; there are {', '.join(one.name for one in plan)}"
        )
    return [one for one in plan if not names or one.name in names]


def _find(name: str) -> Path:
    """Return a folder of the checkout: below the current one, or beside the installed package's source."""
    import riseq

    places = [Path(name), Path(riseq.__file__).resolve().parents[2] / name]
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise InputError(f"{name}: no such folder; run riseq in its checkout, or name the folder")
    return found
