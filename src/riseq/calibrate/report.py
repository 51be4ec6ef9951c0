"""Calibrations and passes as tables, and a calibration's report on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from riseq.calibrate.calibration import Calibrated
from riseq.files import write_json
from riseq.metrics.passes import Stopping
from riseq.metrics.reliability import plot_reliability

PLOT = "reliability.png"
REPORT = "calibration.json"


def show_calibrated(console: Console, calibrated: Calibrated) -> None:
    """Print how well the confidence keeps its word, what the guard does, and how many passes are saved."""
    table = _open(console, "set", "n", "ECE", "AUC", "mean confidence", "right")
    for name, one in calibrated.reliability.items():
        n = sum(one.counts)
        means = (_mean(values, one.counts) for values in (one.predicted, one.observed))
        shown = (f"{n:,}", f"{one.error:.4f}", f"{one.discrimination:.3f}", *(f"{mean:.3f}" for mean in means))
        table.add_row(name, *shown)
    console.print(table)
    table = _open(console, "guard", "set", "B-4", "R-L", "exact %", "lost %", "lost of news %", "too many %")
    for row in calibrated.facts["guard"]:
        chosen = "*" if row["sureness"] == calibrated.calibration.sureness else ""
        scores = (f"{row[key]:.2f}" for key in ("bleu4", "rougeL", "exact"))
        shares = (f"{100 * row[key]:.2f}" for key in ("lost", "lost_news", "extra"))
        table.add_row(f"{row['sureness']:g}{chosen}", row["set"], *scores, *shares)
    console.print(table)
    table = _open(console, "later", "set", "B-4", "worse %")
    for row in calibrated.facts["later"]:
        chosen = "*" if row["later"] == calibrated.calibration.later else ""
        table.add_row(f"{row['later']:g}{chosen}", row["set"], f"{row['bleu4']:.2f}", f"{row['worse']:.2f}")
    console.print(table)
    gate = calibrated.facts["passes"]
    console.print(
        f"second passes: {gate['second_passes_before']:,} that could be taken, {gate['second_passes_after']:,} taken "
        f"({100 * gate['saved']:.1f}% saved); {100 * gate['same']:.2f}% of the texts stay the same"
    )


def show_stopping(console: Console, rows: Sequence[Stopping]) -> None:
    """Print for each number of passes the scores and the shares of texts that got worse."""
    told = ("B-4", "changed %", "worse: B-4 %", "R-L %", "distance %", "than question: B-4 %", "R-L %", "distance %")
    table = _open(console, "passes", *told)
    for row in rows:
        shares = (*row.worse.values(), *row.worse_than_question.values())
        table.add_row(str(row.passes), *(f"{value:.2f}" for value in (row.bleu4, row.changed, *shares)))
    console.print(table)


def write_report(folder: Path, calibrated: Calibrated) -> None:
    """Write the reliability plot and everything that was measured to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {name: asdict(one) for name, one in calibrated.reliability.items()}
    write_json(folder / REPORT, {"reliability": told, **calibrated.facts})
    plot_reliability(folder / PLOT, dict(calibrated.reliability))


def _mean(values: Sequence[float], counts: Sequence[int]) -> float:
    return sum(value * count for value, count in zip(values, counts, strict=True)) / sum(counts)


def _open(console: Console, *titles: str) -> Table:
    table = Table(box=box.SIMPLE if console.is_terminal else None, pad_edge=False)
    for title in titles:
        table.add_column(title, justify="left" if title == "set" else "right", no_wrap=True)
    return table
