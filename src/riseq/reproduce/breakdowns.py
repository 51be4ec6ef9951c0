"""Past the paper: scores by what the gold edit does, by length and by turn; and what information is lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from riseq.metrics.content import Kind, find_kind, measure_loss
from riseq.metrics.scores import Mask
from riseq.reproduce.document import Cell, Column, Figure, Row, Table
from riseq.reproduce.evidence import Evidence, find_turn
from riseq.reproduce.figures import draw_lines
from riseq.reproduce.plan import SET_TITLES, TEST, UNSEEN, Planned
from riseq.text.words import forms
from riseq.types import Example

Parts = Mapping[str, Mask]
LENGTHS = ((1, 6), (7, 9), (10, 12), (13, 16), (17, None))
TURNS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, None))


def build_phenomena(evidence: Evidence) -> list[Table]:
    """Return BLEU-4 and exact matches by the kind of the gold edit, a table a set."""
    tables = []
    for dataset in (TEST, UNSEEN):
        parts = split_kinds(evidence.examples(dataset))
        title = f"By phenomenon, {SET_TITLES[dataset]}"
        tables.append(_build_parts(evidence, dataset, parts, f"phenomena-{dataset}", title, "Gold edit", "phenomena"))
    return tables


def build_lengths(evidence: Evidence) -> list[Table | Figure]:
    """Return BLEU-4 by the number of words of the question, a table a set and a figure."""
    return _build_ranges(evidence, lambda one: len(forms(one.question)), LENGTHS, "length", "Words of the question")


def build_turns(evidence: Evidence) -> list[Table | Figure]:
    """Return BLEU-4 by the question's number in its dialogue, a table a set and a figure."""
    return _build_ranges(evidence, find_turn, TURNS, "turns", "Turn")


def build_information(evidence: Evidence) -> Table:
    """Return the content words of the targets that each system's outputs lack."""
    sets = (TEST, UNSEEN)
    rows = []
    for planned in _shown(evidence):
        cells: list[Cell] = []
        for dataset in sets:
            measured = evidence.measured(planned.name, dataset)
            if measured is None:
                cells += [Cell("not run", None, planned.make_command())] * 3
                continue
            loss = measure_loss(measured.texts, evidence.targets(dataset))
            shares = (100 * loss.words, 100 * loss.questions, 100 * loss.extra)
            cells += [Cell(f"{share:.1f}", share, "riseq reproduce --only information") for share in shares]
        ran = any(cell.value is not None for cell in cells)
        command = evidence.made_by(planned.name, TEST) if ran else planned.make_command()
        rows.append(Row(planned.title, tuple(cells), "ours" if ran else "missing", command))
    heads = ("words lost %", "questions with a loss %", "words too many %")
    columns = tuple(Column(head, SET_TITLES[dataset]) for dataset in sets for head in heads)
    note = (
        "Words lost: of the content words of the targets, those the outputs lack. Words too many: of the content "
        "words of the outputs, those the targets lack, which is what a person would have left out. Content words are"
        " those outside a list of closed-class words (riseq.metrics.content), unstemmed."
    )
    return Table("information", "Information lost", "Method", columns, tuple(rows), note)


def split_kinds(examples: Sequence[Example]) -> Parts:
    """Return which examples are of each kind."""
    kinds = np.array([find_kind(one.question, one.target or "").value for one in examples])
    return {kind.value: kinds == kind.value for kind in Kind}


def split_ranges(numbers: Sequence[int], ranges: Sequence[tuple[int, int | None]]) -> Parts:
    """Return which numbers are in each range, both ends included; None is no upper end."""
    array = np.array(numbers)
    return {
        _name_range(low, high): (array >= low) & (array <= (high if high is not None else array.max(initial=low)))
        for low, high in ranges
    }


def _name_range(low: int, high: int | None) -> str:
    return f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"


def _shown(evidence: Evidence) -> list[Planned]:
    return evidence.systems("baseline", "rise")


def _build_ranges(
    evidence: Evidence,
    read: Callable[[Example], int],
    ranges: Sequence[tuple[int, int | None]],
    key: str,
    first: str,
) -> list[Table | Figure]:
    built: list[Table | Figure] = []
    for dataset in (TEST, UNSEEN):
        parts = split_ranges([read(one) for one in evidence.examples(dataset)], ranges)
        title = f"{first}, {SET_TITLES[dataset]}"
        table = _build_parts(evidence, dataset, parts, f"{key}-{dataset}", title, first, key)
        built.append(table)
        if dataset == TEST:
            built.append(_draw_parts(table, first, f"{key}-figure"))
    return built


def _build_parts(
    evidence: Evidence, dataset: str, parts: Parts, key: str, title: str, first: str, section: str
) -> Table:
    shown = [one for one in _shown(evidence) if evidence.passes(one.name, dataset) is not None]
    missing = [one.title for one in _shown(evidence) if one not in shown]
    command = f"riseq reproduce --only {section}"
    rows = []
    for name, mask in parts.items():
        n = int(mask.sum())
        if not n:
            continue
        cells = [Cell(f"{n:,}", n, command)]
        for planned in shown:
            measured = evidence.measured(planned.name, dataset)
            value = measured.score("bleu4", mask) if measured is not None else 0.0
            cells.append(Cell(f"{value:.1f}", value, command))
        for planned in shown:
            measured = evidence.measured(planned.name, dataset)
            value = measured.score("exact", mask) if measured is not None else 0.0
            cells.append(Cell(f"{value:.1f}", value, command))
        rows.append(Row(name, tuple(cells), command=command))
    columns = (
        Column("n"),
        *(Column(one.title, "BLEU-4") for one in shown),
        *(Column(one.title, "exact match %") for one in shown),
    )
    note = f"Not run: {', '.join(missing)}." if missing else ""
    return Table(key, title, first, columns, tuple(rows), note)


def _draw_parts(table: Table, first: str, key: str) -> Figure:
    names = [row.label for row in table.rows]
    lines: dict[str, list[float]] = {}
    for place, column in enumerate(table.columns):
        if column.group == "BLEU-4":
            lines[column.title] = [row.cells[place].value or 0.0 for row in table.rows]
    data: dict[str, Any] = {"x": names, "bleu4": lines}
    svg = draw_lines(names, lines, first, "BLEU-4")
    return Figure(key, f"BLEU-4 by {first.lower()}, CANARD", svg, data)
