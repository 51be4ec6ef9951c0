"""``riseq reproduce``: the paper's tables and figures, next to ours."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from riseq.cli import FAILED, LimitOption, notify, option
from riseq.hub import find_in_checkout, find_shipped
from riseq.types import InputError, suggest


def reproduce(
    out: Annotated[Path, option("--out -o FOLDER", "Where the report goes.")] = Path("report"),
    predictions: Annotated[Path | None, option("--predictions FOLDER", "Where the outputs are saved.")] = None,
    only: Annotated[list[str] | None, option("--only SECTION", "Make this section alone; repeat it.")] = None,
    compact: Annotated[Path | None, option("--compact FOLDER", "Also write a short report.md here.")] = None,
    speed: Annotated[bool, option("--speed", "First measure how fast each system is here.")] = False,
    retrain: Annotated[bool, option("--retrain", "First train every system by its recipe, and run it.")] = False,
    systems: Annotated[list[str] | None, option("--system -s NAME", "Retrain or measure this one; repeat it.")] = None,
    runs: Annotated[Path, option("--runs FOLDER", "With --speed: where trained models are.")] = Path("runs"),
    recipes: Annotated[Path | None, option("--recipes FOLDER", "With --retrain.")] = None,
    change: Annotated[list[str] | None, option("--set NAME=VALUE", "Over all recipes; SYSTEM:NAME=VALUE: one.")] = None,
    cards: Annotated[bool, option("--cards", "Also refresh metadata and scores of the shipped models' cards.")] = False,
    readme: Annotated[
        list[Path] | None, option("--readme FILE", "Also write results into this page; repeat it.")
    ] = None,
    limit: LimitOption = None,
) -> None:
    """Make the paper's tables and figures, next to ours.

    FOLDER gets report.html (one file, opens from disk), report.md,
    report.json, the figures, and every system's outputs beside question and
    target (outputs/). Reads saved predictions and the sets under RISEQ_DATA.

    [bold]--retrain[/] first trains and runs every system by its recipe, in FOLDER/runs
    and FOLDER/predictions; rise-small and rise-large without the teachers of
    the committed report (recipes/ship.yaml). What was stopped continues.

    [bold]--cards[/] writes the scores, data and licence of models/default and models/large
    into the metadata of their cards, which the Hugging Face hub reads, and the scores
    into the tables of their text; [bold]--readme[/] the
    results into a page (README.md, docs/everyday.md), between two comments that it has.

    \b
    [bold]Examples[/]
      riseq reproduce --out report
      riseq reproduce --only table1 --only cases
      riseq reproduce --compact docs --cards --readme README.md --readme docs/everyday.md
      riseq reproduce --speed --only speed
      riseq reproduce --retrain --out again --set device=cuda --set querysim:backbone=gpt2
    """
    from riseq.data.dataset import load_dataset
    from riseq.reproduce.cards import refresh_cards
    from riseq.reproduce.plan import PLAN, RETRAINED, RUNS, UNSEEN, plan_steps, run_steps
    from riseq.reproduce.readme import write_readme
    from riseq.reproduce.report import build_report, measure_speeds, write_compact, write_joined, write_report
    from riseq.reproduce.scoreboard import Scoreboard, shown_path
    from riseq.systems.saved import Store

    names = [one.name for one in PLAN]
    unknown = next((name for name in systems or [] if name not in names), None)
    if unknown is not None:
        raise InputError(f"no system of the report is called {unknown!r}; {suggest(unknown, names)}")
    if (cards or readme) and (limit or retrain):
        option_name = "--cards" if cards else "--readme"
        raise InputError(
            f"{option_name} goes with the committed predictions and all rows, not with --retrain or --limit"
        )
    chosen = [one for one in PLAN if not systems or one.name in systems]
    failed = 0
    if retrain:
        steps = plan_steps(chosen, out, recipes or _find("recipes"), change or [], limit)
        failed = len(run_steps(steps, out, notify))
        predictions, runs = out / RETRAINED, out / RUNS
    elif change or recipes:
        raise InputError("--set and --recipes go with --retrain; a report is made from saved predictions without it")
    store = Store(predictions or _find("benchmarks/predictions"))
    if not store.names():
        hint = "riseq predict writes them, --retrain makes them all"
        raise InputError(f"{store.folder}: has no saved predictions; {hint}")
    if speed:
        timed = [one for one in chosen if one.group in ("baseline", "rise")]
        measure_speeds(store, timed, runs, load_dataset(UNSEEN)[:limit], date.today())
    board = Scoreboard(store, limit, shown_as=shown_path(store.folder))
    report = build_report(board, only or [])
    page = write_report(report, out)
    if compact is not None:
        notify(f"wrote {write_compact(report, compact)}")
    if cards:
        for card in refresh_cards(board, find_shipped()):
            notify(f"wrote {card}")
    for path in readme or []:
        notify(f"wrote {write_readme(board, path)}")
    if not only:
        write_joined(board, out / "outputs")
    notify(f"wrote {page}")
    if failed:
        notify(f"{failed} steps failed; their systems are shown as not run. The same command tries them again")
        raise typer.Exit(FAILED)


def _find(name: str) -> Path:
    """Return a folder of the checkout: below the current one, or beside the installed package's source."""
    found = Path(name) if Path(name).is_dir() else find_in_checkout(Path(name))
    if found is None:
        raise InputError(f"{name}: no such folder; run riseq in its checkout, or name the folder")
    return found
