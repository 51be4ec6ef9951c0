"""Files and folders wherever pyarrow or fsspec can reach them: found, opened, and written whole or not at all."""

import io
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from riseq.data.formats import Columns
from riseq.data.tables import SUFFIXES, find_format, write_all
from riseq.files import decompress, format_json, sync
from riseq.types import InputError

BUFFER = 1 << 20
_WILDCARD = re.compile(r"[*?\[]")
_OPTIONS = re.compile(r"\?\w+=[^?]*$")
_KEYS = re.compile(r"://[^/@]*@")
_TEMPORARY = "_temporary"


@dataclass(frozen=True, slots=True)
class Source:
    """One file of questions."""

    filesystem: Any
    """The pyarrow filesystem it is on; it can be sent to other machines."""
    path: str
    name: str
    """What messages call it."""

    @contextmanager
    def open(self, unpack: bool = True) -> Iterator[BinaryIO]:
        """Open it for reading at any byte, through gzip where its name says so and ``unpack``."""
        with _catch_errors(self.name, "read"):
            raw = self.filesystem.open_input_file(self.path)
        packed = unpack and self.path.lower().endswith(".gz")
        with raw, io.BufferedReader(raw, BUFFER) as file, decompress(cast(BinaryIO, file), packed) as stream:
            yield stream


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that files appear in whole; names that start with _ are passed over by whoever reads it as a table."""

    filesystem: Any
    path: str
    name: str

    def list(self, below: str = "") -> set[str]:
        """Return the names of the files right in it, or in its folder ``below``; none where there is no folder."""
        found = _list_files(self.filesystem, f"{self.path}/{below}".rstrip("/"), self.name)
        return {PurePosixPath(path).name for path in found}

    def read(self, file: str) -> bytes:
        """Return what is in a file."""
        with Source(self.filesystem, f"{self.path}/{file}", f"{self.name}/{file}").open(unpack=False) as stream:
            return stream.read()

    def write_rows(self, file: str, rows: Iterable[Mapping[str, object]], columns: Columns) -> int:
        """Write a table in the format its name says, and return how many bytes it has."""
        with self._replace(file) as stream:
            write_all(find_format(file).writer(stream), rows, columns, f"{self.name}/{file}")
            return int(stream.tell())

    def write_json(self, file: str, content: Mapping[str, object]) -> None:
        """Write one JSON object."""
        with self._replace(file) as stream:
            stream.write(format_json(content).encode())

    def remove_temporary(self) -> None:
        """Remove the files that were never finished."""
        with suppress(OSError):  # none there, or somebody else is at it
            self.filesystem.delete_dir(f"{self.path}/{_TEMPORARY}")

    @contextmanager
    def _replace(self, file: str) -> Iterator[BinaryIO]:
        # A rename is all or nothing on a disk, and so is an upload or a copy on an object store.
        path, temporary = f"{self.path}/{file}", f"{self.path}/{_TEMPORARY}/{secrets.token_hex(8)}"
        with _catch_errors(f"{self.name}/{file}", "written"):
            for one in (temporary, path):
                self.filesystem.create_dir(one.rpartition("/")[0], recursive=True)
            try:
                with self.filesystem.open_output_stream(temporary, buffer_size=BUFFER) as stream:
                    yield cast(BinaryIO, stream)
                if self.filesystem.type_name == "local":
                    sync(temporary)
                self.filesystem.move(temporary, path)
            except BaseException:
                with suppress(OSError):
                    self.filesystem.delete_file(temporary)
                raise


def find_folder(name: str) -> Folder:
    """Return the folder called ``name``, a path or a URL, which need not be there."""
    filesystem, path, kind = _find(name)
    if kind == "File":
        raise InputError(f"{display_name(name)}: is a file, expected a folder for the results")
    return Folder(filesystem, path.rstrip("/"), display_name(name).rstrip("/"))


def find_sources(name: str) -> list[Source]:
    """Return the files that ``name`` stands for: a file, all in a folder, or those that a pattern fits; in order."""
    pattern, options = split_options(name)
    wild = None if Path(pattern).exists() else _WILDCARD.search(pattern)
    fixed = pattern[: pattern.rfind("/", 0, wild.start()) + 1] if wild else pattern
    filesystem, path, kind = _find((fixed or ".") + options)
    name = display_name(name)
    if wild:
        from fsspec.utils import glob_translate

        rest = pattern[len(fixed) :]
        fits = re.compile(glob_translate(f"{path.rstrip('/')}/{rest}"))
        below = _list_files(filesystem, path, name, deep="/" in rest or "**" in rest)
        found = [one for one in below if fits.match(one) and not _is_hidden(one, path, (".",))]
    elif kind == "File":
        found = [path]
    elif kind == "Directory":
        # What others leave in folders of data: _SUCCESS, .part.crc, and this room's own _riseq.json and _bad.
        below = [one for one in _list_files(filesystem, path, name, deep=True) if not _is_hidden(one, path, ("_", "."))]
        found = [one for one in below if one.lower().endswith(tuple(SUFFIXES))]
    else:
        raise InputError(f"{name}: no such file or folder")
    if not found:
        none = "fits no file" if wild else f"no files of questions; expected some that end in {', '.join(SUFFIXES)}"
        raise InputError(f"{name}: {none}")
    for one in found:
        find_format(one)
    # A single file keeps the name it was called by.
    return [Source(filesystem, one, one if wild or one != path else name) for one in sorted(found)]


def split_options(name: str) -> tuple[str, str]:
    """Return a URL without its options, and those (``?region=eu-west-1``); any other question mark is a wild card."""
    found = _OPTIONS.search(name) if "://" in name else None
    return (name[: found.start()], found[0]) if found else (name, "")


def display_name(name: str) -> str:
    """Return what messages call a path or URL: without its options, and without the keys a URL may have."""
    return _KEYS.sub("://", split_options(name)[0])


def _find(name: str) -> tuple[Any, str, str]:
    """Return the filesystem of ``name``, pyarrow's own or else fsspec's, the path there, and the kind of file."""
    import pyarrow as pa
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    try:
        filesystem, path = FileSystem.from_uri(name if "://" in name else Path(os.path.abspath(name)).as_posix())
    except pa.ArrowInvalid:  # not one of pyarrow's own
        try:
            from fsspec.core import url_to_fs

            other, path = url_to_fs(name)
        except (ImportError, ValueError) as error:
            raise InputError(f"{display_name(name)}: cannot be reached: {error}") from None
        filesystem = PyFileSystem(FSSpecHandler(other))
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{display_name(name)}: cannot be reached: {str(error).partition(chr(10))[0]}") from None
    with _catch_errors(display_name(name), "read"):
        return filesystem, path, filesystem.get_file_info(path).type.name


def _list_files(filesystem: Any, base: str, name: str, deep: bool = False) -> list[str]:
    from pyarrow.fs import FileSelector, FileType

    with _catch_errors(name, "read"):
        found = filesystem.get_file_info(FileSelector(base, allow_not_found=True, recursive=deep))
    return [one.path for one in found if one.type == FileType.File]


def _is_hidden(path: str, base: str, marks: tuple[str, ...]) -> bool:
    return any(part.startswith(marks) for part in PurePosixPath(path).relative_to(base).parts)


@contextmanager
def _catch_errors(name: str, done: str) -> Iterator[None]:
    """Raise what a filesystem complains of as a user's error."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{name}: cannot be {done}: {str(error).partition(chr(10))[0]}") from None
