"""Parquet, by pyarrow, which loads only when a Parquet file is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, BinaryIO

from riseq.data.bad_rows import BadRow
from riseq.data.fields import FieldError, check_columns, parse_cell
from riseq.types import InputError

_BATCH = 4096


def check_pyarrow() -> None:
    """Raise where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError("Parquet needs pyarrow, which is not installed: pip install 'riseq[scale]'") from None


def read_parquet(
    file: BinaryIO, name: str, need_target: bool, first: int = 0, rows: int | None = None
) -> Iterator[tuple[int, dict[str, object]] | BadRow]:
    """Yield each row with its number, a batch in memory at a time; the ``rows`` after the ``first`` where it is said.

    Only the row groups that have some of them are read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = first
    try:
        table = pq.ParquetFile(file)
        check_columns(name, table.schema_arrow.names, need_target)
        left = table.metadata.num_rows - first if rows is None else rows
        groups, skip = _find_groups(table.metadata, first, left)
        for batch in table.iter_batches(batch_size=_BATCH, row_groups=groups):
            wanted = batch.slice(skip, left)
            skip, left = max(0, skip - batch.num_rows), left - wanted.num_rows
            for row in wanted.to_pylist():
                number += 1
                yield _place(row, name, number)
    except UnicodeDecodeError:
        raise InputError(f"{name}: a string after row {number} is not UTF-8") from None
    except (pa.ArrowException, OSError) as error:
        told = str(error).partition("\n")[0]
        raise InputError(f"{name}: not a whole Parquet file (after row {number}): {told}") from None


def _find_groups(metadata: Any, first: int, rows: int) -> tuple[list[int], int]:
    """Return the row groups with the ``rows`` after the ``first``, and how many rows of those to pass over."""
    groups: list[int] = []
    skip = before = 0
    for group in range(metadata.num_row_groups):
        after = before + metadata.row_group(group).num_rows
        if before < first + rows and first < after:
            skip = skip if groups else first - before
            groups.append(group)
        before = after
    return groups, skip


def _place(row: dict[str, object], name: str, number: int) -> tuple[int, dict[str, object]] | BadRow:
    context = row["context"]
    if isinstance(context, str):
        try:
            row["context"] = parse_cell(context)
        except FieldError as error:
            return BadRow(name, number, str(error))
    return number, row


class ParquetWriter:
    """Writes a row group for every few thousand rows; the first group decides the types."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rows: list[Mapping[str, object]] = []
        self._columns: list[str] | None = None
        self._writer: Any = None

    def write(self, row: Mapping[str, object]) -> None:
        """Hold one row, and write the group it fills."""
        if self._columns is None:
            self._columns = list(row)
        elif not row.keys() <= set(self._columns):
            extra = next(column for column in row if column not in self._columns)
            raise FieldError(f"the column {extra!r} is not in the first row; expected {', '.join(self._columns)}")
        self._rows.append(row)
        if len(self._rows) == _BATCH:
            self._write_group(self._columns)

    def finish(self, columns: Sequence[str]) -> None:
        """Write what is held and the file's end."""
        self._columns = list(columns) if self._columns is None else self._columns
        if self._rows or self._writer is None:
            self._write_group(self._columns)
        self._writer.close()

    def abandon(self) -> None:
        """Close pyarrow's side; the file is not a whole one and its owner removes it."""
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()

    def _write_group(self, columns: Sequence[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {name: self._writer.schema.field(name).type for name in columns} if self._writer else _known_types()
        arrays = []
        for column in columns:
            values = [row.get(column) for row in self._rows]
            try:
                array = pa.array(values, type=types.get(column))
            except UnicodeEncodeError:
                raise
            except (pa.ArrowException, OverflowError, TypeError) as error:
                told = str(error).partition("\n")[0]
                raise FieldError(f"the column {column!r} does not hold one type: {told}") from None
            # A column that is empty so far has no type; text is what most columns turn out to hold.
            arrays.append(array.cast(pa.string()) if pa.types.is_null(array.type) else array)
        group = pa.Table.from_arrays(arrays, names=columns)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, group.schema)
        self._writer.write_table(group)
        self._rows = []


def _known_types() -> dict[str, Any]:
    import pyarrow as pa

    # A column may be empty in the first group, or all of them: its type must not depend on that.
    texts = dict.fromkeys(("id", "question", "target", "text", "steps", "alternatives"), pa.string())
    return {**texts, "context": pa.list_(pa.string()), "truncated": pa.bool_(), "confidence": pa.float64()}
