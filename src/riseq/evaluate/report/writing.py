"""The report's files: HTML, Markdown, JSON, figures, and every system's outputs beside question and target."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from rich.console import Console

from riseq.data.sink import replace_file
from riseq.data.tables import write_rows
from riseq.evaluate.plan import SETS
from riseq.evaluate.progress import track
from riseq.evaluate.report.document import Figure, Report, tell_report
from riseq.evaluate.report.evidence import Evidence
from riseq.evaluate.report.figures import on_white
from riseq.evaluate.report.html import render_html
from riseq.evaluate.report.markdown import render_markdown
from riseq.evaluate.store import file_stem
from riseq.systems.saved import MANIFEST

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
