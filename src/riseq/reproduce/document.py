"""A report as values: sections of tables, figures and cases, in which every number has the command that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

RowKind = Literal["ours", "paper", "missing"]


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


@dataclass(frozen=True, slots=True)
class Row:
    """One row: ours, the paper's own, or a system that was not run."""

    label: str
    cells: tuple[Cell, ...]
    kind: RowKind = "ours"
    command: str | None = None
    """What made the outputs the row is computed from."""

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
