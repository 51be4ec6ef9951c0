"""Tables and figures past the scores: passes, kinds of gold edit, lengths, turns and lost information."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from riseq.metrics.content import Kind, find_kind, measure_loss
from riseq.metrics.passes import map_passes, share_worse
from riseq.metrics.scores import ExampleScores, Mask
from riseq.reproduce.document import Cell, Column, Figure, Row, Table
from riseq.reproduce.figures import draw_heatmap, draw_lines
from riseq.reproduce.plan import (
    COUNTED_PASSES,
    SAVED_PASSES,
    SET_TITLES,
    TEST,
    TEST_SETS,
    PlannedSystem,
    read_paper,
    write_note,
)
from riseq.reproduce.score_tables import list_rows
from riseq.reproduce.scoreboard import Scoreboard, find_turn
from riseq.text.words import forms
from riseq.types import Example

Parts = Mapping[str, Mask]
Ranges = Sequence[tuple[int, int | None]]
FEWEST = 5
"""A mean over fewer examples is not drawn."""
LENGTHS: Ranges = ((1, 6), (7, 9), (10, 12), (13, 16), (17, None))
TURNS: Ranges = (*((turn, turn) for turn in range(1, 9)), (9, None))


def build_iterations(board: Scoreboard) -> list[Table | Figure]:
    """Return the heatmap of the mean number of passes, and the same as a table."""
    planned = board.main_system()
    passes = planned and board.passes(planned.name, TEST)
    scores = planned and board.scores(planned.name, TEST)
    if not planned or not passes or not scores:
        return []
    limit = board.counted(planned.name) or COUNTED_PASSES
    found = map_passes(board.questions(TEST), scores.texts, [min(limit, len(made)) for made in passes])
    means = np.where(found.counts >= FEWEST, found.means, np.nan)
    command = "riseq reproduce --only iterations"
    rows, columns = ([*map(str, range(size - 1)), f"{size - 1}+"] for size in means.shape)
    data: dict[str, Any] = {
        "system": planned.name,
        "mean_passes": [[None if np.isnan(value) else round(float(value), 4) for value in row] for row in means],
        "examples": found.counts.tolist(),
        "columns": columns,
        "rows": rows,
    }
    svg = draw_heatmap(means, columns, rows, "words only in the question x", "words only in the output y")
    note = write_note("iterations", system=planned.title, limit=limit, fewest=FEWEST)
    figure = Figure("iterations-figure", "Editing iterations", svg, data, note)

    def cell(mean: float, count: int) -> Cell:
        return Cell(f"{mean:.2f} ({count})", float(mean), command) if count else Cell("")

    heads = tuple(Column(name, "words only in x") for name in columns)
    fields = zip(rows, found.means, found.counts, strict=True)
    shown = tuple(Row(name, tuple(map(cell, *pair)), command=command) for name, *pair in fields)
    return [figure, Table("iterations", "Mean number of passes (and questions)", "only in y", heads, shown)]


def build_passes(board: Scoreboard) -> list[Table | Figure]:
    """Return BLEU-4 after at most 1 to 5 passes, BLEU-1 after one and all that count, and how many get worse."""
    command = "riseq reproduce --only passes"
    numbers = range(1, SAVED_PASSES + 1)
    rows: list[Row] = []
    lines: dict[str, list[float]] = {}
    for planned in board.systems("rise", "ablation"):
        if planned.system != "rise":
            continue
        after = [scores for limit in numbers if (scores := board.scores(planned.name, TEST, limit))]
        if after:
            bleu = [scores.score("bleu4") for scores in after]
            worse = [100 * share for share in share_worse([scores.each["bleu4"] for scores in after])]
            ends = (after[0].score("bleu1"), after[COUNTED_PASSES - 1].score("bleu1"))
            cells = tuple(Cell.number(value, command) for value in (*bleu, *ends, *worse))
            rows.append(Row(planned.title, cells, command=board.made_by(planned.name, TEST)))
        elif planned.group == "rise":
            make = planned.make_command()
            rows.append(Row(planned.title, (Cell.not_run(make),) * (SAVED_PASSES + 4), "missing", make))
        if after and planned.group == "rise":
            lines[planned.title] = bleu
    printed, worst = read_paper()["passes_bleu4"], read_paper()["worse"]
    told, none = Cell(f"about {worst:.0f}", worst), Cell("not told")
    shown = (*map(Cell.number, printed), none, none, told, none)
    rows.append(Row("RISE, paper", shown, "paper"))
    columns = (
        *(Column(str(number), "BLEU-4 after at most ... passes") for number in numbers),
        *(Column(str(number), "BLEU-1") for number in (1, COUNTED_PASSES)),
        Column("at some pass", "% worse"),
        Column("last below first", "% worse"),
    )
    table = Table("passes", "Influence of the number of passes", "Method", columns, tuple(rows), write_note("passes"))
    if not lines:
        return [table]
    lines["RISE, paper"] = printed
    names = [str(number) for number in numbers]
    svg = draw_lines(names, lines, "passes at most", "BLEU-4")
    return [table, Figure("passes-figure", "BLEU-4 by the number of passes", svg, {"passes": names, "bleu4": lines})]


def build_phenomena(board: Scoreboard) -> list[Table]:
    """Return BLEU-4 and exact matches by the kind of the gold edit, a table a set."""
    tables = []
    for dataset in TEST_SETS:
        kinds = np.array([find_kind(one.question, one.target or "").value for one in board.examples(dataset)])
        parts = {kind.value: kinds == kind.value for kind in Kind}
        tables.append(_build_parts(board, dataset, parts, "phenomena", "By phenomenon", "Gold edit"))
    return tables


def build_lengths(board: Scoreboard) -> list[Table | Figure]:
    """Return BLEU-4 by the number of words of the question, a table a set and a figure."""
    return _build_ranges(board, lambda one: len(forms(one.question)), LENGTHS, "length", "Words of the question")


def build_turns(board: Scoreboard) -> list[Table | Figure]:
    """Return BLEU-4 by the question's number in its dialogue, a table a set and a figure."""
    return _build_ranges(board, find_turn, TURNS, "turns", "Turn")


def build_information(board: Scoreboard) -> Table:
    """Return the content words of the targets that each system's outputs lack; of several seeds the mean."""
    rows = []
    for title, systems in list_rows(board, ()).items():
        cells: list[Cell] = []
        for dataset in TEST_SETS:
            every = [scores.texts for scores in _score_seeds(board, systems, dataset)]
            if not every:
                cells += [Cell.not_run(systems[0].make_command())] * 3
                continue
            losses = [measure_loss(texts, board.targets(dataset)) for texts in every]
            shares = zip(*((loss.words, loss.questions, loss.extra) for loss in losses), strict=True)
            cells += [Cell.number(100 * fmean(share), "riseq reproduce --only information") for share in shares]
        rows.append(Row.of_system(title, cells, board.made_by(systems[0].name, TEST), systems[0].make_command()))
    heads = ("words lost %", "questions with a loss %", "words too many %")
    columns = tuple(Column(head, SET_TITLES[dataset]) for dataset in TEST_SETS for head in heads)
    return Table("information", "Information lost", "Method", columns, tuple(rows), write_note("information"))


def _score_seeds(board: Scoreboard, systems: Sequence[PlannedSystem], dataset: str) -> list[ExampleScores]:
    return [scores for one in systems if (scores := board.scores(one.name, dataset)) is not None]


def split_ranges(numbers: Sequence[int], ranges: Ranges) -> Parts:
    """Return which numbers are in each range, both ends included; None is no upper end."""
    array = np.array(numbers)
    parts = {}
    for low, high in ranges:
        name = f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"
        parts[name] = (array >= low) & (array <= (np.inf if high is None else high))
    return parts


def _build_ranges(
    board: Scoreboard, read: Callable[[Example], int], ranges: Ranges, section: str, first: str
) -> list[Table | Figure]:
    """Return a table a set, with a figure of the first."""
    parts = {dataset: split_ranges([read(one) for one in board.examples(dataset)], ranges) for dataset in TEST_SETS}
    seen, unseen = (_build_parts(board, dataset, parts[dataset], section, first, first) for dataset in TEST_SETS)
    names = [row.label for row in seen.rows]
    bleu = [(index, column.title) for index, column in enumerate(seen.columns) if column.group == "BLEU-4"]
    lines = {title: [row.cells[index].value or 0.0 for row in seen.rows] for index, title in bleu}
    svg = draw_lines(names, lines, first, "BLEU-4")
    title = f"BLEU-4 by {first.lower()}, CANARD"
    return [seen, Figure(f"{section}-figure", title, svg, {"x": names, "bleu4": lines}), unseen]


def _build_parts(board: Scoreboard, dataset: str, parts: Parts, section: str, title: str, first: str) -> Table:
    """Return the BLEU-4 and exact matches of every system on each part of a set; of several seeds the mean."""
    found = {title: _score_seeds(board, systems, dataset) for title, systems in list_rows(board, ()).items()}
    shown = {title: every for title, every in found.items() if every}
    missing = [title for title, every in found.items() if not every]
    command = f"riseq reproduce --only {section}"
    metrics = {"bleu4": "BLEU-4", "exact": "exact match %"}
    rows = []
    for name, mask in parts.items():
        if count := int(mask.sum()):
            rated = [[one.score(metric, mask) for one in every] for metric in metrics for every in shown.values()]
            cells = (Cell(f"{count:,}", count, command), *(Cell.number(fmean(values), command) for values in rated))
            rows.append(Row(name, cells, command=command))
    columns = (Column("n"), *(Column(name, group) for group in metrics.values() for name in shown))
    note = f"Not run: {', '.join(missing)}." if missing else ""
    return Table(f"{section}-{dataset}", f"{title}, {SET_TITLES[dataset]}", first, columns, tuple(rows), note)
