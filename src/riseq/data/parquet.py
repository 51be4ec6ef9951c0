"""Parquet, by pyarrow, which loads only when a Parquet file is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from riseq.data.bad_rows import BadRow
from riseq.data.fields import COLUMNS, FieldError, check_columns, parse_cell
from riseq.types import InputError

_BATCH = 4096


def check_pyarrow() -> None:
    """Raise where pyarrow is not installed."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise InputError("Parquet needs pyarrow, which is not installed: pip install 'riseq[scale]'") from None


def read_parquet(file: BinaryIO, name: str, need_target: bool) -> Iterator[tuple[int, dict[str, object]] | BadRow]:
    """Yield each row with its number, a batch in memory at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        table = pq.ParquetFile(file)
        check_columns(name, table.schema_arrow.names, need_target)
        for batch in table.iter_batches(batch_size=_BATCH):
            for row in batch.to_pylist():
                number += 1
                yield _place(row, name, number)
    except UnicodeDecodeError:
        raise InputError(f"{name}: a string after row {number} is not UTF-8") from None
    except (pa.ArrowException, OSError) as error:
        told = str(error).partition("\n")[0]
        raise InputError(f"{name}: not a whole Parquet file (after row {number}): {told}") from None


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
            self._write_group()

    def finish(self) -> None:
        """Write what is held and the file's end."""
        if self._rows or self._writer is None:
            self._write_group()
        self._writer.close()

    def abandon(self) -> None:
        """Close pyarrow's side; the file is not a whole one and its owner removes it."""
        if self._writer is not None:
            with suppress(Exception):
                self._writer.close()

    def _write_group(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = list(COLUMNS) if self._columns is None else self._columns
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

    return {"id": pa.string(), "context": pa.list_(pa.string()), "question": pa.string(), "target": pa.string()}
