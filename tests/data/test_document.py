from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.data.corpora import read_objects
from riseq.data.rows import BadRow
from riseq.types import InputError

VALUES = st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.integers() | st.lists(st.text(max_size=3)))


@given(objects=st.lists(VALUES, max_size=6), indent=st.none() | st.integers(0, 4))
def test_it_reads_what_json_reads(
    tmp_path_factory: pytest.TempPathFactory, objects: list[object], indent: int | None
) -> None:
    path = tmp_path_factory.getbasetemp() / "objects.json"
    path.write_text(json.dumps(objects, indent=indent), encoding="utf-8")
    read = [outcome[1] for outcome in read_objects(path) if not isinstance(outcome, BadRow)]
    assert read == objects


def test_lines_are_where_objects_start(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('\n[{"a": 1}, {"b":\n2},\n\n{"c": 3}\n]\n', encoding="utf-8")
    assert list(read_objects(path)) == [(2, {"a": 1}), (2, {"b": 2}), (5, {"c": 3})]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "got the end of the file, expected a JSON list"),
        ('{"a": 1}', "expected a JSON list"),
        ('[\n{"a": 1},\n{"a": ', ":3: broken JSON: Expecting value"),
        ('[\n{"a": 1}\n', ":3: broken JSON: got the end of the file, expected ',' or ']'"),
        ('[{"a": 1} {"a": 2}]', ":1: broken JSON: got the string '{\"a\": 2}]', expected ',' or ']'"),
        ('[\n{"a": ' + "[" * 100_000, ":2: not usable JSON"),
        ('[\n{"a": ' + "9" * 5000 + "}]", ":2: not usable JSON"),
    ],
)
def test_a_broken_document_is_one_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        list(read_objects(path))
    assert str(caught.value).startswith(str(path))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
