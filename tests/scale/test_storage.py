"""Files found by name, folder, pattern and URL; files that appear whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from riseq.scale.storage import find_folder, find_sources, split_options
from riseq.types import InputError

pytest.importorskip("pyarrow")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b.jsonl", "a.parquet", "in/c.csv.gz", "in/deep/d.JSONL", "_bad/e.jsonl", ".f.jsonl", "note.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize("before", ["", "file://", "local://"], ids=["path", "pyarrow", "fsspec"])
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["a.parquet", "b.jsonl", "in/c.csv.gz", "in/deep/d.JSONL"]),
        ("/b.jsonl", ["b.jsonl"]),
        ("/*.jsonl", ["b.jsonl"]),
        ("/[ab].*", ["a.parquet", "b.jsonl"]),
        ("/in/*", ["in/c.csv.gz"]),
        ("/i*/**/*.JSONL", ["in/deep/d.JSONL"]),
    ],
)
def test_what_a_name_stands_for(tree: Path, before: str, asked: str, found: list[str]) -> None:
    sources = find_sources(f"{before}{tree}{asked}")
    assert [Path(source.path).relative_to(tree).as_posix() for source in sources] == found


def test_names_are_taken_from_where_one_stands(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    (source,) = find_sources("b.jsonl")
    assert (source.name, source.path) == ("b.jsonl", str(tree / "b.jsonl"))
    assert [Path(one.path).name for one in find_sources("*.jsonl")] == ["b.jsonl"]
    assert [Path(one.path).name for one in find_sources("in/*.gz")] == ["c.csv.gz"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("/none.jsonl", "no such file or folder"),
        ("/*.tsv", "fits no file"),
        ("/note.txt", "unknown kind of file"),
        ("/*.txt", "unknown kind of file"),
        ("/_bad/deeper", "no such file or folder"),
    ],
)
def test_what_is_not_there_is_told(tree: Path, asked: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        find_sources(f"{tree}{asked}")


def test_an_unknown_kind_of_url_is_told() -> None:
    with pytest.raises(InputError, match="nowhere://x: cannot be reached"):
        find_sources("nowhere://x")


@pytest.mark.parametrize("before", ["", "file://", "local://"], ids=["path", "pyarrow", "fsspec"])
def test_a_file_appears_whole_or_not_at_all(tmp_path: Path, before: str) -> None:
    folder = find_folder(f"{before}{tmp_path}/out/")
    assert folder.list() == set()

    def rows() -> Iterator[Mapping[str, object]]:
        yield {"a": 1}
        assert folder.list() == set()
        yield {"a": 2}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        folder.write_rows("x.jsonl", rows(), ())
    assert folder.list() == set()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    for count in (2, 3):  # the second time over the first
        size = folder.write_rows("deep/x.jsonl", [{"a": 1}] * count, ())
        assert folder.list("deep") == {"x.jsonl"}
        assert size == len(folder.read("deep/x.jsonl"))
        assert folder.read("deep/x.jsonl") == b'{"a": 1}\n' * count
    folder.remove_temporary()
    assert sorted(path.name for path in (tmp_path / "out").rglob("*")) == ["deep", "x.jsonl"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(InputError, match="is a file, expected a folder"):
        find_folder(str(tmp_path / "out"))


@pytest.mark.parametrize(
    ("name", "path", "options"),
    [
        ("s3://b/2024/*.jsonl?region=eu-west-1&scheme=http", "s3://b/2024/*.jsonl", "?region=eu-west-1&scheme=http"),
        ("s3://b/x?endpoint_override=http://localhost:9000", "s3://b/x", "?endpoint_override=http://localhost:9000"),
        ("s3://b/part-?.jsonl", "s3://b/part-?.jsonl", ""),
        ("s3://b/part-?.jsonl?region=x", "s3://b/part-?.jsonl", "?region=x"),
        ("a?b=c.jsonl", "a?b=c.jsonl", ""),
    ],
)
def test_a_urls_options_are_no_wild_card(name: str, path: str, options: str) -> None:
    assert split_options(name) == (path, options)
