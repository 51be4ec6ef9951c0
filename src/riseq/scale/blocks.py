"""Blocks: runs of consecutive rows of one file, each of which is done by one worker and becomes one file."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from riseq.data.dialogue import read_context
from riseq.data.formats import check_pyarrow, read_parquet
from riseq.data.rows import BadRow
from riseq.data.source import read_lines
from riseq.data.tables import Record, find_format, parse_rows
from riseq.scale.storage import Source
from riseq.types import InputError

_ODD = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``first + 1`` to ``first + rows`` of a file, by its place among the inputs, and where they are in it."""

    file: int
    first: int
    rows: int
    start: int = 0
    """The byte of the text they start at; nothing in Parquet, which has its rows by number."""
    size: int = 0
    lines: int = 0
    """How many lines are before them."""

    def name(self, path: str) -> str:
        """Return the name of what becomes of it, without a suffix; sorted, names are in the order of the input."""
        stem = _ODD.sub("_", PurePosixPath(path).name)[:_LONGEST_NAME]
        return f"{self.file:05d}-{stem}-{self.first:012d}-{self.first + self.rows:012d}"


@dataclass(frozen=True, slots=True)
class Cut:
    """A file, cut into blocks."""

    digest: str
    size: int
    blocks: tuple[Block, ...]
    header: bytes = b""
    """What stands before the rows of every block of it but the first, which has it."""

    @property
    def rows(self) -> int:
        """How many rows it has, bad ones counted."""
        return sum(block.rows for block in self.blocks)


def cut_file(source: Source, place: int, rows: int) -> Cut:
    """Return the blocks of at most ``rows`` rows of a file, input number ``place``, which is read to its end."""
    with source.open_packed() as file:
        digest = hashlib.sha256()
        size = 0
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    with source.open() as file:
        kind = _kind(source)
        if kind == "parquet":
            return Cut(digest.hexdigest(), size, tuple(_cut_parquet(file, source.name, place, rows)))
        # The lines of JSONL are the cheaper to count: only CSV has to be parsed to know where a row ends.
        counted = _Counted(file)
        stream = cast(BinaryIO, counted)
        each: Iterable[object]
        if kind == "jsonl":
            each = (line for line in read_lines(stream, source.name) if not line.isspace())
        else:
            each = find_format(source.path).read(stream, source.name, False)
        blocks = tuple(_cut_text(each, counted, place, rows))
    header = b"\n"  # a blank line is no row: what only the first line of a file may have is not looked for there
    if kind != "jsonl" and len(blocks) > 1:
        with source.open() as file:
            header = _read_header(file, "," if kind == "csv" else "\t")
    return Cut(digest.hexdigest(), size, blocks, header)


def read_block(file: BinaryIO, source: Source, block: Block, header: bytes) -> list[Record | BadRow]:
    """Return what the rows of a block are, read as the whole file's would be."""
    if _kind(source) == "parquet":
        rows = read_parquet(file, source.name, False, block.first, block.rows)
    else:
        rows = _read_text(file, source, block, header if block.first else b"")
    found = list(parse_rows(rows, source.name, read_dialogue=read_context, before=block.first))
    if len(found) != block.rows:
        raise InputError(
            f"{source.name}: has {len(found):,} rows after row {block.first:,}, expected {block.rows:,}: "
            "it was changed while it was read"
        )
    return found


def _kind(source: Source) -> str:
    form = find_format(source.path)
    if form.check is check_pyarrow:
        return "parquet"
    return source.path.lower().removesuffix(".gz").rpartition(".")[2]


def _cut_parquet(file: BinaryIO, name: str, place: int, rows: int) -> Iterator[Block]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # The reader has its own words for a file that is none, or lacks a column.
    next(read_parquet(file, name, False, rows=0), None)
    try:
        total = pq.ParquetFile(file).metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{name}: not a whole Parquet file: {str(error).partition(chr(10))[0]}") from None
    for first in range(0, total, rows):
        yield Block(place, first, min(rows, total - first))


def _cut_text(each: Iterable[object], counted: _Counted, place: int, rows: int) -> Iterator[Block]:
    """Yield a block whenever ``rows`` of the rows have come, and one for the rest."""
    first = start = lines = number = 0
    block = partial(Block, place)
    for number, _ in enumerate(each, 1):
        if number - first == rows:
            yield block(first, rows, start, counted.bytes - start, lines)
            first, start, lines = number, counted.bytes, counted.lines
    if number > first:
        yield block(first, number - first, start, counted.bytes - start, lines)


def _read_text(
    file: BinaryIO, source: Source, block: Block, header: bytes
) -> Iterator[tuple[int, dict[str, object]] | BadRow]:
    # Forward only, a gzip stream goes on where it was: a worker unpacks a file once, not once a block.
    file.seek(block.start)
    text = io.BytesIO(header + file.read(block.size))
    shift = block.lines - header.count(b"\n")
    for row in find_format(source.path).read(text, source.name, False):
        if isinstance(row, BadRow):
            yield BadRow(row.file, row.line + shift, row.reason)
        else:
            yield row[0] + shift, row[1]


def _read_header(file: BinaryIO, delimiter: str) -> bytes:
    """Return the first record of a delimited file, which may be several lines."""
    lines: list[bytes] = []

    def read() -> Iterator[str]:
        for line in file:
            lines.append(line)
            yield line.decode(errors="replace")

    next(csv.reader(read(), delimiter=delimiter, strict=True), None)
    return b"".join(lines)


class _Counted:
    """The lines of a file, and how much of it has been handed out."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.bytes = 0
        self.lines = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._file:
            self.bytes += len(line)
            self.lines += 1
            yield line
