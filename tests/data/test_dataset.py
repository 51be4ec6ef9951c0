from __future__ import annotations

from pathlib import Path

import pytest

from riseq.data.dataset import data_root, load_dataset, locate_dataset
from riseq.data.rows import BadRow, BadRows, example_row
from riseq.data.tables import write_rows
from riseq.types import Example, InputError

EXAMPLE = Example("1", ("a",), "q", "t")
CANARD = (
    '[{"History": ["t", "s", "q1", "a1"], "QuAC_dialog_id": "C", "Question": "q2", "Question_no": 2, "Rewrite": "Q2"}]'
)


def _folder(root: Path) -> Path:
    (root / "set").mkdir()
    for name in ("test.qonly.jsonl", "test.qa.jsonl.gz", "plain.csv"):
        write_rows(root / "set" / name, [example_row(Example(name, (), "q"))])
    return root


def test_the_root_is_where_the_environment_says_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_root({"RISEQ_DATA": str(tmp_path)}) == tmp_path
    with pytest.raises(InputError, match="RISEQ_DATA: '/no/such' is not a folder"):
        data_root({"RISEQ_DATA": "/no/such"})
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    beside = tmp_path / "shared" / "data"
    beside.mkdir(parents=True)
    assert data_root({}) is None
    assert data_root({"RISEQ_DATA": ""}) is None
    monkeypatch.delenv("RISEQ_DATA", raising=False)
    _folder(beside)
    with pytest.raises(InputError, match="RISEQ_DATA, the folder of data sets, is not set"):
        load_dataset("set/test")
    assert len(load_dataset("set/test", root=beside)) == 1


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("set/test.qonly", "test.qonly.jsonl"),
        ("set/test", "test.qonly.jsonl"),
        ("set/test.qa", "test.qa.jsonl.gz"),
        ("set/test.qa.jsonl.gz", "test.qa.jsonl.gz"),
        ("set/plain", "plain.csv"),
    ],
)
def test_a_short_name_is_looked_up(tmp_path: Path, name: str, file: str) -> None:
    assert [example.id for example in load_dataset(name, root=_folder(tmp_path))] == [file]


def test_the_environment_is_read_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISEQ_DATA", str(_folder(tmp_path)))
    assert load_dataset("set/test")[0].id == "test.qonly.jsonl"


def test_a_path_needs_no_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISEQ_DATA", "/no/such")
    path = tmp_path / "mine.tsv"
    write_rows(path, [example_row(EXAMPLE)])
    assert locate_dataset(path) == path
    assert load_dataset(path) == [EXAMPLE]
    assert locate_dataset("-") == "-"


def test_an_unknown_name_tells_what_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        locate_dataset("set/tset", _folder(tmp_path))
    told = str(caught.value)
    assert told.startswith("set/tset: no such file, nor in ")
    assert "set/tset[.qonly] with .jsonl" in told
    assert told.endswith("; did you mean 'set/test.qa'?")
    with pytest.raises(InputError, match=r"there are set/plain, set/test\.qa, set/test\.qonly"):
        locate_dataset("nothing-like-it", tmp_path)
    monkeypatch.delenv("RISEQ_DATA", raising=False)
    with pytest.raises(InputError, match="RISEQ_DATA, the folder of data sets, is not set"):
        locate_dataset("set/tset")


def test_bad_rows_raise_or_are_handed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('x\n{"context": [], "question": "q"}\n', encoding="utf-8")
    with pytest.raises(BadRows):
        load_dataset(path)
    heard: list[BadRow] = []
    assert len(load_dataset(path, on_bad=heard.append)) == 1
    assert len(heard) == 1
    with pytest.raises(BadRows, match="target: missing"):
        load_dataset(path, need_target=True)


def test_an_official_file_is_known_by_its_objects(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(CANARD, encoding="utf-8")
    assert load_dataset(path) == [Example("canard-dev-C-2", ("q1",), "Q2", "q2")]
    path.write_text('[{"id": "a", "question": "q", "context": null}]', encoding="utf-8")
    assert load_dataset(path) == [Example("a", (), "q")]
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(InputError, match="got the number 1, expected an object"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("official", "name", "count"),
    [
        ("canard/dev.official.json", "canard/dev", 2940),
        ("canard/test.official.json", "canard/test.qonly", 4800),
        ("cast19/evaluation_topics_v1.0.json", "cast19/test", 479),
    ],
)
def test_official_and_prepared_are_the_same_set(data_dir: Path, official: str, name: str, count: int) -> None:
    examples = load_dataset(official, root=data_dir)
    assert len(examples) == count
    assert examples == load_dataset(name, root=data_dir)
