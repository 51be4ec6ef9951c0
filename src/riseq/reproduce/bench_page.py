"""What ``riseq bench`` found, as a page, a JSON file and a plot."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

from riseq.files import replace_file
from riseq.reproduce.bench import ENCODER, ENGINE, Measured
from riseq.reproduce.rivals import BERT2BERT, GPT2
from riseq.types import InputError

TITLE = "Engine"
RESULTS, NUMBERS, PLOT = "RESULTS.md", "engine.json", "engine.svg"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Where, when and how something was measured."""

    command: str
    machine: str
    day: date
    data: str
    model: str
    load: float | None
    """The machine's load when the run began, where it tells; other work makes every number here worse."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something asked for, what was found, and whether that is enough."""

    what: str
    asked: str
    found: str
    met: bool


def list_targets(measured: Measured) -> list[Target]:
    """Return what was asked for beside what was found, as far as it was measured."""
    mine = measured.singles[ENGINE]
    share = measured.bulk[ENGINE] / measured.bulk[ENCODER]
    rest = measured.profile.rest
    targets = []
    for name, asked in ((GPT2, 25), (BERT2BERT, 5)):
        if name in measured.singles:
            times = measured.singles[name] / mine
            targets.append(Target(f"faster than {name}", f"{asked} times", f"{times:.1f} times", times >= asked))
    ratio = measured.encoder_ratio
    return [
        *targets,
        Target("one question, in bare encoder passes", "at most 1.7", f"{ratio:.2f}", ratio <= 1.7),
        Target("in bulk, share of the bare encoder's rate", "60%", f"{100 * share:.1f}%", share >= 0.6),
        Target("time outside the network", "under 5%", f"{100 * rest:.1f}%", rest < 0.05),
        Target("cold start", "under 1.5 s", f"{measured.cold_s:.2f} s", measured.cold_s < 1.5),
        Target(
            "resident after the first question", "under 400 MB", f"{measured.cold_mb:.0f} MB", measured.cold_mb < 400
        ),
    ]


def format_page(measured: Measured, where: Circumstances) -> str:
    """Return the section of the results."""
    busy = "" if where.load is None else f" Load average when the run began: {where.load:.2f}."
    profile = measured.profile
    lines = [
        f"`{where.command}`, {where.machine}, {where.day}; {where.model}, {measured.threads} threads, batch 1, "
        f"{measured.questions} questions of {where.data} that have a dialogue before them, all passes.{busy}",
        "",
        *_table(("one question", "median ms", "times riseq"), _single_rows(measured)),
        "",
        *_table(("in bulk", "questions a second"), [(name, f"{rate:,.1f}") for name, rate in measured.bulk.items()]),
        "",
        f"A question takes {profile.passes:.2f} encoder passes and {profile.phrasings:.2f} runs of the phrase graph. "
        f"Of its time {100 * profile.encoder:.1f}% goes to the encoder, {100 * profile.phraser:.1f}% to the phrase "
        f"graph and {100 * profile.rest:.1f}% to everything else: tokenising, choosing, editing, writing.",
        "",
        *_table(
            ("target", "asked", "found", ""),
            [(one.what, one.asked, one.found, "met" if one.met else "NOT met") for one in list_targets(measured)],
        ),
        "",
        f"How the time grows with questions and with utterances before one: `{NUMBERS}`, `{PLOT}`.",
        *(f"\nNot measured: {reason}." for reason in measured.skipped),
    ]
    return "\n".join(lines) + "\n"


def write_page(folder: Path, measured: Measured, where: Circumstances) -> list[str]:
    """Put the section into the results in ``folder``, the numbers and the plot beside it; return what could not be."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected the one to write {RESULTS} in")
    file = folder / RESULTS
    page = file.read_text(encoding="utf-8") if file.is_file() else "# Results\n"
    _write(file, replace_section(page, TITLE, format_page(measured, where)))
    numbers = asdict(measured) | {"command": where.command, "machine": where.machine, "day": str(where.day)}
    _write(folder / NUMBERS, json.dumps(numbers | {"load": where.load, "model": where.model}, indent=2) + "\n")
    try:
        _write(folder / PLOT, draw(measured))
    except InputError as error:
        return [str(error)]
    return []


def replace_section(page: str, title: str, text: str) -> str:
    """Return ``page`` with the section ``title`` saying ``text``; at the end where there was none."""
    parts = page.rstrip("\n").split("\n## ")
    places = [place for place, part in enumerate(parts) if part.startswith(f"{title}\n")]
    section = f"{title}\n\n{text}"
    if places:
        parts[places[0]] = section
    else:
        parts.append(section)
    return "\n## ".join(part.rstrip("\n") + "\n" for part in parts)


def draw(measured: Measured) -> str:
    """Return the plot of both curves as SVG, each with the straight line through its last point."""
    import io

    from riseq.reproduce.figures import load_matplotlib

    mpl = load_matplotlib()
    figure = mpl.figure.Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, curve, label, unit in (
        (left, measured.by_questions, "questions at once", 1.0),
        (right, measured.by_turns, "utterances before one question", 1000.0),
    ):
        places = list(curve)
        axes.plot(places, [unit * curve[place] for place in places], marker="o", label="measured")
        if axes is left:
            slope = curve[places[-1]] / places[-1]
            axes.plot([0, places[-1]], [0, unit * slope * places[-1]], linestyle=":", label="linear")
            axes.legend(frameon=False)
        axes.set(xlabel=label, ylabel="seconds" if unit == 1 else "milliseconds", xlim=(0, None), ylim=(0, None))
    drawn = io.StringIO()
    figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _single_rows(measured: Measured) -> list[Sequence[str]]:
    mine = measured.singles[ENGINE]
    return [(name, f"{1000 * taken:,.1f}", f"{taken / mine:.2f}") for name, taken in measured.singles.items()]


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _write(path: Path, text: str) -> None:
    with replace_file(path) as file:
        file.write(text.encode())


def as_numbers(measured: Measured) -> Mapping[str, object]:
    """Return everything that was found, as JSON has it."""
    return asdict(measured) | {"targets": [asdict(one) for one in list_targets(measured)]}
