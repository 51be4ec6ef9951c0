"""What the systems cost: parameters, training time, and speed on one machine."""

from __future__ import annotations

import json
from statistics import fmean
from typing import Any

from riseq.reproduce import paper
from riseq.reproduce.document import Cell, Column, Row, Table
from riseq.reproduce.evidence import Evidence
from riseq.reproduce.plan import SETS, Planned
from riseq.reproduce.speed import SPEED_COMMAND, SPEED_FILE

_NONE = Cell("none")


def build_training(evidence: Evidence) -> Table:
    """Return the parameters and training hours of every method, ours and the paper's."""
    rows = [_training_row(evidence, [one], one.title) for one in evidence.systems("baseline", "rise")]
    for variant in paper.ABLATION:
        seeds = [one for one in evidence.systems("ablation") if one.variant == variant]
        rows.append(_training_row(evidence, seeds, f"{variant}, ablation, mean of a seed"))
    columns = (
        Column("ours", "parameters, M"),
        Column("paper", "parameters, M"),
        Column("ours", "training, hours"),
        Column("paper", "training, hours"),
        Column("our hardware"),
        Column("seed"),
        Column("trained on"),
    )
    note = (
        "Ours: the time in training steps, without dev scores. A model started from others, or a pupil of them, took"
        " their hours before its own. The paper's are its average running times, on a machine it does not name."
    )
    return Table("training", "Parameters and training time", "Method", columns, tuple(rows), note)


def build_speed(evidence: Evidence) -> Table:
    """Return how fast each system is, as measured in one run on one machine."""
    told = _read_speed(evidence)
    rows = []
    for planned in evidence.systems("baseline", "rise"):
        found = told.get("systems", {}).get(planned.name)
        if found is None:
            rows.append(
                Row(
                    planned.title,
                    tuple(Cell("not run", None, SPEED_COMMAND) for _ in range(3)),
                    "missing",
                    SPEED_COMMAND,
                )
            )
            continue
        cells = (
            Cell(f"{found['questions_per_s']:,.1f}", found["questions_per_s"], SPEED_COMMAND),
            Cell(f"{found['median_ms']:,.1f}", found["median_ms"], SPEED_COMMAND),
            Cell(f"{found['p95_ms']:,.1f}", found["p95_ms"], SPEED_COMMAND),
        )
        rows.append(Row(planned.title, cells, command=SPEED_COMMAND))
    columns = (
        Column("questions a second, as a file"),
        Column("median ms, one at a time"),
        Column("95th percentile ms"),
    )
    where = f"One run on {told['machine']}: {told['rows']} questions of {told['data']}. " if told else ""
    note = f"{where}All passes counted, the model loaded and warm. As a file: the system may batch."
    return Table("speed", "Speed", "Method", columns, tuple(rows), note)


def _training_row(evidence: Evidence, seeds: list[Planned], title: str) -> Row:
    ran = [manifest for one in seeds if (manifest := evidence.manifests.get(one.name))]
    key = seeds[0].paper or ""
    told = (_paper_cell(paper.PARAMETERS.get(key), 1e6, 0), _paper_cell(paper.HOURS.get(key), 1.0, 1))
    if not ran:
        missing = Cell("not run", None, seeds[0].make_command())
        return Row(
            title, (missing, told[0], missing, told[1], missing, missing, missing), "missing", seeds[0].make_command()
        )
    if seeds[0].recipe is None and ran[0].training is None and ran[0].parameters is None:
        return Row(title, (_NONE, told[0], _NONE, told[1], Cell("none"), Cell("none"), Cell("nothing")))
    parameters = [one.parameters for one in ran if one.parameters is not None]
    trainings = [one.training for one in ran if one.training is not None]
    hours = [one.hours for one in trainings if one.hours is not None]
    hardware = sorted({one.hardware for one in trainings if one.hardware})
    sets = sorted({name for one in ran for name in one.trained_on})
    numbers = ", ".join(str(one.seed) for one in ran if one.seed is not None)
    told_by = (evidence.made_by(one.name, name) for one in seeds for name in SETS)
    command = " && ".join(one.command for one in trainings) or next(filter(None, told_by), None)
    return Row(
        title,
        (
            Cell(f"{fmean(parameters) / 1e6:.0f}", fmean(parameters) / 1e6, command)
            if parameters
            else Cell("not told"),
            told[0],
            Cell(f"{fmean(hours):.2f}", fmean(hours), command) if hours else Cell("not told"),
            told[1],
            Cell("; ".join(hardware) or "not told"),
            Cell(numbers or "not told"),
            Cell(", ".join(sets) or "not told"),
        ),
        command=command,
    )


def _paper_cell(value: float | None, unit: float, digits: int) -> Cell:
    return Cell("not told") if value is None else Cell(f"{value / unit:.{digits}f}", value / unit)


def _read_speed(evidence: Evidence) -> dict[str, Any]:
    path = evidence.store.folder / SPEED_FILE
    told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return told
