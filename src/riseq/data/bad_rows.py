"""Rows that cannot be used: where each one is, why, and how all of them are told at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from riseq.types import InputError

SHOWN = 20
"""How many bad rows a message lists before it counts the rest."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BadRow:
    """One row that cannot be used: its file, its line (its row number in Parquet) and what is wrong with it."""

    file: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"

    def as_row(self) -> dict[str, object]:
        """Return the row that tells of it in a table."""
        return {"line": self.line, "reason": _writable(self.reason), "file": _writable(self.file)}


def _writable(text: str) -> str:
    """Return ``text`` with half surrogate pairs spelled out: the name of a file, or of a field, may have them."""
    return text.encode(errors="backslashreplace").decode()


OnBad: TypeAlias = Callable[[BadRow], None]


class BadRows(InputError):
    """Every bad row of a file; the message has a line for each, up to a limit."""

    def __init__(self, rows: Sequence[BadRow]) -> None:
        lines = [str(row) for row in rows[:SHOWN]]
        if len(rows) > SHOWN:
            lines.append(f"and {len(rows) - SHOWN} more")
        super().__init__("\n".join(lines))
        self.rows = tuple(rows)

    def __reduce__(self) -> tuple[type[BadRows], tuple[tuple[BadRow, ...]]]:
        # An exception is pickled with its message alone, which is not what __init__ takes.
        return BadRows, (self.rows,)


def sift(outcomes: Iterable[T | BadRow], on_bad: OnBad | None) -> Iterator[T]:
    """Yield the good outcomes; each bad row goes to ``on_bad``, or all are raised together after the last outcome."""
    bad: list[BadRow] = []
    report = bad.append if on_bad is None else on_bad
    for outcome in outcomes:
        if isinstance(outcome, BadRow):
            report(outcome)
        else:
            yield outcome
    if bad:
        raise BadRows(bad)
