"""Long jobs that can be interrupted: fingerprints of what they read, and a journal to continue from.

The journal's first line has the settings, every other line a finished row. A line that a kill cut off is dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from riseq.files import check_writable, writing
from riseq.types import InputError


class OtherSettings(InputError):
    """What a job goes on with was made with other settings than its own."""


_FIRST = "riseq"
_CARD = "README.md"
_ROW = "row"


def journal_path(output: str | Path) -> Path:
    """Return where the unfinished rows of ``output`` are: beside it."""
    target = Path(os.path.realpath(output))
    return target.with_name(f"{target.name}.part")


class Journal(AbstractContextManager["Journal"]):
    """An open journal, locked: a second process that opens it gets an error."""

    def __init__(self, path: Path, settings: Mapping[str, object], resume: bool = False) -> None:
        """Open the journal at ``path``; the rows in it are kept where ``resume`` and they were made with ``settings``.

        Without ``resume`` a journal that has rows is refused. Without ``settings`` no later run can be known to be the
        same, and the rows are not kept.
        """
        check_writable(path)
        self.path = path
        self.done = 0
        """How many rows are finished."""
        self._kept = bool(settings)
        with writing(path):
            self._file: BinaryIO = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        try:
            _lock(self._file, path)
            self._begin(json.dumps({_FIRST: dict(settings)}).encode() + b"\n", settings, resume)
        except BaseException:
            self._file.close()
            raise

    def __exit__(self, *error: object) -> None:
        # One without rows, or that no other run can continue, is of no use.
        with suppress(OSError):  # a full disk was reported already; closing would try the half row once more
            if self.done and self._kept:
                self._file.close()
            else:
                self.remove()

    def add(self, entry: Mapping[str, object]) -> None:
        """Write the next row all the way to the system, where a kill cannot reach it."""
        line = json.dumps({_ROW: self.done + 1, **entry}, ensure_ascii=False, default=str).encode() + b"\n"
        with writing(self.path):
            self._file.write(line)
            self._file.flush()
        self.done += 1

    def entries(self) -> Iterator[dict[str, object]]:
        """Yield the finished rows, in order; nothing may be added meanwhile."""
        self._file.seek(0)
        self._file.readline()
        for line in self._file:
            yield json.loads(line)

    def remove(self) -> None:
        """Delete the journal: its rows are in the output, or are not wanted."""
        self.path.unlink(missing_ok=True)
        self._file.close()

    def _begin(self, header: bytes, settings: Mapping[str, object], resume: bool) -> None:
        first = self._file.readline()
        if first.endswith(b"\n") or not header.startswith(first):  # else empty, or killed at the first line
            before = _read(first, _FIRST)
            if not isinstance(before, dict):
                raise InputError(f"{self.path}: is not a run of riseq that did not end; move it out of the way")
            end = self._count() if before else 0
            if self.done and not resume:
                rows = f"{self.path}: has {self.done:,} finished rows of a run that did not end"
                raise InputError(f"{rows}; --resume continues with them, or delete the file to start again")
            if self.done:
                rows = f"{self.path}: its {self.done:,} rows"
                check_same(rows, before, settings, "delete the file to start again")
                self._file.truncate(end)
                self._file.seek(end)
                return
        self._file.seek(0)
        self._file.truncate()
        with writing(self.path):
            self._file.write(header)
            self._file.flush()

    def _count(self) -> int:
        """Count the whole rows and return the byte after the last of them."""
        end = self._file.tell()
        for line in self._file:
            if not line.endswith(b"\n") or _read(line, _ROW) != self.done + 1:
                break
            self.done += 1
            end += len(line)
        return end


def _read(line: bytes, key: str) -> Any:
    """Return what a line has under ``key``; None where it is not one of a journal's."""
    try:
        return json.loads(line)[key]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def check_same(what: str, before: Mapping[str, object], now: Mapping[str, object], again: str) -> None:
    """Raise where ``what`` was made with settings other than ``now``; ``again`` is how to start from nothing."""
    for name in dict.fromkeys((*before, *now)):
        if before.get(name) != now.get(name):
            old, new = ("not set" if one.get(name) is None else str(one[name]) for one in (before, now))
            other = f"another {name} ({old}, now {new})"
            raise OtherSettings(f"{what} were made with {other}; --resume needs the same, or {again}")


def digest(path: Path) -> str | None:
    """Return a fingerprint of what is in a file, or in a folder; None where there is neither.

    A folder's card (README.md) does not count: it tells of a model, and its scores change without the model.
    """
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file() and one.name != _CARD)
    if not files:
        return None
    total = hashlib.sha256()
    for one in files:
        with one.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{one.relative_to(path)}:{content}\n".encode(errors="surrogateescape"))
    return total.hexdigest()[:16]


def _lock(file: BinaryIO, path: Path) -> None:
    with suppress(ImportError, OSError):  # Windows has no such lock, nor have some network file systems
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{path}: another run is writing it; wait for that one, or name another output") from None
