"""Tables of questions: JSONL, JSON, CSV, TSV and Parquet in and out, a row at a time, by the file's suffix."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

from riseq.data import formats
from riseq.data.rows import COLUMNS, BadRow, FieldError, OnBad, Record, Rows, parse_example, sift
from riseq.files import STDIN, STDOUT, check_source, check_writable, compress, name_source, open_source, replace_file
from riseq.types import Example, InputError

Outcomes = Iterator[Record | BadRow]
RowWriter = Callable[[formats.RowsOut, formats.Columns], None]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: how it is read, how it is written, and what must be installed for it."""

    read: Callable[[BinaryIO, str, bool], Rows]
    """From an open file, its name in messages, and whether each row needs a target."""
    write: Callable[[BinaryIO, formats.RowsOut, formats.Columns], None]
    """To an open file, the rows; the columns are the file's where no row comes."""
    check: Callable[[], None] = lambda: None

    def writer(self, file: BinaryIO) -> RowWriter:
        """Return what writes rows to ``file``."""
        return partial(self.write, file)


_JSONL = Format(formats.read_jsonl, formats.write_jsonl)
_TEXT = {
    ".jsonl": _JSONL,
    ".csv": Format(partial(formats.read_delimited, delimiter=","), partial(formats.write_delimited, delimiter=",")),
    ".tsv": Format(partial(formats.read_delimited, delimiter="\t"), partial(formats.write_delimited, delimiter="\t")),
    ".json": Format(formats.read_json, formats.write_json),
}
_PARQUET = Format(formats.read_parquet, formats.write_parquet, formats.check_pyarrow)
SUFFIXES = {**_TEXT, ".parquet": _PARQUET, **{f"{suffix}.gz": form for suffix, form in _TEXT.items()}}
"""The formats by the end of a file's name, in any case."""


def read_examples(path: str | Path, *, on_bad: OnBad | None = None, need_target: bool = False) -> Iterator[Example]:
    """Yield the examples of the file at ``path``, a row (in Parquet a batch) in memory; ``-`` is JSONL on stdin.

    Each bad row goes to ``on_bad``; without it BadRows is raised with all of them, after the last good row.
    """
    return (record.example for record in read_records(path, on_bad=on_bad, need_target=need_target))


def read_records(path: str | Path, *, on_bad: OnBad | None = None, need_target: bool = False) -> Iterator[Record]:
    """Yield the examples at ``path`` as ``read_examples`` does, each with its whole row."""
    return sift(read_outcomes(path, need_target=need_target), on_bad)


def read_outcomes(path: str | Path, *, need_target: bool = False) -> Outcomes:
    """Yield what became of each row at ``path``, good or bad, in the file's order."""
    form = find_format(path)
    check_source(path)
    form.check()

    def parse() -> Outcomes:
        name = name_source(path)
        with open_source(path) as file:
            yield from parse_rows(form.read(file, name, need_target), name, need_target)

    return parse()


def write_rows(path: str | Path, rows: Iterable[Mapping[str, object]], columns: formats.Columns = COLUMNS) -> int:
    """Write ``rows`` to ``path`` as they come and return how many there were; ``-`` is JSONL on standard output.

    The file appears when the last row is in it: an error or an interrupt, in ``rows`` too, leaves what was there. The
    first row, or ``columns`` where there is none, names the columns of CSV, TSV and Parquet, where lists and objects
    are cells of JSON (in Parquet, lists and structs). ``columns`` with types decide those of Parquet.
    """
    check_output(path)
    form = find_format(path)
    if str(path) == STDOUT:
        return write_all(partial(formats.write_jsonl, sys.stdout.buffer, flush=True), rows, columns, "<stdout>")
    with replace_file(path) as file, compress(file, str(path).lower().endswith(".gz")) as stream:
        return write_all(form.writer(stream), rows, columns, path)


def check_output(path: str | Path) -> None:
    """Raise what ``write_rows`` would raise about ``path`` itself, before any long work."""
    form = find_format(path)
    if str(path) != STDOUT:
        check_writable(path)
    form.check()


def find_format(path: str | Path) -> Format:
    """Return the format that the end of the name says."""
    if str(path) == STDIN:
        return _JSONL
    name = Path(path).name.lower()
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    raise InputError(f"{path}: unknown kind of file, expected a name that ends in {', '.join(SUFFIXES)}")


def parse_rows(rows: Rows, name: str, need_target: bool = False, before: int = 0) -> Outcomes:
    """Yield what becomes of each row of the file called ``name``, which has ``before`` others before the first."""
    # Bad rows count, so that a row's number does not depend on what becomes of the others.
    for number, row in enumerate(rows, before + 1):
        if isinstance(row, BadRow):
            yield row
            continue
        line, fields = row
        try:
            example = parse_example(fields, number, need_target)
        except FieldError as error:
            yield BadRow(name, line, str(error))
        else:
            yield Record(example, fields, line)


def write_all(write: RowWriter, rows: formats.RowsOut, columns: formats.Columns, path: str | Path) -> int:
    """Write all ``rows`` by ``write`` and return how many there were; messages call the file ``path``."""
    count = 0

    def count_rows() -> Iterator[Mapping[str, object]]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    try:
        write(count_rows(), columns)
    except FieldError as error:
        raise InputError(f"{path}: row {count}: {error}") from None
    return count
