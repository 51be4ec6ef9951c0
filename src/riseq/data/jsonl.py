"""JSONL: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from riseq.data.bad_rows import BadRow
from riseq.data.fields import describe
from riseq.data.source import not_utf8, read_lines


def read_jsonl(file: BinaryIO, name: str, need_target: bool) -> Iterator[tuple[int, dict[str, object]] | BadRow]:  # noqa: ARG001
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


class JsonlWriter:
    """Writes each row as it comes; with ``flush`` all the way."""

    def __init__(self, file: BinaryIO, flush: bool = False) -> None:
        self._file = file
        self._flush = flush

    def write(self, row: Mapping[str, object]) -> None:
        """Write one line."""
        self._file.write(json.dumps(dict(row), ensure_ascii=False).encode() + b"\n")
        if self._flush:  # whoever reads the other end of a pipe gets each row when it is there
            self._file.flush()

    def finish(self, columns: Sequence[str]) -> None:
        """Do nothing: a line is whole when it is written."""

    def abandon(self) -> None:
        """Do nothing: nothing is held."""
