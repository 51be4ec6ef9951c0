"""Files as they come in (plain or gzip, UTF-8), and files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import secrets
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from riseq.types import InputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


STDIN = STDOUT = "-"
"""The name of standard input, and of standard output, among files."""
_BOM = b"\xef\xbb\xbf"
# What a file that is not UTF-8 text most often is, by its first bytes.
_NOT_TEXT = {
    b"\xff\xfe": "UTF-16 text, expected UTF-8",
    b"\xfe\xff": "UTF-16 text, expected UTF-8",
    b"\x1f\x8b": "gzip data, expected text (or a name that ends in .gz)",
    b"PAR1": "Parquet data, expected text (or a name that ends in .parquet)",
}


def checksum(content: bytes) -> str:
    """Return the CRC-32 of a file's content: damage is what it is for, not malice."""
    return f"{zlib.crc32(content):08x}"


def check_writable(path: str | Path) -> None:
    """Raise where a file cannot be put at ``path``."""
    target = Path(os.path.realpath(path))
    folder = target.parent
    if target.is_dir():
        raise InputError(f"{path}: is a folder, expected a file name")
    if target.exists() and not target.is_file():
        raise InputError(f"{path}: is not a regular file, expected one that may be replaced")
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {str(folder)!r} to write it in")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {str(folder)!r} cannot be written to")


def check_apart(source: str | Path, output: str | Path) -> None:
    """Raise where ``output`` is the file ``source``, by whatever name."""
    if os.path.exists(source) and os.path.exists(output) and os.path.samefile(source, output):
        raise InputError(f"{output}: is the input itself, expected another file for the results")


@contextmanager
def replace_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of ``path`` when the block ends well, and is removed when it does not."""
    check_writable(path)
    target = Path(os.path.realpath(path))  # a link stays a link, to the new file
    temporary = target.with_name(f".riseq-{secrets.token_hex(8)}.tmp")
    try:
        with _Temporary(temporary, path) as raw, io.BufferedWriter(raw) as file:
            yield cast(BinaryIO, file)
            file.flush()
            with writing(path):
                os.fsync(file.fileno())
        with writing(path):
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
        sync(target.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class _Temporary(io.FileIO):
    """A new file whose errors name the file it will become."""

    def __init__(self, temporary: Path, path: str | Path) -> None:
        self._path = path
        with writing(path):
            super().__init__(temporary, "xb")

    def write(self, data: ReadableBuffer, /) -> int:
        with writing(self._path):
            return super().write(data)


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Turn an ``OSError`` in the block into an ``InputError`` about writing ``path``."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error_reason(error)}") from None


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Turn an error of opening ``path`` in the block into an ``InputError`` about it."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, expected a file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise InputError(f"{path}: cannot be opened: {error_reason(error)}") from None


def error_reason(error: Exception) -> str:
    """Return what the system says is wrong, without its error number and the path."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def compress(file: BinaryIO, wanted: bool) -> AbstractContextManager[BinaryIO]:
    """Return a gzip stream into ``file`` where it is wanted; the same rows always give the same bytes."""
    if not wanted:
        return nullcontext(file)
    packed: Any = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0)
    return cast(BinaryIO, io.BufferedWriter(packed, 1 << 16))


def decompress(file: BinaryIO, wanted: bool) -> AbstractContextManager[BinaryIO]:
    """Return ``file`` through gzip where it is wanted."""
    if not wanted:
        return nullcontext(file)
    packed: Any = gzip.GzipFile(fileobj=file)
    # GzipFile hands out lines one slow call at a time; a buffer in front of it makes them cheap.
    return cast(BinaryIO, io.BufferedReader(packed, 1 << 16))


def name_source(path: str | Path) -> str:
    """Return the name of ``path`` in messages."""
    return "<stdin>" if str(path) == STDIN else str(path)


def check_source(path: str | Path) -> None:
    """Raise where ``path`` is not a file that can be opened; it is not opened, since a pipe can be only once."""
    if str(path) == STDIN:
        return
    with reading(path):
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
    with reading(path):
        file = open(path, "rb")  # noqa: SIM115 - the with below closes it; only opening is caught here
    with file, decompress(file, str(path).lower().endswith(".gz")) as stream:
        yield stream


def read_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the lines of ``file`` with their ends, less a byte-order mark."""
    number = 0
    try:
        for number, line in enumerate(file, 1):
            if number == 1:
                for magic, found in _NOT_TEXT.items():
                    if line.startswith(magic):
                        raise InputError(f"{name}: is {found}")
                line = line.removeprefix(_BOM)
            yield line
    except EOFError:
        raise InputError(f"{name}:{number + 1}: the gzip data is cut off here, expected a whole file") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{name}:{number + 1}: cannot be read: {error_reason(error)}") from None


def read_text(file: BinaryIO, name: str) -> str:
    """Return all the text of a file that is one document."""
    return "".join(decode_line(line, name, number) for number, line in enumerate(read_lines(file, name), 1))


def decode_line(line: bytes, name: str, number: int) -> str:
    """Return the text of one line."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}:{number}: {not_utf8(error)}") from None


def not_utf8(error: UnicodeDecodeError) -> str:
    """Return the message about bytes that are not UTF-8."""
    return f"not UTF-8: got the byte 0x{error.object[error.start]:02x} at byte {error.start + 1} of the line"


def format_json(content: object) -> str:
    """Return ``content`` as the indented JSON of a file."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def write_json(path: str | Path, content: object) -> None:
    """Write ``content`` as indented JSON, whole or not at all."""
    write_text(path, format_json(content))


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all."""
    with replace_file(path) as file:
        file.write(text.encode())


def sync(path: str | Path) -> None:
    """Wait until a file's content, or a folder's entries, are on disk; a system that cannot tell is not asked."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:  # Windows opens no folder
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def make_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder that takes the place of ``folder`` after the block; where the block fails nothing changes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield work
        replace_folder(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def replace_folder(new: Path, old: Path) -> None:
    """Put the folder ``new`` in the place of ``old``, readable by everyone."""
    # A temporary folder and safetensors' files are the owner's alone.
    os.chmod(new, 0o755)
    for file in new.rglob("*"):
        os.chmod(file, 0o755 if file.is_dir() else 0o644)
        sync(file)
    sync(new)
    if old.exists():
        aside = _aside(old)
        shutil.rmtree(aside, ignore_errors=True)
        os.replace(old, aside)
        os.replace(new, old)
        shutil.rmtree(aside, ignore_errors=True)
    else:
        os.replace(new, old)
    sync(old.parent)


def recover_folder(folder: Path) -> None:
    """Put back the older ``folder`` where a kill came between the two moves of ``replace_folder``."""
    if not folder.exists() and _aside(folder).exists():
        os.replace(_aside(folder), folder)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.old")
