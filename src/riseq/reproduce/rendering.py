"""The report as one HTML file that needs nothing beside it, as Markdown, and as the values of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from riseq.reproduce.document import Case, Cell, Column, Figure, Part, Piece, Report, Row, Section, Table

_TAGS = {"same": ("", ""), "old": ("<del>", "</del>"), "new": ("<ins>", "</ins>")}
_MARKS = {"same": ("", ""), "old": ("~~", "~~"), "new": ("**", "**")}


def report_to_dict(report: Report) -> dict[str, Any]:
    """Return the report's numbers as JSON has them: each with its command; drawings by their data."""
    return {
        "title": report.title,
        "intro": list(report.intro),
        "sections": {section.key: _section_to_dict(section) for section in report.sections},
        "systems": dict(report.systems),
    }


def _section_to_dict(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "intro": section.intro,
        "command": section.command,
        "tables": [_table_to_dict(part) for part in section.parts if isinstance(part, Table)],
        "figures": [
            {"key": part.key, "title": part.title, "note": part.note, "command": section.command, "data": part.data}
            for part in section.parts
            if isinstance(part, Figure)
        ],
        "cases": [_case_to_dict(part) for part in section.parts if isinstance(part, Case)],
    }


def _table_to_dict(table: Table) -> dict[str, Any]:
    rows = [
        {"label": row.label, "kind": row.kind, "command": row.command, "cells": list(map(_cell_to_dict, row.cells))}
        for row in table.rows
    ]
    columns = [f"{column.group}: {column.title}" if column.group else column.title for column in table.columns]
    return {"key": table.key, "title": table.title, "note": table.note, "columns": columns, "rows": rows}


def _cell_to_dict(cell: Cell) -> dict[str, Any]:
    values = {"text": cell.text, "value": cell.value, "command": cell.command}
    return values if cell.p is None else {**values, "significant": cell.star, "p": cell.p}


def _case_to_dict(case: Case) -> dict[str, Any]:
    lines = [{"label": line.label, "diff": [asdict(piece) for piece in line.pieces]} for line in case.lines]
    return {"title": case.title, "why": case.why, "lines": lines}


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
    if isinstance(part, Table):
        head = "" if part.title == above else f'<h3 id="table-{escape(part.key)}">{escape(part.title)}</h3>\n'
        return f"{head}{_html_table(part)}"
    return _html_figure(part) if isinstance(part, Figure) else _html_case(part)


def _html_table(table: Table) -> str:
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    titles = "".join(
        f'<th scope="col"><button type="button">{escape(title)}</button></th>'
        for title in (table.first, *(column.title for column in table.columns))
    )
    return (
        '<div class="scroll"><table>\n<thead>'
        f"{_html_groups(table.columns)}<tr>{titles}</tr></thead>\n<tbody>\n"
        + "\n".join(map(_html_row, table.rows))
        + f"\n</tbody>\n</table></div>{note}"
    )


def _html_groups(columns: Sequence[Column]) -> str:
    groups = [(group, len(list(members))) for group, members in groupby(column.group for column in columns)]
    heads = "".join(f'<th colspan="{width}">{escape(group)}</th>' for group, width in groups)
    return f'<tr class="groups"><th></th>{heads}</tr>' if any(group for group, _ in groups) else ""


def _html_row(row: Row) -> str:
    title = f' title="{escape(row.command)}"' if row.command else ""
    if row.not_run:
        cells = f'<td class="nothing" colspan="{len(row.cells)}"{title}>not run</td>'
    else:
        cells = "".join(map(_html_cell, row.cells))
    return f'<tr class="{row.kind}"><td{title}>{escape(row.label)}</td>{cells}</tr>'


def _html_cell(cell: Cell) -> str:
    if cell.code:
        return f'<td class="nothing"><code>{escape(cell.text)}</code></td>'
    marks = ' class="best"' if cell.best else ""
    value = "" if cell.value is None else f' data-value="{cell.value:.6g}"'
    hint = "" if cell.p is None else f"p = {cell.p:.2g}; "
    hint += cell.command or ""
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
            yield from _markdown_case(part)
    yield from (f"Made by `{section.command}`.", "")


def _markdown_table(table: Table) -> Iterator[str]:
    heads = list(_name_columns(table.columns))
    yield f"| {' | '.join(_escape(head) for head in (table.first, *heads))} |"
    yield f"|---|{'---:|' * len(heads)}"
    for row in table.rows:
        label = f"*{_escape(row.label)}*" if row.kind == "paper" else _escape(row.label)
        cells = ["not run"] + [""] * (len(heads) - 1) if row.not_run else map(_markdown_cell, row.cells)
        yield f"| {' | '.join((label, *cells))} |"
    yield ""
    if table.note:
        yield from (table.note.replace("*", "\\*"), "")


def _name_columns(columns: Sequence[Column]) -> Iterator[str]:
    """Yield the heads of columns; the first of a group has the group before it."""
    before = ""
    for column in columns:
        yield f"{column.group}: {column.title}" if column.group and column.group != before else column.title
        before = column.group


def _markdown_cell(cell: Cell) -> str:
    if cell.code:
        return f"`{cell.text}`"
    text = f"**{_escape(cell.text)}**" if cell.best else _escape(cell.text)
    return f"{text}\\*" if cell.star else text


def _markdown_case(case: Case) -> Iterator[str]:
    yield from (f"**{_escape(case.title)}** ({_escape(case.why)})", "")
    for line in case.lines:
        yield f"- {_escape(line.label)}: {_render_pieces(line.pieces, _MARKS, _escape)}"
    yield ""


def _escape(text: str) -> str:
    for mark in "\\|*_`[]<>~":
        text = text.replace(mark, f"\\{mark}")
    return text
