from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from riseq.data.rows import BadRow, find_kinds, flat_rows
from riseq.data.tables import check_output, read_examples, read_records, write_rows
from riseq.types import Example, InputError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _write(folder: Path, columns: dict[str, object]) -> Path:
    path = folder / "a.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_numbers_are_ids_and_text_is_a_cell(tmp_path: Path) -> None:
    path = _write(tmp_path, {"id": [7, None], "context": ['["a", "b"]', "c"], "question": ["q", "r"]})
    assert list(read_examples(path)) == [Example("7", ("a", "b"), "q"), Example("2", ("c",), "r")]


def test_bad_rows_are_told_by_number(tmp_path: Path) -> None:
    contexts = [["a"], None, ["b", None], ["c"]]
    path = _write(tmp_path, {"context": contexts, "question": ["q", "q", "q", ""]})
    heard: list[BadRow] = []
    assert [one.context for one in read_examples(path, on_bad=heard.append)] == [("a",), ()]
    assert [str(row).partition(", expected one of: ")[0] for row in heard] == [
        f"{path}:3: context[1] is a NoneType",
        f"{path}:4: question: empty, expected some text",
    ]
    broken = _write(tmp_path, {"context": ['["a'], "question": ["q"]})
    heard.clear()
    assert not list(read_examples(broken, on_bad=heard.append))
    assert heard[0].reason.startswith("context: the string")


def test_a_missing_column_is_told_with_those_found(tmp_path: Path) -> None:
    path = _write(tmp_path, {"text": ["q"], "context": [["a"]]})
    with pytest.raises(InputError) as caught:
        list(read_examples(path))
    assert str(caught.value) == f"{path}: no column 'question'; the columns are 'text', 'context'"


@pytest.mark.parametrize("content", [b"", b"not Parquet", b"PAR1 cut off"])
def test_what_is_no_parquet_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a whole Parquet file") as caught:
        list(read_examples(path))
    assert "\n" not in str(caught.value)


def test_a_damaged_page_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_rows(path, ({"context": [], "question": f"q{n}"} for n in range(100)))
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a whole Parquet file"):
        list(read_examples(path))


def test_strings_that_are_not_utf8_are_told(tmp_path: Path) -> None:
    text = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())
    path = _write(tmp_path, {"context": [["a"]], "question": text})
    with pytest.raises(InputError, match="not UTF-8"):
        list(read_examples(path))


def test_columns_keep_their_types_over_the_groups(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    count = 9000
    notes = [None] * 5000 + ["x"] * 4000
    plain: dict[str, object] = {"context": [], "question": "q"}
    assert write_rows(path, ({**plain, "n": n, "note": note} for n, note in enumerate(notes))) == count
    assert pq.ParquetFile(path).num_row_groups == 3
    records = [record.row for record in read_records(path)]
    assert [row["n"] for row in records] == list(range(count))
    assert [records[0]["note"], records[-1]["note"]] == [None, "x"]


def test_a_column_of_two_types_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"row 2: the column 'n' does not hold one type"):
        write_rows(tmp_path / "a.parquet", [{"n": 1}, {"n": "one"}])
    assert not list(tmp_path.iterdir())


def test_a_missing_pyarrow_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path, {"context": [["a"]], "question": ["q"]})
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    for act in (check_output, read_examples):
        with pytest.raises(InputError, match=r"pip install '\.\[parquet\]'"):
            act(path)


def test_pyarrow_loads_for_parquet_alone() -> None:
    heavy = "{'pyarrow', 'torch', 'transformers', 'spacy', 'numba'}"
    code = f"import sys, riseq.data.dataset; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


MIXED: list[dict[str, object]] = [
    {"n": 7, "score": 1, "big": 2**70, "tags": ["a"], "late": None, "same": True},
    {"n": "seven", "score": 0.5, "big": 3, "tags": "b", "late": None, "same": False},
]


def test_columns_of_several_types_are_text_and_numbers_stay_numbers(tmp_path: Path) -> None:
    """Among results, whose unknown columns are anybody's; the type is that of all rows, not of the first group."""
    rows = [*MIXED, *({**MIXED[0], "score": 2} for _ in range(5000)), {**MIXED[0], "late": 3, "score": 0.25}]
    kinds = find_kinds(rows)
    path = tmp_path / "a.parquet"
    write_rows(path, flat_rows(rows, kinds), kinds)
    table = pq.read_table(path)
    types = {name: str(table.schema.field(name).type) for name in MIXED[0]}
    texts = dict.fromkeys(("n", "big", "tags"), "string")
    assert types == {**texts, "score": "double", "late": "int64", "same": "bool"}
    found = table.select(list(MIXED[0])).to_pylist()
    assert found[:2] == [
        {"n": "7", "score": 1.0, "big": str(2**70), "tags": '["a"]', "late": None, "same": True},
        {"n": "seven", "score": 0.5, "big": "3", "tags": "b", "late": None, "same": False},
    ]
    assert (found[-1]["late"], found[-1]["score"]) == (3, 0.25)


def test_parquet_goes_in_and_out_without_ray(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.parquet"
    source.write_text("".join(json.dumps({"question": "Why?", **row}) + "\n" for row in MIXED), encoding="utf-8")
    code = (
        "import sys; sys.modules['ray'] = None; from riseq.cli import main; "
        f"code = main(['simplify', {str(source)!r}, {str(out)!r}, '-s', 'origin']); "
        f"sys.exit(code or main(['simplify', {str(out)!r}, {str(out)!r} + '.jsonl', '-s', 'origin']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in Path(f"{out}.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["n"] for row in rows] == ["7", "seven"]
