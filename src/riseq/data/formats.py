"""The file formats of tables: JSONL, JSON, CSV, TSV, and Parquet by pyarrow, which loads only when it is needed."""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Any, BinaryIO, TypeAlias

from riseq.data.rows import COLUMNS, BadRow, FieldError, Rows, check_columns, describe, list_names, parse_cell
from riseq.extras import needs_extra
from riseq.files import not_utf8, read_lines, read_text
from riseq.types import InputError

RowsOut: TypeAlias = Iterable[Mapping[str, object]]
Columns: TypeAlias = Sequence[str] | Mapping[str, type]
"""The names of columns, or each with the type of its cells."""
_HALF_PAIR = "half a surrogate pair in the text, expected Unicode"


def read_jsonl(file: BinaryIO, name: str, need_target: bool) -> Rows:  # noqa: ARG001
    """Yield each object with its line; blank lines are passed over."""
    for number, line in enumerate(read_lines(file, name), 1):
        if line.isspace():
            continue
        try:
            row = json.loads(line.rstrip().decode())
        except UnicodeDecodeError as error:
            yield BadRow(name, number, not_utf8(error))
        except json.JSONDecodeError as error:
            yield BadRow(name, number, f"not JSON: {error.msg} at character {error.pos + 1}, expected an object")
        except (ValueError, RecursionError) as error:
            # Numbers of thousands of digits and thousands of brackets.
            yield BadRow(name, number, f"not usable JSON: {error}, expected an object")
        else:
            if isinstance(row, dict):
                yield number, row
            else:
                yield BadRow(name, number, f"got {describe(row)}, expected an object with context and question")


def write_jsonl(file: BinaryIO, rows: RowsOut, columns: Columns, flush: bool = False) -> None:  # noqa: ARG001
    """Write each row as it comes; with ``flush`` all the way."""
    for row in rows:
        file.write(_encode(_to_json(dict(row))) + b"\n")
        if flush:  # whoever reads the other end of a pipe gets each row when it is there
            file.flush()


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise FieldError(_HALF_PAIR) from None


def read_json(file: BinaryIO, name: str, need_target: bool = False) -> Rows:  # noqa: ARG001
    """Yield each object of the list in ``file`` with its line."""
    text, decode = read_text(file, name), json.JSONDecoder().raw_decode
    position, mark, line, counted = _skip_blank(text, 0), "[", 1, 0
    while text[position : position + 1] == mark:  # "[" before the first object, "," before the others
        position, mark = _skip_blank(text, position + 1), ","
        if text[position : position + 1] == "]":
            return
        line, counted = line + text.count("\n", counted, position), position
        try:
            value, position = decode(text, position)
        except json.JSONDecodeError as error:
            # Where one object breaks, nobody knows where the next one starts.
            raise InputError(f"{name}:{error.lineno}: broken JSON: {error.msg} (character {error.colno})") from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}:{line}: not usable JSON: {error}") from None
        is_row = isinstance(value, dict)
        yield (line, value) if is_row else BadRow(name, line, f"got {describe(value)}, expected an object")
        position = _skip_blank(text, position)
    if text[position : position + 1] != "]" or mark == "[":
        here = 1 + text.count("\n", 0, position)
        got = describe(text[position : position + 20]) if position < len(text) else "the end of the file"
        expected = "a JSON list" if mark == "[" else "',' or ']'"
        raise InputError(f"{name}:{here}: broken JSON: got {got}, expected {expected}")


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def write_json(file: BinaryIO, rows: RowsOut, columns: Columns) -> None:  # noqa: ARG001
    """Write one list, a row a line."""
    before = b"[\n"
    for row in rows:
        file.write(before + _encode(_to_json(dict(row))))
        before = b",\n"
    file.write(b"[]\n" if before == b"[\n" else b"\n]\n")


_LONGEST_CELL = 1 << 24
_END = "\r\n"


def read_delimited(file: BinaryIO, name: str, need_target: bool, delimiter: str) -> Rows:
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
            yield _split_context(dict(zip(header, cells, strict=True)), name, line)


def _split_context(row: dict[str, object], name: str, line: int) -> tuple[int, dict[str, object]] | BadRow:
    """Return the row with a context, or messages, in a cell of text as the list it stands for."""
    cells = {field: row[field] for field in ("context", "messages") if isinstance(row.get(field), str)}
    try:
        return line, row | {field: parse_cell(str(cell)) for field, cell in cells.items()}
    except FieldError as error:
        return BadRow(name, line, str(error))


def _decode(lines: Iterable[bytes], faults: list[str]) -> Iterator[str]:
    """Yield each line's text; what is wrong with one that is not UTF-8 is added to ``faults``."""
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


def write_delimited(file: BinaryIO, rows: RowsOut, columns: Columns, delimiter: str) -> None:
    """Write a header with the first row's columns, then each row as it comes."""
    header, checked = _find_columns(rows, columns)
    # The terminator decides which cells Python 3.11 and 3.12 quote: with this one, those with either half of it.
    records = csv.writer(_Lines(file), delimiter=delimiter, lineterminator=_END)
    records.writerow(header)
    for row in checked:
        records.writerow([_to_cell(row.get(column)) for column in header])


class _Lines:
    """Takes the csv module's finished records and writes them as UTF-8 lines."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, record: str) -> None:
        self._file.write(_encode(record.removesuffix(_END)) + b"\n")


def _find_columns(rows: RowsOut, columns: Columns) -> tuple[list[str], RowsOut]:
    """Return the first row's columns, or ``columns`` where there is no row, and the rows, which have no others."""
    remaining = iter(rows)
    first = list(islice(remaining, 1))
    known = list(first[0] if first else columns)

    def check() -> Iterator[Mapping[str, object]]:
        for row in chain(first, remaining):
            extra = next((column for column in row if column not in known), None)
            if extra is not None:
                raise FieldError(f"the column {extra!r} is not in the first row; expected {', '.join(known)}")
            yield row

    return known, check()


def _to_cell(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else _to_json(value)


_BATCH = 4096


def check_pyarrow() -> None:
    """Raise where pyarrow is not installed."""
    with needs_extra("parquet", "Parquet"):
        import pyarrow.parquet  # noqa: F401


def read_parquet(file: BinaryIO, name: str, need_target: bool, first: int = 0, rows: int | None = None) -> Rows:
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
                yield _split_context(row, name, number)
    except UnicodeDecodeError:
        raise InputError(f"{name}: a string after row {number} is not UTF-8") from None
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name}: not a whole Parquet file (after row {number}): {_first_line(error)}") from None


def count_parquet(file: BinaryIO, name: str) -> int:
    """Return how many rows a Parquet file has; raises for a file that is none, or lacks a column."""
    import pyarrow.parquet as pq

    next(read_parquet(file, name, False, rows=0), None)
    return int(pq.ParquetFile(file).metadata.num_rows)


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


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def write_parquet(file: BinaryIO, rows: RowsOut, columns: Columns) -> None:
    """Write a row group for every few thousand rows; the first group decides the types that ``columns`` don't say."""
    import pyarrow.parquet as pq

    names, checked = _find_columns(rows, columns)
    remaining, types, writer = iter(checked), _known_types(columns), None
    try:
        while (group := list(islice(remaining, _BATCH))) or writer is None:
            table = _make_table(group, names, types)
            if writer is None:
                writer, types = pq.ParquetWriter(file, table.schema), dict(zip(names, table.schema.types, strict=True))
            writer.write_table(table)
        writer.close()
    except BaseException:
        if writer is not None:
            with suppress(Exception):
                writer.close()  # pyarrow's side; the file is not a whole one and its owner removes it
        raise


def _make_table(rows: Sequence[Mapping[str, object]], columns: Sequence[str], types: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    arrays = []
    for column in columns:
        try:
            array = pa.array([row.get(column) for row in rows], type=types.get(column))
        except UnicodeEncodeError:
            raise FieldError(_HALF_PAIR) from None
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise FieldError(f"the column {column!r} does not hold one type: {_first_line(error)}") from None
        # A column that is empty so far has no type; text is what most columns turn out to hold.
        arrays.append(array.cast(pa.string()) if pa.types.is_null(array.type) else array)
    return pa.Table.from_arrays(arrays, names=columns)


def _known_types(columns: Columns) -> dict[str, Any]:
    import pyarrow as pa

    arrow = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    kinds = columns if isinstance(columns, Mapping) else {}
    said = {name: arrow[kind] for name, kind in kinds.items() if kind in arrow}
    # A column may be empty in the first group, or all of them: its type must not depend on that.
    texts = dict.fromkeys(("id", "question", "target", "text", "reason", "steps", "alternatives"), pa.string())
    return {**said, **texts, "context": pa.list_(pa.string()), "truncated": pa.bool_(), "confidence": pa.float64()}
