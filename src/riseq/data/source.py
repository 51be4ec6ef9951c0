"""Files as they come in: plain or gzip, UTF-8, from disk or standard input."""

from __future__ import annotations

import errno
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from riseq.files import decompress
from riseq.types import InputError

STDIN = "-"
_BOM = b"\xef\xbb\xbf"
# What a file that is not UTF-8 text most often is, by its first bytes.
_NOT_TEXT = {
    b"\xff\xfe": "UTF-16 text, expected UTF-8",
    b"\xfe\xff": "UTF-16 text, expected UTF-8",
    b"\x1f\x8b": "gzip data, expected text (or a name that ends in .gz)",
    b"PAR1": "Parquet data, expected text (or a name that ends in .parquet)",
}


def name_source(path: str | Path) -> str:
    """Return the name of ``path`` in messages."""
    return "<stdin>" if str(path) == STDIN else str(path)


def check_source(path: str | Path) -> None:
    """Raise where ``path`` is not a file that can be opened; it is not opened, since a pipe can be only once."""
    if str(path) == STDIN:
        return
    with _told(path):
        if stat.S_ISDIR(os.stat(path).st_mode):
            raise IsADirectoryError
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@contextmanager
def open_source(path: str | Path) -> Iterator[BinaryIO]:
    """Open ``path`` for reading, through gzip where its name ends in ``.gz``; ``-`` is standard input."""
    if str(path) == STDIN:
        yield sys.stdin.buffer
        return
    with _told(path):
        file = open(path, "rb")  # noqa: SIM115 - the with below closes it; only opening is answered for here
    with file, decompress(file, str(path).lower().endswith(".gz")) as stream:
        yield stream


def read_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the lines of ``file`` with their ends, less a byte-order mark."""
    number = 0
    try:
        for number, line in enumerate(file, 1):
            yield _strip_mark(line, name) if number == 1 else line
    except EOFError:
        raise InputError(f"{name}:{number + 1}: the gzip data is cut off here, expected a whole file") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{name}:{number + 1}: cannot be read: {_reason(error)}") from None


def read_text(path: str | Path) -> str:
    """Return all the text of a file that is one document."""
    name = name_source(path)
    with open_source(path) as file:
        return "".join(decode_line(line, name, number) for number, line in enumerate(read_lines(file, name), 1))


def decode_line(line: bytes, name: str, number: int) -> str:
    """Return the text of one line."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}:{number}: {not_utf8(error)}") from None


def not_utf8(error: UnicodeDecodeError) -> str:
    """Return what to tell about bytes that are not UTF-8."""
    return f"not UTF-8: got the byte 0x{error.object[error.start]:02x} at byte {error.start + 1} of the line"


@contextmanager
def _told(path: str | Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, expected a file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise InputError(f"{path}: cannot be opened: {_reason(error)}") from None


def _strip_mark(line: bytes, name: str) -> bytes:
    for magic, told in _NOT_TEXT.items():
        if line.startswith(magic):
            raise InputError(f"{name}: is {told}")
    return line.removeprefix(_BOM)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
