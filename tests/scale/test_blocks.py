"""A file in blocks is the same rows as the whole file, whatever its format and wherever it is cut."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from riseq.data.tables import read_outcomes
from riseq.scale.blocks import Block, read_block, split_file
from riseq.scale.storage import Source, find_sources
from riseq.types import InputError

pq = pytest.importorskip("pyarrow.parquet")
MARK = b"\xef\xbb\xbf"


def write_files(folder: Path) -> None:
    """Write a file in every format, with what makes them hard to cut."""
    rows = [{"context": ["Who?", f"Käthe {n}"], "question": f"Why {n}?", "id": f"q{n}"} for n in range(23)]
    lines = [json.dumps(row, ensure_ascii=False).encode() for row in rows]
    lines[3:3] = [b"", b"nope", b"  \t"]
    lines[9:9] = [b'{"context": 7, "question": "Why?"}', b"\xff\xfe\x00", MARK + lines[0]]
    lines[14:14] = [b'{"context": [], "question": "No id?"}']
    (folder / "a.jsonl").write_bytes(MARK + b"\r\n".join(lines) + b"\r\n\r\n")
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines)))
    cells = [f'{n},"[""Who?""]","Why, {n}?"' for n in range(17)]
    cells[2:2] = ["", 'x,"a\nb\n\nc","Over\nlines?"', "too,few"]
    cells[8:8] = ['x,"never "closed,y', "x,,Latin E?", "\xe9,,Fine?"]
    text = MARK + "\n".join(["id,context,question", *cells]).encode().replace(b"Latin E", b"Latin \xe9")
    (folder / "c.csv").write_bytes(text)
    (folder / "d.csv.gz").write_bytes(gzip.compress(text.replace(b"\n", b"\r\n")))
    (folder / "e.tsv").write_text("question\tcontext\n" + "".join(f"Why {n}?\tWho?\n" for n in range(9)))
    import pyarrow as pa

    table = pa.table(
        {
            "context": [["Who?", str(n)] for n in range(40)],
            "question": [f"Why {n}?" if n % 7 else None for n in range(40)],
        }
    )
    pq.write_table(table, folder / "f.parquet", row_group_size=11)
    listed = json.dumps([*rows, 7, {"messages": [{"role": "user", "content": "Why?"}]}], indent=1).encode()
    (folder / "g.json").write_bytes(listed)
    (folder / "h.json.gz").write_bytes(gzip.compress(listed))


@pytest.fixture
def sources(tmp_path: Path) -> list[Source]:
    write_files(tmp_path)
    return find_sources(str(tmp_path))


def read(source: Source, blocks: list[Block], backwards: bool = False) -> list[object]:
    with source.open() as file:
        parts = [read_block(file, block) for block in (blocks[::-1] if backwards else blocks)]
    return [row for part in (parts[::-1] if backwards else parts) for row in part]


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 1_000])
def test_blocks_together_are_the_file(sources: list[Source], rows: int) -> None:
    assert len(sources) == 8
    for index, source in enumerate(sources):
        expected = list(read_outcomes(source.path))
        entry, blocks = split_file(source, index, rows)
        assert (entry["rows"], entry["blocks"]) == (len(expected), len(blocks))
        stored = Path(source.path).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(stored), hashlib.sha256(stored).hexdigest())
        assert [block.rows for block in blocks[:-1]] == [rows] * (len(blocks) - 1)
        assert read(source, blocks) == expected, source.path
        # A worker that takes over another's block starts anywhere.
        assert read(source, blocks, backwards=True) == expected, source.path


def test_a_header_of_several_lines_stands_before_every_block(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"no\nte",context,question\n1,Who?,Why?\n2,Who?\n3,Who?,When?\n')
    (source,) = find_sources(str(tmp_path / "a.csv"))
    expected = list(read_outcomes(source.path))
    assert len(expected) == 3
    assert read(source, split_file(source, 0, 1)[1]) == expected


def test_names_are_those_of_file_and_rows_and_sort_as_the_input() -> None:
    source = Source(None, "/in/über all.jsonl.gz", "über all.jsonl.gz")
    rows = [(0, 0, 2_048), (0, 2_048, 2_048), (0, 20_480, 7), (2, 0, 1), (10, 0, 1)]
    names = [Block(source, *one).name for one in rows]
    assert names == sorted(names)
    assert names[2] == "00000-_ber_all.jsonl.gz-000000020480-000000020487"


def test_a_file_that_was_changed_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"context": [], "question": "Why?"}\n' * 4)
    (source,) = find_sources(str(path))
    _, blocks = split_file(source, 0, 2)
    path.write_text('{"context": [], "question": "Why?"}\n' * 3)
    with source.open() as file, pytest.raises(InputError, match=r"has 1 rows after row 2, expected 2: it was changed"):
        read_block(file, blocks[1])


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", b"context\nWhy?\n", "no column 'question'"),
        ("a.parquet", b"PAR1 or not", "not a whole Parquet file"),
        ("a.jsonl.gz", gzip.compress(b'{"context": [], "question": "Why?"}\n' * 500, mtime=0)[:-9], "cut off here"),
        ("a.jsonl", b"\xff\xfea\x00", "is UTF-16 text"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_before_any_work(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    (source,) = find_sources(str(tmp_path / name))
    with pytest.raises(InputError, match=told):
        split_file(source, 0, 10)


def test_a_file_without_rows_has_no_blocks(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n\n")
    (source,) = find_sources(str(tmp_path / "a.jsonl"))
    assert split_file(source, 0, 10)[1] == []
