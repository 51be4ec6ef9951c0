"""``riseq resolve --engine ray``: the command itself on a cluster, with every row that one process writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.scale.run import MANIFEST
from tiny_resolver import export_tiny_resolver, make_examples

pytestmark = pytest.mark.xdist_group("ray")  # one cluster, in one of the processes that test

pytest.importorskip("pyarrow")


def test_a_file_is_resolved_by_workers_as_by_one_process(
    cluster: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]
    rows = [json.dumps({"id": one.id, "context": one.context, "question": one.question}) for one in make_examples(60)]
    source, whole, out = tmp_path / "in.jsonl", tmp_path / "whole.jsonl", tmp_path / "out"
    source.write_text("\n".join([*rows, '{"question": 7}']), encoding="utf-8")
    edits = ["--model", str(model), "--n-best", "2", "--skip-bad"]
    assert main(["resolve", str(source), str(whole), *edits, "--threads", "1"]) == 0
    ray = ["--engine", "ray", "--address", cluster, "--workers", "2", "--block-rows", "25", "--format", "jsonl"]
    assert main(["resolve", str(source), str(out), *edits, *ray]) == 0
    assert "wrote 60 questions" in capsys.readouterr().err
    parts = sorted(out.glob("*.jsonl"))
    assert len(parts) == 3
    assert b"".join(part.read_bytes() for part in parts) == whole.read_bytes()
    found = [json.loads(line) for part in parts for line in part.read_text(encoding="utf-8").splitlines()]
    assert sum(row["text"] != row["question"] for row in found) > 20
    manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
    assert (manifest["state"], manifest["bad"], manifest["settings"]["system"]) == ("finished", 1, "resolve")
    assert main(["resolve", str(source), str(out), *edits, *ray, "--resume"]) == 0
    assert "continuing after 61 finished rows" in capsys.readouterr().err
    # The other direction does not go on with these results.
    assert main(["simplify", "-s", "origin", str(source), str(out), *ray, "--resume"]) == 2
    assert "another system (resolve, now origin)" in capsys.readouterr().err


def test_without_a_model_it_is_one_line_before_any_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("riseq.hub._find_shipped", lambda name: None)
    source = tmp_path / "in.jsonl"
    source.write_text('{"question": "Who was she?", "context": []}\n', encoding="utf-8")
    assert main(["resolve", str(source), str(tmp_path / "out"), "--engine", "ray"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "resolve: no model that resolves questions ships with this riseq" in line
    assert not (tmp_path / "out").exists()
