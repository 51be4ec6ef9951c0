"""A report as values, in which every number has the command that makes it; these as HTML, as Markdown and for JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a diff: kept, gone or new."""

    kind: Literal["same", "old", "new"]
    text: str


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table: as it is shown, and the number behind it."""

    text: str
    value: float | None = None
    command: str | None = None
    """What prints or makes the number; the paper's numbers have none."""
    star: bool = False
    """Significantly above the best baseline."""
    best: bool = False
    p: float | None = None
    """Of the test behind the star."""
    code: bool = False
    """Whether the text is to be typed as it stands."""

    @classmethod
    def number(cls, value: float | None, command: str | None = None, form: str = ".1f") -> Cell:
        """Return the cell of a number; the paper or a run may not tell it."""
        return cls("not told") if value is None else cls(format(value, form), value, command)

    @classmethod
    def not_run(cls, command: str) -> Cell:
        """Return the cell of a number that ``command`` would make."""
        return cls("not run", None, command)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ours, the paper's own, or a system that was not run."""

    label: str
    cells: tuple[Cell, ...]
    kind: Literal["ours", "paper", "missing"] = "ours"
    command: str | None = None
    """What made the outputs the row is computed from."""

    @classmethod
    def of_system(cls, label: str, cells: Sequence[Cell], made_by: str | None, make: str | None) -> Row:
        """Return the row of outputs that a command made, or would ``make`` where no cell has a number."""
        if any(cell.value is not None for cell in cells):
            return cls(label, tuple(cells), "ours", made_by)
        return cls(label, tuple(cells), "missing", make)

    @property
    def not_run(self) -> bool:
        """Whether there is nothing to show."""
        return self.kind == "missing" and all(cell.value is None for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column, under the head of its group."""

    title: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its note."""

    key: str
    title: str
    first: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing as SVG whose lines and letters have the page's own colour, and the numbers in it."""

    key: str
    title: str
    svg: str
    data: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class CaseLine:
    """One line of a case: what it is, and its text, in which a diff marks what went and what came."""

    label: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One example with its dialogue, every pass, the target and what other systems wrote."""

    title: str
    why: str
    lines: tuple[CaseLine, ...]
    brief: bool = False
    """Whether the compact copy shows it too."""


Part = Table | Figure | Case


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report with the command that makes it alone."""

    key: str
    title: str
    intro: str
    command: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    title: str
    intro: tuple[str, ...]
    sections: tuple[Section, ...]
    systems: Mapping[str, Any] = field(default_factory=dict)
    """The manifest of each system."""


_TAGS = {"same": ("", ""), "old": ("<del>", "</del>"), "new": ("<ins>", "</ins>")}
_MARKS = {"same": ("", ""), "old": ("~~", "~~"), "new": ("**", "**")}


def report_to_dict(report: Report) -> dict[str, Any]:
    """Return the report's numbers as JSON has them: each with its command; drawings by their data."""
    sections = {section.key: _section_to_dict(section) for section in report.sections}
    return {"title": report.title, "intro": list(report.intro), "sections": sections, "systems": dict(report.systems)}


def _section_to_dict(section: Section) -> dict[str, Any]:
    command, tables, figures, cases = section.command, [], [], []
    for part in section.parts:
        if isinstance(part, Case):
            lines = [{"label": line.label, "diff": [asdict(piece) for piece in line.pieces]} for line in part.lines]
            cases.append({"title": part.title, "why": part.why, "lines": lines})
            continue
        found: dict[str, Any] = {"key": part.key, "title": part.title, "note": part.note}
        if isinstance(part, Figure):
            figures.append({**found, "command": command, "data": part.data})
        else:
            rows = [
                {
                    "label": row.label,
                    "kind": row.kind,
                    "command": row.command,
                    "cells": [*map(_cell_to_dict, row.cells)],
                }
                for row in part.rows
            ]
            tables.append({**found, "columns": [*map(_name_column, part.columns)], "rows": rows})
    head = {"title": section.title, "intro": section.intro, "command": command}
    return {**head, "tables": tables, "figures": figures, "cases": cases}


def _name_column(column: Column) -> str:
    return f"{column.group}: {column.title}" if column.group else column.title


def _cell_to_dict(cell: Cell) -> dict[str, Any]:
    values = {"text": cell.text, "value": cell.value, "command": cell.command}
    return values if cell.p is None else {**values, "significant": cell.star, "p": cell.p}


def needs_space(text: str) -> bool:
    """Return whether a piece of a diff stands apart from the one before: all do but closing marks."""
    return not text.startswith(tuple("?.,!;:)'’%"))


def _render_pieces(pieces: Sequence[Piece], marks: dict[str, tuple[str, str]], quote: Callable[[str], str]) -> str:
    """Return a diff as one text, with ``marks`` around what went and what came."""
    text = ""
    for piece in pieces:
        opens, closes = marks[piece.kind]
        shown = f"{opens}{quote(piece.text)}{closes}"
        text += f" {shown}" if text and needs_space(piece.text) else shown
    return text


def render_html(report: Report) -> str:
    """Return the page."""
    here = Path(__file__).parent
    links = "".join(f'<a href="#{section.key}">{escape(section.title)}</a>' for section in report.sections)
    return "\n".join(
        (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(report.title)}</title>",
            f"<style>\n{(here / 'page.css').read_text(encoding='utf-8')}</style>\n</head>\n<body>\n<main>",
            f"<h1>{escape(report.title)}</h1>",
            *(f"<p>{escape(text)}</p>" for text in report.intro),
            f"<nav>{links}</nav>",
            *map(_html_section, report.sections),
            f"</main>\n<script>\n{(here / 'page.js').read_text(encoding='utf-8')}</script>\n</body>\n</html>\n",
        )
    )


def _html_section(section: Section) -> str:
    parts = [_html_part(part, section.title) for part in section.parts] or ['<p class="note">Not run.</p>']
    head = f'<section id="{section.key}">\n<h2>{escape(section.title)}</h2>\n<p>{escape(section.intro)}</p>'
    made = f'<p class="note">Made by <code>{escape(section.command)}</code></p>'
    return "\n".join((head, *parts, made, "</section>"))


def _html_part(part: Part, above: str) -> str:
    if not isinstance(part, Table):
        return _html_figure(part) if isinstance(part, Figure) else _html_case(part)
    head = "" if part.title == above else f'<h3 id="table-{escape(part.key)}">{escape(part.title)}</h3>\n'
    return f"{head}{_html_table(part)}"


def _html_table(table: Table) -> str:
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    titles = "".join(
        f'<th scope="col"><button type="button">{escape(title)}</button></th>'
        for title in (table.first, *(column.title for column in table.columns))
    )
    groups = [(group, len(list(members))) for group, members in groupby(column.group for column in table.columns)]
    heads = "".join(f'<th colspan="{width}">{escape(group)}</th>' for group, width in groups)
    above = f'<tr class="groups"><th></th>{heads}</tr>' if any(group for group, _ in groups) else ""
    rows = "\n".join(map(_html_row, table.rows))
    return (
        f'<div class="scroll"><table>\n<thead>{above}<tr>{titles}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table></div>{note}"
    )


def _html_row(row: Row) -> str:
    title = f' title="{escape(row.command)}"' if row.command else ""
    cells = "".join(map(_html_cell, row.cells))
    if row.not_run:
        cells = f'<td class="nothing" colspan="{len(row.cells)}"{title}>not run</td>'
    return f'<tr class="{row.kind}"><td{title}>{escape(row.label)}</td>{cells}</tr>'


def _html_cell(cell: Cell) -> str:
    if cell.code:
        return f'<td class="nothing"><code>{escape(cell.text)}</code></td>'
    marks = ' class="best"' if cell.best else ""
    value = "" if cell.value is None else f' data-value="{cell.value:.6g}"'
    hint = ("" if cell.p is None else f"p = {cell.p:.2g}; ") + (cell.command or "")
    title = f' title="{escape(hint)}"' if hint else ""
    return f"<td{marks}{value}{title}>{escape(cell.text)}{'*' if cell.star else ''}</td>"


def _html_figure(figure: Figure) -> str:
    note = f'\n<figcaption><p class="note">{escape(figure.note)}</p></figcaption>' if figure.note else ""
    svg = figure.svg.replace("<svg", f'<svg role="img" aria-label="{escape(figure.title)}"', 1)
    # A drawing's names are its own: two on one page must not answer to each other's.
    svg = svg.replace('id="', f'id="{figure.key}-').replace('"#', f'"#{figure.key}-').replace("(#", f"(#{figure.key}-")
    return f"<figure>\n<h3>{escape(figure.title)}</h3>\n{svg}{note}\n</figure>"


def _html_case(case: Case) -> str:
    lines = "".join(
        f"<dt>{escape(line.label)}</dt><dd>{_render_pieces(line.pieces, _TAGS, escape)}</dd>" for line in case.lines
    )
    head = f'<h3>{escape(case.title)}</h3>\n<p class="note">{escape(case.why)}</p>'
    return f'<article class="case">{head}<dl>{lines}</dl></article>'


def render_markdown(report: Report, compact: bool = False) -> str:
    """Return the report; figures are links to ``figures/KEY.svg``. The compact copy has few cases and says so."""
    lines = [f"# {report.title}", ""]
    if compact:
        lines += ["Generated by `riseq reproduce --compact docs`; do not edit.", ""]
    for text in report.intro:
        lines += [text, ""]
    for section in report.sections:
        lines += _markdown_section(section, compact)
    return "\n".join(lines).rstrip() + "\n"


def _markdown_section(section: Section, compact: bool) -> Iterator[str]:
    yield from (f"## {section.title}", "", section.intro, "")
    if not section.parts:
        yield from ("Not run.", "")
    for part in section.parts:
        if isinstance(part, Table):
            if part.title != section.title:
                yield from (f"**{part.title}**", "")
            yield from _markdown_table(part)
        elif isinstance(part, Figure):
            yield from (f"![{part.title}](figures/{part.key}.svg)", "")
            if part.note:
                yield from (part.note, "")
        elif part.brief or not compact:
            yield from (f"**{_escape(part.title)}** ({_escape(part.why)})", "")
            for line in part.lines:
                yield f"- {_escape(line.label)}: {_render_pieces(line.pieces, _MARKS, _escape)}"
            yield ""
    yield from (f"Made by `{section.command}`.", "")


def _markdown_table(table: Table) -> Iterator[str]:
    groups = ["", *(column.group for column in table.columns)]  # only the first of a group names it
    heads = [
        column.title if column.group == before else _name_column(column)
        for before, column in zip(groups, table.columns, strict=False)
    ]
    yield f"| {' | '.join(_escape(head) for head in (table.first, *heads))} |"
    yield f"|---|{'---:|' * len(heads)}"
    for row in table.rows:
        label = f"*{_escape(row.label)}*" if row.kind == "paper" else _escape(row.label)
        cells = ["not run"] + [""] * (len(heads) - 1) if row.not_run else map(_markdown_cell, row.cells)
        yield f"| {' | '.join((label, *cells))} |"
    yield ""
    if table.note:
        yield from (table.note.replace("*", "\\*"), "")


def _markdown_cell(cell: Cell) -> str:
    if cell.code:
        return f"`{cell.text}`"
    text = f"**{_escape(cell.text)}**" if cell.best else _escape(cell.text)
    return f"{text}\\*" if cell.star else text


def _escape(text: str) -> str:
    for mark in "\\|*_`[]<>~":
        text = text.replace(mark, f"\\{mark}")
    return text
