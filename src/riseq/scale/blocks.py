"""Blocks: runs of consecutive rows of one file, each of which one worker turns into one file of results."""

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from riseq.data.formats import count_parquet, read_json, read_parquet
from riseq.data.rows import BadRow, Record
from riseq.data.tables import find_format, parse_rows
from riseq.files import read_lines
from riseq.scale.storage import Source
from riseq.types import InputError

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class Block:
    """Rows ``first + 1`` to ``first + rows`` of a file, which is number ``index`` of the inputs."""

    source: Source
    index: int
    first: int
    rows: int
    start: int = 0
    """The byte of the text that they start at; unused in Parquet, which finds its rows by number."""
    size: int = 0
    lines_before: int = 0
    header: bytes = b""
    """What has to be read before them: the header of CSV and TSV, unless they have it themselves."""

    @property
    def name(self) -> str:
        """The name of its file of results, without a suffix; sorted, names are in the order of the input."""
        stem = _NOT_IN_NAMES.sub("_", PurePosixPath(self.source.path).name)[:80]
        return f"{self.index:05d}-{stem}-{self.first:012d}-{self.first + self.rows:012d}"


def split_file(source: Source, index: int, rows: int) -> tuple[dict[str, object], list[Block]]:
    """Return what a manifest says of input number ``index``, and its blocks of at most ``rows`` rows."""
    with source.open(unpack=False) as file:
        digest, size = hashlib.file_digest(cast(Any, file), "sha256").hexdigest(), file.tell()
    name, read = source.name, find_format(source.path).read
    if read in (read_parquet, read_json):
        with source.open() as file:
            total = count_parquet(file, name) if read is read_parquet else sum(1 for _ in read_json(file, name))
        blocks = [Block(source, index, first, min(rows, total - first)) for first in range(0, total, rows)]
    else:
        blocks = list(_split_text(source, index, rows))
        total = sum(block.rows for block in blocks)
    return {"file": name, "rows": total, "blocks": len(blocks), "bytes": size, "sha256": digest}, blocks


def read_block(file: BinaryIO, block: Block) -> list[Record | BadRow]:
    """Return the rows of a block of the open ``file``, read as the whole file's would be."""
    name, read = block.source.name, find_format(block.source.path).read
    if read is read_parquet:
        rows = read_parquet(file, name, False, block.first, block.rows)
    elif read is read_json:
        file.seek(0)
        rows = islice(read_json(file, name), block.first, block.first + block.rows)
    else:
        rows = _read_text(file, block)
    found = list(parse_rows(rows, name, before=block.first))
    if len(found) != block.rows:
        rows_found = f"{len(found):,} rows after row {block.first:,}, expected {block.rows:,}"
        raise InputError(f"{name}: has {rows_found}: it was changed while it was read")
    return found


def _split_text(source: Source, index: int, rows: int) -> Iterator[Block]:
    suffix = source.path.lower().removesuffix(".gz").rpartition(".")[2]
    bytes_read = lines_read = 0

    def count(file: BinaryIO) -> Iterator[bytes]:
        nonlocal bytes_read, lines_read
        for line in file:
            bytes_read += len(line)
            lines_read += 1
            yield line

    with source.open() as file:
        stream = cast(BinaryIO, count(file))
        # The lines of JSONL are the cheaper to count: only CSV has to be parsed to know where a row ends.
        each: Iterable[object] = (line for line in read_lines(stream, source.name) if not line.isspace())
        if suffix != "jsonl":
            each = find_format(source.path).read(stream, source.name, False)
        header, first, start, lines, number = b"", 0, 0, 0, 0
        for number, _ in enumerate(each, 1):
            if number - first == rows:
                yield Block(source, index, first, rows, start, bytes_read - start, lines, header)
                first, start, lines = number, bytes_read, lines_read
                # A blank line is no row: what only the first line of a file may have is not looked for after it.
                header = header or (b"\n" if suffix == "jsonl" else _read_header(source, suffix))
        if number > first:
            yield Block(source, index, first, number - first, start, bytes_read - start, lines, header)


def _read_text(file: BinaryIO, block: Block) -> Iterator[tuple[int, dict[str, object]] | BadRow]:
    # Forward only, a gzip stream goes on where it was: a worker unpacks a file once, not once a block.
    file.seek(block.start)
    text = io.BytesIO(block.header + file.read(block.size))
    shift = block.lines_before - block.header.count(b"\n")
    for row in find_format(block.source.path).read(text, block.source.name, False):
        yield replace(row, line=row.line + shift) if isinstance(row, BadRow) else (row[0] + shift, row[1])


def _read_header(source: Source, suffix: str) -> bytes:
    """Return the first record of a CSV or TSV file, which may be several lines."""
    with source.open() as file:
        records = csv.reader(map(bytes.decode, file), delimiter="," if suffix == "csv" else "\t", strict=True)
        next(records)
        file.seek(0)
        return b"".join(islice(file, records.line_num))
