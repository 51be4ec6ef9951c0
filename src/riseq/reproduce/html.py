"""The report as one HTML file that needs nothing beside it: styles, script and drawings are inside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from riseq.reproduce.document import Case, Cell, Column, Figure, Part, Piece, Report, Row, Section, Table, needs_space

_TAGS = {"old": "del", "new": "ins"}


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
            *map(_render_section, report.sections),
            f"</main>\n<script>\n{(here / 'page.js').read_text(encoding='utf-8')}</script>\n</body>\n</html>\n",
        )
    )


def render_pieces(pieces: Sequence[Piece]) -> str:
    """Return a diff as HTML: what went struck, what came marked."""
    text = ""
    for piece in pieces:
        tag = _TAGS.get(piece.kind)
        shown = f"<{tag}>{escape(piece.text)}</{tag}>" if tag else escape(piece.text)
        text += f" {shown}" if text and needs_space(piece.text) else shown
    return text


def _render_section(section: Section) -> str:
    parts = [_render_part(part, section.title) for part in section.parts] or ['<p class="note">Not run.</p>']
    head = f'<section id="{section.key}">\n<h2>{escape(section.title)}</h2>\n<p>{escape(section.intro)}</p>'
    made = f'<p class="note">Made by <code>{escape(section.command)}</code></p>'
    return "\n".join((head, *parts, made, "</section>"))


def _render_part(part: Part, above: str) -> str:
    if isinstance(part, Table):
        head = "" if part.title == above else f'<h3 id="table-{escape(part.key)}">{escape(part.title)}</h3>\n'
        return f"{head}{_render_table(part)}"
    return _render_figure(part) if isinstance(part, Figure) else _render_case(part)


def _render_table(table: Table) -> str:
    note = f'\n<p class="note">{escape(table.note)}</p>' if table.note else ""
    titles = "".join(
        f'<th scope="col"><button type="button">{escape(title)}</button></th>'
        for title in (table.first, *(column.title for column in table.columns))
    )
    return (
        '<div class="scroll"><table>\n<thead>'
        f"{_render_groups(table.columns)}<tr>{titles}</tr></thead>\n<tbody>\n"
        + "\n".join(map(_render_row, table.rows))
        + f"\n</tbody>\n</table></div>{note}"
    )


def _render_groups(columns: Sequence[Column]) -> str:
    if not any(column.group for column in columns):
        return ""
    heads = "".join(
        f'<th colspan="{len(list(members))}">{escape(group)}</th>'
        for group, members in groupby(columns, key=lambda column: column.group)
    )
    return f'<tr class="groups"><th></th>{heads}</tr>'


def _render_row(row: Row) -> str:
    title = f' title="{escape(row.command)}"' if row.command else ""
    nothing = row.kind == "missing" and all(cell.value is None for cell in row.cells)
    if nothing:
        cells = f'<td class="nothing" colspan="{len(row.cells)}"{title}>not run</td>'
    else:
        cells = "".join(map(_render_cell, row.cells))
    return f'<tr class="{row.kind}"><td{title}>{escape(row.label)}</td>{cells}</tr>'


def _render_cell(cell: Cell) -> str:
    if cell.code:
        return f'<td class="nothing"><code>{escape(cell.text)}</code></td>'
    marks = ' class="best"' if cell.best else ""
    value = "" if cell.value is None else f' data-value="{cell.value:.6g}"'
    told = cell.command or ""
    if cell.p is not None:
        told = f"p = {cell.p:.2g}; {told}"
    title = f' title="{escape(told)}"' if told else ""
    return f"<td{marks}{value}{title}>{escape(cell.text)}{'*' if cell.star else ''}</td>"


def _render_figure(figure: Figure) -> str:
    note = f'\n<figcaption><p class="note">{escape(figure.note)}</p></figcaption>' if figure.note else ""
    svg = figure.svg.replace("<svg", f'<svg role="img" aria-label="{escape(figure.title)}"', 1)
    # A drawing's names are its own: two on one page must not answer to each other's.
    svg = svg.replace('id="', f'id="{figure.key}-').replace('"#', f'"#{figure.key}-').replace("(#", f"(#{figure.key}-")
    return f"<figure>\n<h3>{escape(figure.title)}</h3>\n{svg}{note}\n</figure>"


def _render_case(case: Case) -> str:
    lines = "".join(f"<dt>{escape(line.label)}</dt><dd>{render_pieces(line.pieces)}</dd>" for line in case.lines)
    head = f'<h3>{escape(case.title)}</h3>\n<p class="note">{escape(case.why)}</p>'
    return f'<article class="case">{head}<dl>{lines}</dl></article>'
