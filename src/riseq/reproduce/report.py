"""The report put together and written: its sections, and its HTML, Markdown, JSON and figures."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from riseq.data.tables import write_rows
from riseq.files import replace_file
from riseq.reproduce.breakdowns import build_information, build_lengths, build_phenomena, build_turns
from riseq.reproduce.cases import build_cases
from riseq.reproduce.cost_tables import build_speed, build_training
from riseq.reproduce.document import Cell, Column, Figure, Part, Report, Row, Section, Table, tell_report
from riseq.reproduce.evidence import Evidence
from riseq.reproduce.figures import load_matplotlib, on_white
from riseq.reproduce.html import render_html
from riseq.reproduce.markdown import render_markdown
from riseq.reproduce.pass_tables import build_iterations, build_passes
from riseq.reproduce.plan import SETS
from riseq.reproduce.score_tables import build_ablation, build_overall, build_validation
from riseq.reproduce.store import file_stem
from riseq.systems.saved import MANIFEST
from riseq.terminal.progress import track
from riseq.types import InputError


@dataclass(frozen=True, slots=True)
class Planned:
    """A section before it is made."""

    title: str
    intro: str
    build: Callable[[Evidence], Sequence[Part]]


def build_sources(evidence: Evidence) -> list[Table]:
    """Return the commands behind each system's numbers; and what was not run, with the commands that would run it."""
    made: list[Row] = []
    missing: list[Row] = []
    for planned in evidence.systems("baseline", "rise", "ablation"):
        lacks = []
        for dataset in SETS:
            if evidence.passes(planned.name, dataset) is None:
                lacks.append(dataset)
                continue
            command = evidence.made_by(planned.name, dataset) or "not told"
            again = Cell(evidence.rescore_command(planned.name, dataset), code=True)
            made.append(Row(planned.title, (Cell(dataset), Cell(command, code=True), again), command=command))
        if lacks:
            command = planned.make_command()
            missing.append(Row(planned.title, (Cell(", ".join(lacks)), Cell(command, code=True)), command=command))
    heads = (Column("on"), Column("outputs made by"), Column("scored again by"))
    tables = [Table("sources", "Saved predictions", "Method", heads, tuple(made))]
    if missing:
        wanted = (Column("on"), Column("would be made by"))
        tables.append(Table("missing", "Not run", "Method", wanted, tuple(missing)))
    return tables


SECTIONS: dict[str, Planned] = {
    "table1": Planned(
        "Overall performance",
        "All systems on the paper's two test sets, scored in the paper's form.",
        lambda evidence: [build_overall(evidence)],
    ),
    "table2": Planned("Ablation", "RISE without dynamic programming sampling, and without its reward.", build_ablation),
    "validation": Planned(
        "Validation", "The same on CANARD's development set.", lambda evidence: [build_validation(evidence)]
    ),
    "training": Planned(
        "Parameters and training time", "What each method takes.", lambda evidence: [build_training(evidence)]
    ),
    "iterations": Planned(
        "Editing iterations", "How many passes a question takes, by how much changes in it.", build_iterations
    ),
    "passes": Planned("Influence of passes", "What more passes bring.", build_passes),
    "cases": Planned(
        "Case study",
        "The paper's two examples and ten chosen by rule: the four best gains and three worst losses in words of "
        "Levenshtein distance to the target, and the three questions on which the systems disagree most.",
        build_cases,
    ),
    "phenomena": Planned(
        "By phenomenon",
        "Past the paper. Anaphora: the target brings in a word that points back. Ellipsis: it drops content words "
        "and puts nothing in their place. Both, at two places; or none of the two. Decided from the gold edit by the"
        " rule in riseq.metrics.content.",
        build_phenomena,
    ),
    "length": Planned("By length", "Past the paper: by the number of words of the question.", build_lengths),
    "turns": Planned("By turn", "Past the paper: by the question's number in its dialogue.", build_turns),
    "information": Planned(
        "Information lost",
        "Past the paper: its authors name the loss of information as a limit and do not measure it.",
        lambda evidence: [build_information(evidence)],
    ),
    "speed": Planned(
        "Speed", "Past the paper: how fast each system is, on one machine.", lambda evidence: [build_speed(evidence)]
    ),
    "sources": Planned(
        "Where the numbers come from",
        "The command that made each system's outputs, and the one that scores them again without the system.",
        build_sources,
    ),
}

INTRO = (
    "RISE (Liu et al., ACL 2021) makes self-contained questions conversational. This report has the paper's tables and "
    "figures next to ours. It is made from saved predictions: every number is computed when the report is, and carries "
    "the command that makes it (hold the pointer over a number, or look in report.json). What was not run is told as "
    "such, with the command that would run it.",
    "Scores are in the paper's form: lower-cased word pieces, cut to 30; COCO-caption BLEU, ROUGE-L and CIDEr. "
    "Contexts are earlier questions only, in all tests and in CANARD's training pairs. The development set chooses; "
    "the test sets only report. The small and the large RISE learn from more than CANARD; the baselines and the "
    "ablation do not, so it is the row RISE on CANARD alone that compares methods.",
)


def build_report(evidence: Evidence, only: Sequence[str] = (), console: Console | None = None) -> Report:
    """Return the report, or the sections of it that are named."""
    unknown = next((name for name in only if name not in SECTIONS), None)
    if unknown is not None:
        raise InputError(f"no section is called {unknown!r}; there are {', '.join(SECTIONS)}")
    load_matplotlib()  # said before the work rather than after it
    wanted = [name for name in SECTIONS if not only or name in only]
    sections = []
    for name in track(wanted, len(wanted), "report", console):
        planned = SECTIONS[name]
        command = f"riseq reproduce --only {name}"
        sections.append(Section(name, planned.title, planned.intro, command, tuple(planned.build(evidence))))
    systems = {name: asdict(manifest) for name, manifest in evidence.manifests.items()}
    return Report("RISE, reproduced", INTRO, tuple(sections), systems)


PAGE, TEXT, NUMBERS = "report.html", "report.md", "report.json"


def write_report(report: Report, out: Path) -> Path:
    """Write the report's three files and its figures into ``out``, and return the page."""
    out.mkdir(parents=True, exist_ok=True)
    _write(out / PAGE, render_html(report))
    _write(out / TEXT, render_markdown(report))
    _write(out / NUMBERS, json.dumps(tell_report(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    _write_figures(report, out)
    return out / PAGE


def write_compact(report: Report, folder: Path) -> Path:
    """Write the compact copy into ``folder``: Markdown with a handful of cases, and the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / TEXT, render_markdown(report, compact=True))
    _write_figures(report, folder)
    return folder / TEXT


def write_joined(evidence: Evidence, folder: Path, console: Console | None = None) -> int:
    """Write every system's outputs beside question and target, with its manifest; return how many files there are."""
    kept = [(name, dataset) for name in evidence.manifests for dataset in SETS if evidence.store.find(name, dataset)]
    for name, dataset in track(kept, len(kept), "outputs", console):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        write_rows(place / f"{file_stem(dataset)}.jsonl.gz", evidence.joined_rows(name, dataset))
        shutil.copyfile(evidence.store.folder / name / MANIFEST, place / MANIFEST)
    return len(kept)


def _write_figures(report: Report, folder: Path) -> None:
    figures = [part for section in report.sections for part in section.parts if isinstance(part, Figure)]
    if figures:
        (folder / "figures").mkdir(exist_ok=True)
    for figure in figures:
        _write(folder / "figures" / f"{figure.key}.svg", on_white(figure.svg) + "\n")


def _write(path: Path, text: str) -> None:
    with replace_file(path) as file:
        file.write(text.encode())
