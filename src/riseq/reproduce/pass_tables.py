"""The paper's two looks at passes: how many an example takes, and what more of them bring."""

from __future__ import annotations

from typing import Any

import numpy as np

from riseq.metrics.passes import map_passes, share_worse
from riseq.reproduce import paper
from riseq.reproduce.document import Cell, Column, Figure, Row, Table
from riseq.reproduce.evidence import Evidence
from riseq.reproduce.figures import draw_heatmap, draw_lines
from riseq.reproduce.plan import COUNTED_PASSES, SAVED_PASSES, TEST, Planned
from riseq.reproduce.score_tables import missing_row

FEWEST = 5
"""A mean over fewer examples is not drawn."""


def build_iterations(evidence: Evidence) -> list[Table | Figure]:
    """Return the heatmap of the mean number of passes, and the same as a table."""
    planned = evidence.main_system()
    passes = evidence.passes(planned.name, TEST) if planned else None
    measured = evidence.measured(planned.name, TEST) if planned else None
    if planned is None or passes is None or measured is None:
        return []
    limit = evidence.counted(planned.name) or COUNTED_PASSES
    numbers = [min(limit, len(made)) for made in passes]
    found = map_passes(evidence.questions(TEST), measured.texts, numbers)
    means = np.where(found.counts >= FEWEST, found.means, np.nan)
    command = "riseq reproduce --only iterations"
    columns = [_name(place, means.shape[1]) for place in range(means.shape[1])]
    rows = [_name(place, means.shape[0]) for place in range(means.shape[0])]
    data: dict[str, Any] = {
        "system": planned.name,
        "mean_passes": _tell(means),
        "examples": found.counts.tolist(),
        "columns": columns,
        "rows": rows,
    }
    note = (
        f"{planned.title} on CANARD test: mean number of passes that changed something, of at most {limit}, over at "
        f"least {FEWEST} questions a field; words are counted in the scoring form. The paper reads from its own "
        "figure, whose numbers are not printed: at one word only in y, from 1.2 passes (one word only in x) to 2.6 "
        "(ten)."
    )
    svg = draw_heatmap(means, columns, rows, "words only in the question x", "words only in the output y")
    figure = Figure("iterations-figure", "Editing iterations", svg, data, note)
    table = Table(
        "iterations",
        "Mean number of passes (and questions)",
        "only in y",
        tuple(Column(name, "words only in x") for name in columns),
        tuple(
            Row(
                rows[y],
                tuple(
                    Cell("", None)
                    if not found.counts[y, x]
                    else Cell(f"{found.means[y, x]:.2f} ({found.counts[y, x]})", float(found.means[y, x]), command)
                    for x in range(len(columns))
                ),
                command=command,
            )
            for y in range(len(rows))
        ),
    )
    return [figure, table]


def build_passes(evidence: Evidence) -> list[Table | Figure]:
    """Return BLEU-4 after at most 1 to 5 passes, and the share of samples that get worse."""
    command = "riseq reproduce --only passes"
    rows: list[Row] = []
    lines: dict[str, list[float]] = {}
    for planned in evidence.systems("rise", "ablation"):
        if planned.system != "rise":
            continue
        made = _measure_passes(evidence, planned)
        if made is None:
            if planned.group == "rise":
                rows.append(missing_row(planned, SAVED_PASSES + 2))
            continue
        scores, worse = made
        shown = [Cell(f"{score:.1f}", score, command) for score in scores]
        cells = (*shown, *(Cell(f"{100 * share:.1f}", 100 * share, command) for share in worse))
        rows.append(Row(planned.title, cells, command=evidence.made_by(planned.name, TEST)))
        if planned.group == "rise":
            lines[planned.title] = scores
    printed = (
        *(Cell(f"{score:.1f}", score) for score in paper.PASSES_BLEU4),
        Cell(f"about {paper.WORSE:.0f}", paper.WORSE),
    )
    rows.append(Row("RISE, paper", (*printed, Cell("not told")), "paper"))
    columns = (
        *(Column(str(number), "BLEU-4 after at most ... passes") for number in range(1, SAVED_PASSES + 1)),
        Column("at some pass", "% worse"),
        Column("last below first", "% worse"),
    )
    note = (
        "CANARD test. Worse at some pass: the BLEU-4 of the question alone fell from one pass to the next, within "
        "five passes; last below first: it ended below what one pass had given. Three passes count in all other "
        "tables."
    )
    table = Table("passes", "Influence of the number of passes", "Method", columns, tuple(rows), note)
    if not lines:
        return [table]
    lines["RISE, paper"] = list(paper.PASSES_BLEU4)
    numbers = [str(number) for number in range(1, SAVED_PASSES + 1)]
    svg = draw_lines(numbers, lines, "passes at most", "BLEU-4")
    return [table, Figure("passes-figure", "BLEU-4 by the number of passes", svg, {"passes": numbers, "bleu4": lines})]


def _measure_passes(evidence: Evidence, planned: Planned) -> tuple[list[float], tuple[float, float]] | None:
    if evidence.passes(planned.name, TEST) is None:
        return None
    after = [evidence.measured(planned.name, TEST, limit) for limit in range(1, SAVED_PASSES + 1)]
    found = [one for one in after if one is not None]
    return [one.score("bleu4") for one in found], share_worse([one.each("bleu4") for one in found])


def _name(place: int, size: int) -> str:
    return f"{place}+" if place == size - 1 else str(place)


def _tell(means: Any) -> list[list[float | None]]:
    return [[None if np.isnan(value) else round(float(value), 4) for value in row] for row in means]
