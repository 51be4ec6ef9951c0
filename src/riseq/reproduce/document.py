"""A report as values: sections of tables, figures and cases, in which every number knows the command that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import align
from riseq.text.words import Word, split

RowKind = Literal["ours", "paper", "missing"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a diff: kept, gone or new."""

    kind: Literal["same", "old", "new"]
    text: str


def diff_words(before: str, after: str) -> list[Piece]:
    """Return ``before`` and ``after`` as one diff of words; words that differ only in case are the same.

    Side by side, what went stands before what came. A piece has the spacing of the text it is from.
    """
    old, new = split(before), split(after)
    pieces: list[Piece] = []
    gone: list[Word] = []
    came: list[Word] = []
    same: list[Word] = []

    def close() -> None:
        for kind, text, words in (("same", after, same), ("old", before, gone), ("new", after, came)):
            if words:
                pieces.append(Piece(kind, text[words[0].start : words[-1].end]))  # type: ignore[arg-type]
            words.clear()

    for move in align([MARKER, *(word.form for word in old)], [MARKER, *(word.form for word in new)]):
        if move.op is Op.KEEP:
            if gone or came:
                close()
            same.append(new[move.j - 1])
            continue
        if same:
            close()
        if move.op is not Op.INSERT:
            gone.append(old[move.i - 1])
        if move.op is not Op.DELETE:
            came.append(new[move.j - 1])
    close()
    return pieces


def needs_space(text: str) -> bool:
    """Return whether a piece of a diff stands apart from the one before: all do but closing marks."""
    return not text.startswith(tuple("?.,!;:)'’%"))


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


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ours, the paper's own, or a system that was not run."""

    label: str
    cells: tuple[Cell, ...]
    kind: RowKind = "ours"
    command: str | None = None
    """What made the outputs the row is computed from."""


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


def tell_report(report: Report) -> dict[str, Any]:
    """Return the report's numbers as JSON has them: each with its command; drawings by their data."""
    return {
        "title": report.title,
        "intro": list(report.intro),
        "sections": {section.key: _tell_section(section) for section in report.sections},
        "systems": dict(report.systems),
    }


def _tell_section(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "intro": section.intro,
        "command": section.command,
        "tables": [_tell_table(part) for part in section.parts if isinstance(part, Table)],
        "figures": [
            {"key": part.key, "title": part.title, "note": part.note, "command": section.command, "data": part.data}
            for part in section.parts
            if isinstance(part, Figure)
        ],
        "cases": [_tell_case(part) for part in section.parts if isinstance(part, Case)],
    }


def _tell_table(table: Table) -> dict[str, Any]:
    return {
        "key": table.key,
        "title": table.title,
        "note": table.note,
        "columns": [f"{column.group}: {column.title}" if column.group else column.title for column in table.columns],
        "rows": [
            {"label": row.label, "kind": row.kind, "command": row.command, "cells": [_tell_cell(c) for c in row.cells]}
            for row in table.rows
        ],
    }


def _tell_cell(cell: Cell) -> dict[str, Any]:
    told = {"text": cell.text, "value": cell.value, "command": cell.command}
    if cell.p is not None:
        told |= {"significant": cell.star, "p": cell.p}
    return told


def _tell_case(case: Case) -> dict[str, Any]:
    lines = [
        {"label": line.label, "diff": [{"kind": piece.kind, "text": piece.text} for piece in line.pieces]}
        for line in case.lines
    ]
    return {"title": case.title, "why": case.why, "lines": lines}
