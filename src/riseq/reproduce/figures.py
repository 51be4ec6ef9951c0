"""Drawings as SVG; what is black in them takes the colour of the page's text, and can be read on dark pages too."""

import io
import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from riseq.extras import needs_extra
from riseq.metrics.ngrams import Floats

_INK = "#010203"  # a colour that nothing else has, to be found again in the file
_COLOURS = ("#3b78c2", "#d9822b", "#2f9e6e", "#b6478f", "#8c6bb1", "#c2453b", "#7a8b2e", "#4ba3b5", "#9c6b4e")
_PAPER = "#8a8a8a"
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "riseq",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def load_matplotlib() -> Any:
    """Return matplotlib, or say which extra has it."""
    with needs_extra("report", "the report"):
        import matplotlib.figure
    return matplotlib


def draw_heatmap(means_YX: Floats, columns: Sequence[str], rows: Sequence[str], x_title: str, y_title: str) -> str:
    """Return a heatmap with its numbers in the fields; NaN is left empty."""
    mpl = load_matplotlib()
    with mpl.rc_context(_STYLE):
        figure = mpl.figure.Figure(figsize=(7.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        # From 1 up: a question that changes takes one pass at least, and what is more than one is what is looked for.
        highest = max(1.5, float(np.nanmax(means_YX))) if np.isfinite(means_YX).any() else 1.5
        image = axes.imshow(means_YX, origin="lower", cmap="YlGnBu", aspect="auto", vmin=1, vmax=highest)
        for (y, x), value in np.ndenumerate(means_YX):
            if np.isfinite(value):
                # On a field of its own colour, in any theme.
                ink = "white" if value - 1 > 0.6 * (highest - 1) else "#1b1b1b"
                axes.text(x, y, f"{value:.2f}", ha="center", va="center", fontsize=7.5, color=ink)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        bar = figure.colorbar(image, ax=axes)
        bar.set_label("mean number of passes", color=_INK)
        bar.outline.set_edgecolor(_INK)
        return _write(figure)


def draw_lines(names: Sequence[str], lines: Mapping[str, Sequence[float]], x_title: str, y_title: str) -> str:
    """Return one line a system over named points; a title that ends in "paper" is drawn dashed and grey."""
    mpl = load_matplotlib()
    with mpl.rc_context(_STYLE):
        figure = mpl.figure.Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        colours = cycle(_COLOURS)
        for title, values in lines.items():
            printed = title.endswith("paper")
            style = {"color": _PAPER, "linestyle": "--"} if printed else {"color": next(colours)}
            axes.plot(range(len(names)), values, marker="o", markersize=4, label=title, **style)
        axes.set_xticks(range(len(names)), names)
        axes.set_xlabel(x_title)
        axes.set_ylabel(y_title)
        axes.grid(axis="y", alpha=0.25)
        if lines:
            figure.legend(loc="outside right upper", fontsize=9)
        return _write(figure)


def on_white(svg: str) -> str:
    """Return a drawing that stands alone, black on white, for pages that cannot tell it their colours."""
    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    head, mark, body = svg.replace("currentColor", "#1b1b1b").partition(">")
    return f"{head}{mark}{ground}{body}"


def _write(figure: Any) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    return re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL).strip()
