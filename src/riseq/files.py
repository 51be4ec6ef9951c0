"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from riseq.types import InputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def check_place(path: str | Path) -> None:
    """Raise where a file cannot be put at ``path``."""
    place = Path(os.path.realpath(path))
    folder = place.parent
    if place.is_dir():
        raise InputError(f"{path}: is a folder, expected a file name")
    if place.exists() and not place.is_file():
        raise InputError(f"{path}: is not a regular file, expected one that may be replaced")
    if not folder.is_dir():
        raise InputError(f"{path}: there is no folder {str(folder)!r} to write it in")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {str(folder)!r} cannot be written to")


@contextmanager
def replace_file(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of ``path`` when the block ends well, and is removed when it does not."""
    check_place(path)
    place = Path(os.path.realpath(path))  # a link stays a link, to the new file
    temporary = place.with_name(f".riseq-{secrets.token_hex(8)}.tmp")
    try:
        with _Temporary(temporary, path) as raw, io.BufferedWriter(raw) as file:
            yield cast(BinaryIO, file)
            file.flush()
            with answer_for(path):
                os.fsync(file.fileno())
        with answer_for(path):
            if place.exists():
                shutil.copymode(place, temporary)
            os.replace(temporary, place)
        sync(place.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class _Temporary(io.FileIO):
    """A new file whose complaints name the file it will be."""

    def __init__(self, temporary: Path, path: str | Path) -> None:
        self._path = path
        with answer_for(path):
            super().__init__(temporary, "xb")

    def write(self, data: ReadableBuffer, /) -> int:
        with answer_for(self._path):
            return super().write(data)


@contextmanager
def answer_for(path: str | Path) -> Iterator[None]:
    """Tell what the disk says against writing ``path`` as a user's error."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def compress(file: BinaryIO, wanted: bool) -> Iterator[BinaryIO]:
    """Open a gzip stream into ``file`` where it is wanted; the same rows always give the same bytes."""
    if not wanted:
        yield file
        return
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
        buffer = io.BufferedWriter(cast(io.RawIOBase, packed), 1 << 16)
        yield cast(BinaryIO, buffer)
        buffer.flush()


@contextmanager
def decompress(file: BinaryIO, wanted: bool) -> Iterator[BinaryIO]:
    """Open ``file`` through gzip where it is wanted."""
    if not wanted:
        yield file
        return
    with gzip.GzipFile(fileobj=file) as unpacked:
        # GzipFile hands out lines one slow call at a time; a buffer in front of it makes them cheap.
        yield cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, unpacked), 1 << 16))


def format_json(content: object) -> bytes:
    """Return ``content`` as the indented JSON of a file."""
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


def write_json(path: str | Path, content: object) -> None:
    """Write ``content`` as indented JSON, whole or not at all."""
    with replace_file(path) as file:
        file.write(format_json(content))


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
