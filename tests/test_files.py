from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from riseq.data.tables import check_output, write_rows
from riseq.types import InputError

ROWS = [{"id": "1", "context": [], "question": "q"}]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv.gz", ".parquet"])
def test_what_cannot_be_written_is_told_early(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        check_output(tmp_path / "none" / f"a{suffix}")
    (tmp_path / f"b{suffix}").mkdir()
    with pytest.raises(InputError, match="is a folder, expected a file name"):
        check_output(tmp_path / f"b{suffix}")
    os.mkfifo(tmp_path / f"c{suffix}")
    with pytest.raises(InputError, match="is not a regular file"):
        check_output(tmp_path / f"c{suffix}")
    check_output(tmp_path / f"d{suffix}")
    assert not (tmp_path / f"d{suffix}").exists()


def test_no_row_is_asked_for_when_the_place_will_not_do(tmp_path: Path) -> None:
    asked = iter(ROWS)
    with pytest.raises(InputError):
        write_rows(tmp_path / "none" / "a.jsonl", asked)
    assert list(asked) == ROWS


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_folder_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="cannot be written to"):
        check_output(tmp_path / "a.jsonl")


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".jsonl.gz", ".parquet"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(InputError, match="cannot be written: No space left on device"):
        write_rows(tmp_path / f"a{suffix}", ROWS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".jsonl.gz", ".parquet"])
@pytest.mark.parametrize("count", [1, 20_000])
def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, count: int
) -> None:
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    # A limit on the size of files stands in for the full disk.
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(InputError, match="cannot be written: File too large"):
            write_rows(tmp_path / f"a{suffix}", ({**ROWS[0], "id": str(n)} for n in range(count)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.iterdir())


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    mask = os.umask(0o022)
    try:
        write_rows(path, ROWS)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o644
    path.chmod(0o640)
    write_rows(path, ROWS)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "folder" / "real.jsonl")
    write_rows(link, ROWS)
    assert link.is_symlink()
    assert (tmp_path / "folder" / "real.jsonl").is_file()


def test_a_gzip_holds_no_time_and_no_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_rows(path, ROWS)
    header = path.read_bytes()[:10]
    assert header[3] == 0, "no name"
    assert header[4:8] == bytes(4), "no time"
