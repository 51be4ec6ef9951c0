"""Rows as people have them: columns that riseq does not know, and dialogues in every form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riseq.cli.simplify import Handling, simplify_file
from riseq.data.tables import read_records, write_rows
from riseq.scale.blocks import split_file
from riseq.scale.storage import find_folder, find_sources
from riseq.scale.workers import Worker
from riseq.systems import Origin
from riseq.systems.registry import SystemChoice

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ORIGIN = SystemChoice("origin")
FORMATS = ["jsonl", "json", "csv", "tsv", "parquet", "json.gz"]
ROWS: list[dict[str, Any]] = [
    {"context": ["Who?"], "question": "Why?", "conv_id": "c7", "target": "Why so?"},
    {"context": ["Who?", "She."], "question": "When?", "conv_id": "c8", "target": "When then?"},
]
MESSAGES = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": "She."}]
ASKED = {"role": "user", "content": "Why?"}
FORMS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "null": ({"question": "Why?", "context": None}, ()),
    "missing": ({"question": "Why?"}, ()),
    "one string": ({"question": "Why?", "context": "Who?"}, ("Who?",)),
    "messages": ({"messages": [*MESSAGES, ASKED]}, ("Who?", "She.")),
    "messages and a question": ({"question": "Why?", "messages": MESSAGES}, ("Who?", "She.")),
    "context of messages": ({"question": "Why?", "context": MESSAGES}, ("Who?", "She.")),
}


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_columns_that_are_not_known_are_carried_through(tmp_path: Path, source: str, target: str) -> None:
    given, out = tmp_path / f"in.{source}", tmp_path / f"out.{target}"
    write_rows(given, ROWS)
    assert simplify_file(str(given), out, ORIGIN, Handling()) == 0
    records = list(read_records(out))
    assert [(one.row["conv_id"], one.row["target"], one.example.context) for one in records] == [
        ("c7", "Why so?", ("Who?",)),
        ("c8", "When then?", ("Who?", "She.")),
    ]


@pytest.mark.parametrize("target", ["csv", "parquet"])
def test_rows_need_not_have_the_same_columns(tmp_path: Path, target: str) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / f"out.{target}"
    given.write_text(
        '{"question": "Why?"}\n{"question": "When?", "tags": {"a": [1]}, "text": "old"}\n', encoding="utf-8"
    )
    assert simplify_file(str(given), out, ORIGIN, Handling()) == 0
    first, second = (one.row for one in read_records(out))
    assert (first["tags"] or None, json.loads(str(second["tags"])), second["text"]) == (None, {"a": [1]}, "When?")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_every_form_is_read_from_a_file_and_by_a_worker(tmp_path: Path, form: str, suffix: str) -> None:
    row, context = FORMS[form]
    given, out, folder = tmp_path / f"in.{suffix}", tmp_path / "out.jsonl", tmp_path / "folder"
    if suffix == "parquet":  # as others write it, with whatever type a column has
        pq.write_table(pa.Table.from_pylist([row]), given)
    else:
        write_rows(given, [row])
    assert simplify_file(str(given), out, ORIGIN, Handling()) == 0
    (record,) = read_records(out)
    assert (record.example.question, record.example.context) == ("Why?", context)
    (source,) = find_sources(str(given))
    (block,) = split_file(source, 0, 10)[1]
    assert Worker(Origin, find_folder(str(folder)), ".jsonl").process(block).error == ""
    (written,) = folder.glob("*.jsonl")
    assert written.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_the_server_and_the_library_read_the_same(form: str) -> None:
    from riseq.data.dialogue import read_item
    from riseq.server.schemas import SimplifyRequest

    row, context = FORMS[form]
    assert read_item(row) == ("Why?", context)
    asked: Any = SimplifyRequest.model_validate(row).root
    assert (asked.question, asked.context) == ("Why?", context)
