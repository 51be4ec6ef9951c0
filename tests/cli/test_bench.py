"""The verb bench, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.cli import main
from tiny_model import export_tiny, make_examples


def test_bench_prints_the_speed_for_people_and_as_json(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    _, model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")
    rows = [{"context": list(one.context), "question": one.question} for one in make_examples(8)]
    data = tmp_path / "questions.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    asked = ["bench", "-m", str(model), "-d", str(data), "-t", "1", "--repeats", "1"]
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:14].strip() for line in lines[1:]] == ["one question", "in bulk", "cold start"]
    assert "bare encoder passes" in lines[1]
    assert main([*asked, "--json", "--limit", "5"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["questions"] <= 5
    assert found["threads"] == 1
    assert {"singles", "encoder_ratio", "bulk", "cold_s", "cold_mb"} < set(found)


def test_without_examples_a_file_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("riseq.cli.find_examples", list)
    assert main(["bench"]) == 2
    assert "name a file with --data" in capsys.readouterr().err
