from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest

from riseq.data.rows import BadRow
from riseq.data.tables import read_examples
from riseq.types import InputError

GOOD = b'{"context": [], "question": "q"}\n'


def test_what_cannot_be_opened_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.jsonl: no such file"):
        read_examples(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").mkdir()
    with pytest.raises(InputError, match=r"b\.jsonl: is a folder, expected a file"):
        read_examples(tmp_path / "b.jsonl")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be opened: Not a directory"):
        read_examples(tmp_path / "file" / "c.jsonl")
    with pytest.raises(InputError, match="cannot be opened: embedded null"):
        read_examples("a\0.jsonl")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.touch(mode=0)
    with pytest.raises(InputError, match="cannot be opened: Permission denied"):
        read_examples(path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (gzip.compress(GOOD), "is gzip data, expected text"),
        (GOOD.decode().encode("utf-16"), "is UTF-16 text, expected UTF-8"),
        (b"PAR1" + GOOD, "is Parquet data, expected text"),
    ],
    ids=["gzip", "utf-16", "parquet"],  # gzip data has the time in it, and a test's name must not
)
def test_another_kind_of_file_is_named(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        list(read_examples(path))
    assert str(caught.value).startswith(f"{path}: {told}")


def test_a_cut_gzip_is_told_even_when_bad_rows_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(b"".join(GOOD.replace(b'"q"', b'"q %d"' % n) for n in range(50_000)))
    path.write_bytes(whole[: len(whole) // 2])
    examples = read_examples(path, on_bad=lambda row: None)
    assert next(examples).question == "q 0"
    with pytest.raises(InputError, match=r"a\.jsonl\.gz:\d\d+: the gzip data is cut off here"):
        list(examples)


@pytest.mark.parametrize("damage", [slice(0, 2), slice(60, 90)])
def test_a_damaged_gzip_is_told(tmp_path: Path, damage: slice) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = bytearray(gzip.compress(b"".join(GOOD.replace(b'"q"', b'"q %d"' % n) for n in range(2000))))
    whole[damage] = b"\xff" * (damage.stop - damage.start)
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"a\.jsonl\.gz:\d+: cannot be read"):
        list(read_examples(path, on_bad=lambda row: None))


def test_a_line_that_is_not_utf8_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + b'{"context": [], "question": "caf\xe9"}\n' + GOOD)
    heard: list[BadRow] = []
    assert len(list(read_examples(path, on_bad=heard.append))) == 2
    assert heard == [BadRow(str(path), 2, "not UTF-8: got the byte 0xe9 at byte 33 of the line")]


def test_a_named_pipe_is_opened_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(GOOD * 3,), daemon=True)
    writer.start()
    assert len(list(read_examples(path))) == 3
    writer.join(timeout=5)
    assert not writer.is_alive()
