"""CSV and TSV: a header, then a row a record, with quotes around cells that need them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from riseq.data.bad_rows import BadRow
from riseq.data.fields import COLUMNS, FieldError, check_columns, list_names, parse_cell
from riseq.data.source import not_utf8, read_lines
from riseq.types import InputError

_LONGEST_CELL = 1 << 24
_END = "\r\n"


def read_delimited(
    file: BinaryIO, name: str, need_target: bool, delimiter: str
) -> Iterator[tuple[int, dict[str, object]] | BadRow]:
    """Yield each row below the header with its first line; empty lines are passed over."""
    # The module's limit of 128 KiB a cell is too low for a long dialogue, and none would let an unclosed quote take
    # all memory. It belongs to the whole process, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    faults: list[str] = []
    # strict: without it a stray quote changes the text in silence.
    records = csv.reader(_decode(read_lines(file, name), faults), delimiter=delimiter, strict=True)
    header = _read_header(records, name, faults)
    check_columns(name, header, need_target)
    while True:
        line = records.line_num + 1
        try:
            cells = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            faults.append(f"broken quotes: {error}")
            cells = [""]
        if faults:
            yield BadRow(name, line, faults[0])
            faults.clear()
        elif cells and len(cells) != len(header):
            yield BadRow(name, line, f"got {len(cells)} cells, expected {len(header)}: {list_names(header)}")
        elif cells:
            row: dict[str, object] = dict(zip(header, cells, strict=True))
            try:
                row["context"] = parse_cell(str(row["context"]))
            except FieldError as error:
                yield BadRow(name, line, str(error))
            else:
                yield line, row


def _decode(lines: Iterable[bytes], faults: list[str]) -> Iterator[str]:
    """Yield each line's text; a line that is not UTF-8 leaves word in ``faults`` for whoever has its record."""
    for line in lines:
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            faults.append(not_utf8(error))
            yield line.decode(errors="replace")


def _read_header(records: Iterator[list[str]], name: str, faults: list[str]) -> list[str]:
    try:
        header = [column.strip() for column in next(records, [])]
    except csv.Error as error:
        raise InputError(f"{name}:1: broken quotes: {error}, expected a header") from None
    if faults:
        raise InputError(f"{name}:1: {faults[0]}")
    if not header:
        raise InputError(f"{name}: no header, expected one with the columns {', '.join(COLUMNS)}")
    for column in header:
        if header.count(column) > 1:
            raise InputError(f"{name}:1: the column {column!r} is there twice, expected once")
    return header


class DelimitedWriter:
    """Writes a header with the first row's columns, then each row as it comes."""

    def __init__(self, file: BinaryIO, delimiter: str) -> None:
        # The terminator decides which cells Python 3.11 and 3.12 quote: with this one, those with either half of it.
        self._records = csv.writer(_Lines(file), delimiter=delimiter, lineterminator=_END)
        self._columns: list[str] | None = None

    def write(self, row: Mapping[str, object]) -> None:
        """Write one row, below the header."""
        columns = self._start(row) if self._columns is None else self._columns
        cells = [_cell(row.get(column)) for column in columns]
        if not row.keys() <= set(columns):
            extra = next(column for column in row if column not in columns)
            raise FieldError(f"the column {extra!r} is not in the first row; expected {', '.join(columns)}")
        self._records.writerow(cells)

    def finish(self, columns: Sequence[str]) -> None:
        """Write the header where no row came."""
        if self._columns is None:
            self._start(columns)

    def abandon(self) -> None:
        """Do nothing: nothing is held."""

    def _start(self, columns: Iterable[str]) -> list[str]:
        self._columns = list(columns)
        self._records.writerow(self._columns)
        return self._columns


class _Lines:
    """Takes the csv module's finished records and writes them as UTF-8 lines."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, record: str) -> None:
        self._file.write(record.removesuffix(_END).encode() + b"\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
