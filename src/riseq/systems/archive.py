"""Files of many systems' outputs in one archive: they say much the same, and packed together take a tenth of the space.

What is in the archive of a folder is read by the names it would have there: ``store/rule/cast19.test.qonly.jsonl`` is
``rule/cast19.test.qonly.jsonl`` in ``store/outputs.tar.xz``. A system whose outputs change more often than the others'
may have an archive of its own in its folder, with the same names. A file that is there goes before any archive's, a
system's own archive before the store's.
"""

import io
import lzma
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from riseq.files import error_reason, replace_file
from riseq.types import InputError

ARCHIVE = "outputs.tar.xz"


def is_archived(path: Path) -> bool:
    """Return whether an archive of the store that ``path`` would lie in has it."""
    return _find_archive(path) is not None


def open_archived(path: Path) -> BinaryIO:
    """Return the content of ``path``, which lies in an archive of its store."""
    archive = _find_archive(path)
    if archive is None:
        raise FileNotFoundError(path)
    return io.BytesIO(read_archive(archive)[_name(path)])


def _find_archive(path: Path) -> Path | None:
    """Return the archive that has ``path``: the system's own, or the store's."""
    archives = (folder / ARCHIVE for folder in (path.parent, path.parent.parent))
    return next((one for one in archives if one.is_file() and _name(path) in read_archive(one)), None)


def read_archive(archive: Path) -> Mapping[str, bytes]:
    """Return the contents of all files of an archive, by their names."""
    return _read(archive, archive.stat().st_mtime_ns)


def write_archive(archive: Path, contents: Mapping[str, bytes]) -> None:
    """Write files into an archive, whole or not at all; the same files always give the same bytes."""
    with (
        replace_file(archive) as file,
        lzma.open(file, "wb", preset=9) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        # Sets side by side: outputs on the same questions are near each other, where they compress.
        for name in sorted(contents, key=lambda name: (name.rpartition("/")[2], name)):
            member = tarfile.TarInfo(name)
            member.size = len(contents[name])
            tar.addfile(member, io.BytesIO(contents[name]))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@lru_cache(4)
def _read(archive: Path, changed: int) -> dict[str, bytes]:  # noqa: ARG001 - a key of the cache
    """Return the contents of an archive; ``changed`` is when it was, so that a new one is read anew."""
    try:
        with tarfile.open(archive, "r:xz") as tar:
            members = [(member.name, tar.extractfile(member)) for member in tar if member.isfile()]
            return {name: file.read() for name, file in members if file is not None}
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        raise InputError(f"{archive}: cannot be read: {error_reason(error)}; expected an archive of outputs") from None
