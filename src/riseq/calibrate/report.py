"""Calibrations and passes as tables, and a calibration's plot and numbers on disk."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console

from riseq.calibrate.calibration import Calibrated
from riseq.files import replace_file, write_json
from riseq.metrics.passes import Stopping
from riseq.metrics.reliability import Reliability
from riseq.reproduce.figures import load_matplotlib
from riseq.terminal.results import open_table

PLOT = "reliability.png"
REPORT = "calibration.json"
_LABEL = 30  # characters: a long path would push the plot off its page


def show_calibrated(console: Console, calibrated: Calibrated) -> None:
    """Print how well the confidence is calibrated, what the guard does, and how many passes are saved."""
    table = open_table(console, "set", "n", "ECE", "AUC", "mean confidence", "right")
    for name, one in calibrated.reliability.items():
        means = (np.average(values, weights=one.counts) for values in (one.predicted, one.observed))
        shown = (f"{one.error:.4f}", f"{one.discrimination:.3f}", *(f"{mean:.3f}" for mean in means))
        table.add_row(name, f"{sum(one.counts):,}", *shown)
    console.print(table)
    columns = {"sureness": ("B-4", "R-L", "exact %", "lost %", "too many %"), "later": ("B-4", "worse %")}
    for name, titles in columns.items():
        table = open_table(console, name, "set", *titles, left=["set"])
        for row in calibrated.calibration.facts[name]:
            tried, dataset, *values = row.values()
            chosen = "*" if tried == getattr(calibrated.calibration, name) else ""
            table.add_row(f"{tried:g}{chosen}", dataset, *(f"{value:.2f}" for value in values))
        console.print(table)
    gate = calibrated.calibration.facts["passes"]
    console.print(
        f"second passes: {gate['second_passes_before']:,} that could be taken, {gate['second_passes_after']:,} taken "
        f"({100 * gate['saved']:.1f}% saved); {100 * gate['same']:.2f}% of the texts stay the same"
    )


def show_stopping(console: Console, rows: Sequence[Stopping]) -> None:
    """Print for each number of passes the scores and the shares of texts that got worse."""
    titles = ("B-4", "changed %", "worse: B-4 %", "R-L %", "distance %", "than question: B-4 %", "R-L %", "distance %")
    table = open_table(console, "passes", *titles)
    for row in rows:
        shares = (*row.worse.values(), *row.worse_than_question.values())
        table.add_row(str(row.passes), *(f"{value:.2f}" for value in (row.bleu4, row.changed, *shares)))
    console.print(table)


def write_report(folder: Path, calibrated: Calibrated) -> None:
    """Write the reliability plot and everything that was measured to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    reliability = {name: asdict(one) for name, one in calibrated.reliability.items()}
    write_json(folder / REPORT, {"reliability": reliability, **calibrated.calibration.facts})
    plot_reliability(folder / PLOT, calibrated.reliability)


def plot_reliability(path: Path, curves: Mapping[str, Reliability]) -> None:
    """Write a reliability plot, one line a curve, to ``path``."""
    figure = load_matplotlib().figure.Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="calibrated")
    for name, curve in curves.items():
        axes.plot(curve.predicted, curve.observed, marker="o", label=f"{name[-_LABEL:]}, ECE {curve.error:.3f}")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share that people accept", aspect="equal")
    axes.legend()
    with replace_file(path) as out:
        figure.savefig(out, format=path.suffix.lstrip(".") or "png", dpi=150)
