"""Files and folders wherever pyarrow or fsspec can reach them: found, opened, and written whole or not at all."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from riseq.data.tables import SUFFIXES, find_format, write_all
from riseq.types import InputError

BUFFER = 1 << 20
_WILD = re.compile(r"[*?\[]")
_OPTIONS = re.compile(r"\?\w+=[^?]*$")
_KEYS = re.compile(r"://[^/@]*@")
_TEMPORARY = "_temporary"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of questions."""

    system: Any
    """The pyarrow filesystem it is on; it can be sent to other machines."""
    path: str
    name: str
    """What messages call it."""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it for reading at any place, through gzip where its name says so."""
        with _told(self.name, "read"):
            raw = self.system.open_input_file(self.path)
        with raw, io.BufferedReader(raw, BUFFER) as file:
            if not self.path.lower().endswith(".gz"):
                yield cast(BinaryIO, file)
                return
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, unpacked), BUFFER))

    @contextmanager
    def open_packed(self) -> Iterator[BinaryIO]:
        """Open it for reading as its bytes are stored."""
        with _told(self.name, "read"):
            raw = self.system.open_input_file(self.path)
        with raw:
            yield cast(BinaryIO, raw)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that files appear in whole; names that start with _ are passed over by whoever reads it as a table."""

    system: Any
    path: str
    name: str

    def list(self, below: str = "") -> dict[str, int]:
        """Return the files right in it, or right in its folder ``below``, with their sizes; none where it is not."""
        from pyarrow.fs import FileSelector, FileType

        with _told(self.name, "read"):
            found = self.system.get_file_info(FileSelector(f"{self.path}/{below}".rstrip("/"), allow_not_found=True))
        return {one.base_name: one.size for one in found if one.type == FileType.File}

    def read(self, file: str) -> bytes:
        """Return what is in a file."""
        with _told(f"{self.name}/{file}", "read"), self.system.open_input_file(f"{self.path}/{file}") as stream:
            content: bytes = stream.read()
        return content

    def write_rows(self, file: str, rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> int:
        """Write a table in the format its name says, and return how many bytes it has."""
        with self._replace(file) as stream:
            write_all(find_format(file).writer(stream), rows, columns, f"{self.name}/{file}")
            return int(stream.tell())

    def write_json(self, file: str, content: Mapping[str, object]) -> None:
        """Write one JSON object."""
        with self._replace(file) as stream:
            stream.write(json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n")

    def make(self) -> None:
        """Make the folder, and those it is in."""
        with _told(self.name, "written"):
            self.system.create_dir(self.path, recursive=True)

    def begin(self, task: str) -> int:
        """Note that somebody begins with ``task``, and return how many have that did not end."""
        folder = f"{self.path}/{_TEMPORARY}/{task}"
        before = len(self.list(f"{_TEMPORARY}/{task}"))
        with _told(self.name, "written"):
            self.system.create_dir(folder, recursive=True)
            self.system.open_output_stream(f"{folder}/{secrets.token_hex(8)}").close()
        return before

    def end(self, task: str) -> None:
        """Forget who began with ``task``."""
        self.sweep(task)

    def sweep(self, below: str = "") -> None:
        """Remove the files that were never finished, and the notes of what was begun."""
        with suppress(OSError):  # none there, or somebody else is at it
            self.system.delete_dir(f"{self.path}/{_TEMPORARY}/{below}".rstrip("/"))

    @contextmanager
    def _replace(self, file: str) -> Iterator[BinaryIO]:
        # A rename is all or nothing on a disk, and so is an upload or a copy on an object store.
        place = f"{self.path}/{file}"
        temporary = f"{self.path}/{_TEMPORARY}/{secrets.token_hex(8)}"
        with _told(f"{self.name}/{file}", "written"):
            for path in (temporary, place):
                self.system.create_dir(path.rpartition("/")[0], recursive=True)
            try:
                with self.system.open_output_stream(temporary, buffer_size=BUFFER) as stream:
                    yield cast(BinaryIO, stream)
                if self.system.type_name == "local":
                    _sync(temporary)
                self.system.move(temporary, place)
            except BaseException:
                with suppress(OSError):
                    self.system.delete_file(temporary)
                raise


def find_folder(name: str) -> Folder:
    """Return the folder called ``name``, a path or a URL, which need not be there."""
    from pyarrow.fs import FileType

    system, path = _find_place(name)
    name = show_name(name)
    with _told(name, "read"):
        kind = system.get_file_info(path).type
    if kind == FileType.File:
        raise InputError(f"{name}: is a file, expected a folder for the results")
    return Folder(system, path.rstrip("/"), name.rstrip("/"))


def find_sources(name: str) -> list[Source]:
    """Return the files that ``name`` stands for: a file, all in a folder, or those that a pattern fits; in order."""
    from pyarrow.fs import FileType

    name, options = split_options(name)
    plain = not _WILD.search(name) or Path(name).exists()
    system, path = _find_place((name if plain else _fixed_part(name)) + options)
    name = show_name(name)
    with _told(name, "read"):
        kind = system.get_file_info(path).type
        if plain and kind == FileType.File:
            paths = [path]
        elif plain and kind == FileType.Directory:
            # What others leave in folders of data: _SUCCESS, .part.crc, and this room's own _riseq.json and _bad.
            paths = [
                one
                for one in _list(system, path, deep=True)
                if one.lower().endswith(tuple(SUFFIXES)) and not _is_hidden(one, path, ("_", "."))
            ]
        elif plain:
            raise InputError(f"{name}: no such file or folder")
        else:
            paths = _match(system, path, name)
    if not paths:
        expected = f"expected some that end in {', '.join(SUFFIXES)}"
        raise InputError(f"{name}: no files of questions; {expected}" if plain else f"{name}: fits no file")
    for one in paths:
        find_format(one)
    # A single file keeps the name it was called by.
    return [Source(system, one, name if plain and len(paths) == 1 and one == path else one) for one in sorted(paths)]


def split_options(name: str) -> tuple[str, str]:
    """Return a URL without its options, and those (``?region=eu-west-1``); any other question mark is a wild card."""
    found = _OPTIONS.search(name) if "://" in name else None
    return (name[: found.start()], found[0]) if found else (name, "")


def show_name(name: str) -> str:
    """Return what messages call the place: without its options, and without the keys a URL may have."""
    return _KEYS.sub("://", split_options(name)[0])


def _find_place(name: str) -> tuple[Any, str]:
    """Return the filesystem of ``name`` and the path there: pyarrow's own, else what fsspec has for the URL."""
    import pyarrow as pa
    from pyarrow.fs import FileSystem, FSSpecHandler, LocalFileSystem, PyFileSystem

    if "://" not in name:
        return LocalFileSystem(), Path(os.path.abspath(name)).as_posix()
    try:
        system, path = FileSystem.from_uri(name)
    except pa.ArrowInvalid:  # not one of pyarrow's own
        try:
            from fsspec.core import url_to_fs

            other, path = url_to_fs(name)
        except (ImportError, ValueError) as error:
            raise InputError(f"{show_name(name)}: cannot be reached: {error}") from None
        system = PyFileSystem(FSSpecHandler(other))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{show_name(name)}: cannot be reached: {_first_line(error)}") from None
    return system, path


def _fixed_part(pattern: str) -> str:
    """Return the folder that a pattern's files are all below."""
    wild = _WILD.search(pattern)
    fixed = pattern[: wild.start() if wild else None]
    return fixed.rpartition("/")[0] + "/" if "/" in fixed else "."


def _match(system: Any, base: str, pattern: str) -> list[str]:
    from fsspec.utils import glob_translate

    fixed = _fixed_part(pattern)
    rest = pattern.removeprefix(fixed) if fixed != "." else pattern
    fits = re.compile(glob_translate(f"{base.rstrip('/')}/{rest}"))
    found = _list(system, base, deep="/" in rest or "**" in rest)
    return [path for path in found if fits.match(path) and not _is_hidden(path, base, (".",))]


def _list(system: Any, base: str, deep: bool) -> list[str]:
    from pyarrow.fs import FileSelector, FileType

    found = system.get_file_info(FileSelector(base, allow_not_found=True, recursive=deep))
    return [one.path for one in found if one.type == FileType.File]


def _is_hidden(path: str, base: str, marks: tuple[str, ...]) -> bool:
    return any(part.startswith(marks) for part in PurePosixPath(path).relative_to(base).parts)


def _sync(path: str) -> None:
    with open(path, "rb") as file:
        os.fsync(file.fileno())


@contextmanager
def _told(name: str, done: str) -> Iterator[None]:
    """Tell what a filesystem complains of as a user's error."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{name}: cannot be {done}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
