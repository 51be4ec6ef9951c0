"""A journal keeps every whole row through any kind of damage to its end, and never a half one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.jobs import Journal, journal_path
from riseq.types import InputError

SETTINGS = {"input": "abc", "strength": None, "protect": ["é \ud800"]}


def fill(path: Path, count: int) -> None:
    with Journal(path, SETTINGS) as journal:
        for number in range(count):
            journal.add({"result": {"text": f"é {number}"}})


def test_it_lies_beside_its_output_and_follows_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "folder" / "real.csv")
    assert journal_path(tmp_path / "out.csv.gz") == tmp_path / "out.csv.gz.part"
    assert journal_path(tmp_path / "link.csv") == tmp_path / "folder" / "real.csv.part"


def test_rows_come_back_in_order_and_more_may_follow(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    fill(path, 3)
    with Journal(path, SETTINGS, resume=True) as journal:
        assert journal.done == 3
        journal.add({"bad": {"line": 9}})
        assert [(entry["row"], "bad" in entry) for entry in journal.entries()] == [
            (1, False),
            (2, False),
            (3, False),
            (4, True),
        ]
        journal.remove()
    assert not path.exists()


@given(cut=st.integers(0, 400), junk=st.binary(max_size=30))
def test_whatever_its_end_looks_like_whole_rows_are_kept(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.part"
    path.unlink(missing_ok=True)
    fill(path, 6)
    whole = path.read_bytes()
    kept = whole[: len(whole) - cut]
    path.write_bytes(kept + junk)
    header = whole.splitlines(keepends=True)[0]
    if not (kept + junk).startswith(header) and not header.startswith(kept + junk):
        # The first line itself is gone: whose file it is cannot be told, and it is not touched.
        with pytest.raises(InputError, match="is not a run of riseq"):
            Journal(path, SETTINGS, resume=True)
        assert path.read_bytes() == kept + junk
        return
    with Journal(path, SETTINGS, resume=True) as journal:
        done = journal.done
        journal.add({"result": {"text": "next"}})
        entries = list(journal.entries())
    assert done >= max(0, kept.count(b"\n") - 1)
    assert [entry["row"] for entry in entries] == list(range(1, done + 2))
    assert entries[:done] == [{"row": n + 1, "result": {"text": f"é {n}"}} for n in range(done)]


def test_a_row_that_is_missing_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    fill(path, 5)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3] + lines[4:]))
    with Journal(path, SETTINGS, resume=True) as journal:
        assert journal.done == 2


def test_rows_are_not_thrown_away_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    fill(path, 1_234)
    before = path.read_bytes()
    with pytest.raises(InputError, match="has 1,234 finished rows of a run that did not end; --resume continues"):
        Journal(path, SETTINGS)
    with pytest.raises(InputError, match=r"another strength \(not set, now 0.3\)"):
        Journal(path, {**SETTINGS, "strength": 0.3}, resume=True)
    assert path.read_bytes() == before


def test_one_without_rows_is_not_kept(tmp_path: Path) -> None:
    fill(tmp_path / "a.part", 0)
    assert not list(tmp_path.iterdir())


def test_without_settings_nothing_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    with Journal(path, {}) as journal:
        journal.add({"result": {}})
        left = path.read_bytes()
    assert not path.exists()
    path.write_bytes(left)  # as a kill leaves it
    with Journal(path, SETTINGS) as journal:
        assert journal.done == 0


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.part"
    for content in ("a download\nof something\n", "{}\n", "[1]\n", '{"riseq": 1}\n', "no end"):
        path.write_text(content)
        for resume in (False, True):
            with pytest.raises(InputError, match="is not a run of riseq that did not end; move it out of the way"):
                Journal(path, SETTINGS, resume)
        assert path.read_text() == content


def test_two_runs_do_not_share_one(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "a.part"
    with Journal(path, SETTINGS) as journal:
        journal.add({"result": {}})
        with pytest.raises(InputError, match="another run is writing it"):
            Journal(path, SETTINGS, resume=True)
        journal.add({"result": {}})
    assert [json.loads(line).get("row") for line in path.read_text().splitlines()] == [None, 1, 2]


def test_a_full_disk_is_told_and_costs_no_whole_row(tmp_path: Path) -> None:
    resource, signal = pytest.importorskip("resource"), pytest.importorskip("signal")
    path = tmp_path / "a.part"
    # A limit on the size of files stands in for the full disk.
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(InputError, match=r"a\.part: cannot be written: File too large"):
            fill(path, 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    with Journal(path, SETTINGS, resume=True) as journal:
        assert 100 < journal.done == path.read_bytes().count(b"\n") - 1
        journal.add({"result": {"text": "next"}})
        assert [entry["row"] for entry in journal.entries()] == list(range(1, journal.done + 1))
