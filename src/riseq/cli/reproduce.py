"""``riseq reproduce``: the paper's tables and figures, next to ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riseq.cli import FAILED, LimitOption, notify
from riseq.types import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riseq.reproduce.plan import PlannedSystem

_STORE = Path("benchmarks", "predictions")


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
        failed = len(run_steps(steps, out, notify))
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
        notify(f"wrote {write_compact(report, compact)}")
    if not only:
        write_joined(board, out / "outputs")
    notify(f"wrote {page}")
    if failed:
        notify(f"{failed} steps failed; their systems are shown as not run. The same command tries them again")
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

    folders = [Path(name), Path(riseq.__file__).resolve().parents[2] / name]
    found = next((folder for folder in folders if folder.is_dir()), None)
    if found is None:
        raise InputError(f"{name}: no such folder; run riseq in its checkout, or name the folder")
    return found
