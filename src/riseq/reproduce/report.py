"""The report put together and written: its sections, and its HTML, Markdown, JSON and figures."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from statistics import fmean
from typing import Any

from riseq.data.tables import write_rows
from riseq.files import write_json, write_text
from riseq.jobs import digest
from riseq.model.folder import read_json
from riseq.reproduce import analysis_tables, document, score_tables
from riseq.reproduce.cases import build_cases
from riseq.reproduce.document import Cell, Column, Figure, Part, Report, Row, Section, Table
from riseq.reproduce.facts import describe_machine, measure_speed, open_system
from riseq.reproduce.figures import load_matplotlib, on_white
from riseq.reproduce.plan import (
    COUNTED_PASSES,
    GROUNDED_SETS,
    SAVED_SETS,
    UNSEEN,
    PlannedSystem,
    read_paper,
    read_texts,
    write_note,
)
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.registry import SYSTEMS, SystemChoice
from riseq.systems.saved import MANIFEST, Store, file_stem
from riseq.terminal import track
from riseq.types import Example, InputError, suggest

SPEED_FILE = "speed.json"
SPEED_COMMAND = "riseq reproduce --speed"
PAGE, TEXT, NUMBERS = "report.html", "report.md", "report.json"


def measure_speeds(
    store: Store, systems: Sequence[PlannedSystem], runs: Path, examples: Sequence[Example], day: date
) -> None:
    """Measure all of ``systems`` that can run here, one after the other on ``examples``, and write that into ``store``.

    A trained one is looked for in ``runs``; else it is the one that ships, where there is one. What was measured before
    of the others on as many questions stays, with its day, machine and model.
    """
    found = [one for one in systems if can_run(one, runs)]
    before = read_speeds(store)
    speeds = dict(before["systems"]) if before.get("rows") == len(examples) else {}
    for one in track(found, len(found), "speed"):
        model = one.find_model(runs)
        speed = asdict(measure_speed(open_system(one.system, model, COUNTED_PASSES), examples))
        folder = SystemChoice(one.system, model).resolve().model
        facts = {"day": str(day), "machine": describe_machine(), "model": folder and digest(folder)}
        speeds[one.name] = {**speed, **facts}
    write_json(store.folder / SPEED_FILE, {"data": UNSEEN, "rows": len(examples), "systems": speeds})


def read_speeds(store: Store) -> dict[str, Any]:
    """Return what ``measure_speeds`` wrote into ``store``; no systems where nothing was measured."""
    path = store.folder / SPEED_FILE
    return read_json(path) if path.is_file() else {"systems": {}}


def can_run(planned: PlannedSystem, runs: Path) -> bool:
    """Return whether a system needs no model, or its model is in ``runs`` or ships."""
    return planned.recipe is None or planned.ships or (planned.system in SYSTEMS and bool(planned.find_model(runs)))


def build_speed(board: Scoreboard) -> Table:
    """Return how fast each system is, with the day it was measured and the model."""
    measured, rows = read_speeds(board.store), []
    for planned in board.systems("baseline", "rise"):
        found = measured["systems"].get(planned.name)
        keys = ("questions_per_s", "median_ms", "p95_ms")
        missing = Cell.not_run(SPEED_COMMAND)
        cells = [Cell.number(found[key], SPEED_COMMAND, ",.1f") if found else missing for key in keys]
        cells += [Cell(found["day"]), Cell(found["model"] or "none")] if found else [missing] * 2
        rows.append(Row.of_system(planned.title, cells, SPEED_COMMAND, SPEED_COMMAND))
    heads = ("questions a second, as a file", "median ms, one at a time", "95th percentile ms", "measured", "model")
    columns, note = tuple(map(Column, heads)), write_note("speed", command=SPEED_COMMAND)
    if measured["systems"]:
        machines = "; ".join(sorted({one["machine"] for one in measured["systems"].values()}))
        note = f"{measured['rows']} questions of {measured['data']}, on {machines}. {note}"
    return Table("speed", "Speed", "Method", columns, tuple(rows), note)


def build_training(board: Scoreboard) -> Table:
    """Return the parameters and training hours of every method, ours and the paper's."""
    rows = []
    for one in board.systems("baseline", "rise"):
        ran = sum(seed.name in board.manifests for seed in board.repeats(one))
        title = f"{one.title}, mean of a seed" if ran > 1 else one.title
        rows.append(_training_row(board, board.repeats(one), title))
    for variant in read_paper()["ablation"]:
        rows.append(_training_row(board, board.seeds(variant), f"{variant}, ablation, mean of a seed"))
    heads = ("parameters, M", "training, hours")
    columns = (
        *(Column(whose, head) for head in heads for whose in ("ours", "paper")),
        *map(Column, ("our steps", "our hardware", "seed", "trained on")),
    )
    return Table("training", "Parameters and training time", "Method", columns, tuple(rows), write_note("training"))


def _training_row(board: Scoreboard, seeds: list[PlannedSystem], title: str) -> Row:
    ran = [manifest for one in seeds if (manifest := board.manifests.get(one.name))]
    key = seeds[0].paper or ""
    size, hours = read_paper()["parameters"].get(key), read_paper()["hours"].get(key)
    printed = (Cell.number(None if size is None else size / 1e6, form=".0f"), Cell.number(hours))
    if not ran:
        command = seeds[0].make_command()
        none = Cell.not_run(command)
        return Row(title, (none, printed[0], none, printed[1], *[none] * 4), "missing", command)
    if seeds[0].recipe is None and ran[0].training is None and ran[0].parameters is None:
        none = Cell("none")
        return Row(title, (none, printed[0], none, printed[1], *[none] * 3, Cell("nothing")))
    trainings = [one.training for one in ran if one.training is not None]
    sizes = [one.parameters for one in ran if one.parameters is not None]
    taken = [one.hours for one in trainings if one.hours is not None]
    steps = [one.steps for one in trainings if one.steps is not None]
    hardware = sorted({one.hardware for one in trainings if one.hardware})
    numbers = [str(one.seed) for one in ran if one.seed is not None]
    sets = sorted({name for one in ran for name in one.trained_on})
    made_by = (board.made_by(one.name, name) for one in seeds for name in SAVED_SETS)
    made = " && ".join(one.command for one in trainings) or next(filter(None, made_by), None)
    cells = (
        Cell.number(fmean(sizes) / 1e6 if sizes else None, made, ".0f"),
        printed[0],
        Cell.number(fmean(taken) if taken else None, made, ".2f"),
        printed[1],
        Cell.number(fmean(steps) if steps else None, made, ",.0f"),
        *(Cell(text or "not told") for text in ("; ".join(hardware), ", ".join(numbers), ", ".join(sets))),
    )
    return Row(title, cells, command=made)


def build_sources(board: Scoreboard) -> list[Table]:
    """Return the commands behind each system's numbers; and what was not run, with the commands that would run it."""
    made, missing = list[Row](), list[Row]()
    for planned in board.systems("baseline", "repeat", "rise", "ablation"):
        lacks = [dataset for dataset in SAVED_SETS if board.passes(planned.name, dataset) is None]
        more = [one for one in GROUNDED_SETS if board.passes(planned.name, one) is not None]
        for dataset in (*(one for one in SAVED_SETS if one not in lacks), *more):
            command = board.made_by(planned.name, dataset) or "not told"
            again = Cell(board.rescore_command(planned.name, dataset), code=True)
            made.append(Row(planned.title, (Cell(dataset), Cell(command, code=True), again), command=command))
        if lacks:
            command = planned.make_command()
            missing.append(Row(planned.title, (Cell(", ".join(lacks)), Cell(command, code=True)), command=command))
    heads = (Column("on"), Column("outputs made by"), Column("scored again by"))
    tables = [Table("sources", "Saved predictions", "Method", heads, tuple(made))]
    wanted = (Column("on"), Column("would be made by"))
    return [*tables, Table("missing", "Not run", "Method", wanted, tuple(missing))] if missing else tables


SECTIONS: dict[str, Callable[[Scoreboard], Part | Sequence[Part]]] = {
    "table1": score_tables.build_overall,
    "table2": score_tables.build_ablation,
    "first-turns": score_tables.build_first_turns,
    "answers": score_tables.build_answers,
    "validation": score_tables.build_validation,
    "training": build_training,
    "iterations": analysis_tables.build_iterations,
    "passes": analysis_tables.build_passes,
    "cases": build_cases,
    "phenomena": analysis_tables.build_phenomena,
    "length": analysis_tables.build_lengths,
    "turns": analysis_tables.build_turns,
    "information": analysis_tables.build_information,
    "speed": build_speed,
    "sources": build_sources,
}
"""What builds the parts of each section; their titles and what they show are in ``report.json``."""


def build_report(board: Scoreboard, only: Sequence[str] = ()) -> Report:
    """Return the report, or the sections of it that are named."""
    unknown = next((name for name in only if name not in SECTIONS), None)
    if unknown is not None:
        raise InputError(f"no section is called {unknown!r}; {suggest(unknown, SECTIONS)}")
    load_matplotlib()  # what is missing is said before the work rather than after it
    texts = read_texts()
    wanted = [name for name in SECTIONS if not only or name in only]
    sections = []
    for name in track(wanted, len(wanted), "report"):
        built = SECTIONS[name](board)
        parts = tuple(built) if isinstance(built, Sequence) else (built,)
        sections.append(Section(name, **texts["sections"][name], command=f"riseq reproduce --only {name}", parts=parts))
    systems = {name: manifest.to_dict() for name, manifest in board.manifests.items()}
    return Report("RISE, reproduced", tuple(texts["intro"]), tuple(sections), systems)


def write_report(report: Report, out: Path) -> Path:
    """Write the report's three files and its figures into ``out``, and return the page."""
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / PAGE, document.render_html(report))
    write_text(out / TEXT, document.render_markdown(report))
    numbers = json.dumps(document.report_to_dict(report), indent=1, ensure_ascii=False, allow_nan=False)
    write_text(out / NUMBERS, f"{numbers}\n")
    _write_figures(report, out)
    return out / PAGE


def write_compact(report: Report, folder: Path) -> Path:
    """Write the compact copy into ``folder``: Markdown with a handful of cases, and the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / TEXT, document.render_markdown(report, compact=True))
    _write_figures(report, folder)
    return folder / TEXT


def write_joined(board: Scoreboard, folder: Path) -> int:
    """Write every system's outputs beside question and target, with its manifest; return how many files there are."""
    sets = (*SAVED_SETS, *GROUNDED_SETS)
    saved = [(name, dataset) for name in board.manifests for dataset in sets if board.store.find(name, dataset)]
    for name, dataset in track(saved, len(saved), "outputs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        write_rows(folder / name / f"{file_stem(dataset)}.jsonl.gz", board.joined_rows(name, dataset))
        shutil.copyfile(board.store.folder / name / MANIFEST, folder / name / MANIFEST)
    return len(saved)


def _write_figures(report: Report, folder: Path) -> None:
    figures = [part for section in report.sections for part in section.parts if isinstance(part, Figure)]
    if figures:
        (folder / "figures").mkdir(exist_ok=True)
    for figure in figures:
        write_text(folder / "figures" / f"{figure.key}.svg", on_white(figure.svg) + "\n")
