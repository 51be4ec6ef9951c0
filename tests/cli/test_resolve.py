"""``riseq resolve`` and its kin: what simplify does with questions and files, with a model of the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.jobs import journal_path
from riseq.types import Simplification
from tiny_resolver import export_tiny_resolver, make_examples

ASKED = ["Did it win a prize?", "--context", "Do you know NASA?"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [json.dumps({"id": one.id, "context": one.context, "question": one.question}) for one in make_examples(40)]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([*rows, '{"question": 7}']), encoding="utf-8")
    return path


def test_a_question(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resolve", *ASKED, "--model", str(model)]) == 0
    assert capsys.readouterr().out == "Did NASA win a prize?\n"
    assert main(["resolve", *ASKED, "--model", str(model), "--show-edits"]) == 0
    assert capsys.readouterr().out.splitlines() == ["Did [-it-]{+NASA+} win a prize?", "Did NASA win a prize?"]
    assert main(["resolve", *ASKED, "--model", str(model), "--json"]) == 0
    result = Simplification.from_dict(json.loads(capsys.readouterr().out))
    assert (result.text, [edit.new for edit in result.edits]) == ("Did NASA win a prize?", ["NASA"])


def test_files_and_pipes(model: Path, questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.jsonl"
    assert main(["resolve", str(questions), str(out), "--model", str(model), "--threads", "1"]) == 3
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 40
    assert sum(row["text"] != row["question"] for row in rows) > 15
    mentions = [
        edit["refers_to"] for row in rows for step in row["steps"] for edit in step["edits"] if "refers_to" in edit
    ]
    assert mentions
    capsys.readouterr()
    assert main(["resolve", str(questions), "--model", str(model), "--json", "--skip-bad"]) == 0
    printed = [json.loads(line)["text"] for line in capsys.readouterr().out.splitlines()]
    assert printed == [row["text"] for row in rows]


def test_a_run_that_was_stopped_goes_on(
    model: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, command = tmp_path / "out.jsonl", ["resolve", str(questions), str(tmp_path / "out.jsonl"), "-m", str(model)]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("riseq.cli.simplify._finish", stop)
        assert main(command) == 130
    assert journal_path(out).exists()
    assert main([*command, "--resume", "--strength", "0.4"]) == 2, "other settings"
    assert main([*command, "--resume"]) == 3
    assert "continuing after" in capsys.readouterr().err
    assert len(out.read_text(encoding="utf-8").splitlines()) == 40


def test_explain_shows_the_mention(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", *ASKED, "--direction", "resolve", "--model", str(model)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split(None, 2)[2] == "Did [-it-]{+NASA+} win a prize?"
    assert lines[3].strip() == 'refers to "NASA" (utterance 1)'


def test_bench_evaluate_and_the_exports_check(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = f"{model.parent / 'pairs.qa.jsonl'}+resolve"
    assert main(["bench", "-m", str(model), "-d", pairs, "--limit", "4", "--repeats", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 4
    assert main(["evaluate", "-s", "resolve", "-m", str(model), "-d", pairs, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["exact"] > 50
    assert scores["term_f1"] > 50
    assert main(["evaluate", "-s", "resolve", "-m", str(model), "-d", pairs, "--grounded"]) == 2
    assert "grounded goes with riseq simplify, not with riseq resolve" in capsys.readouterr().err
    out = str(tmp_path / "out")
    assert main(["export", str(model.parent / "best"), out, "-p", "float32", "-d", pairs, "--limit", "30"]) == 0
    assert "100.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["resolve", *ASKED, "--json", "--show-edits"], "--show-edits and --json contradict each other"),
        (["resolve", *ASKED, "--resume"], "--resume goes with a file of questions"),
        (["resolve", *ASKED, "--no-grounded"], "No such option: --no-grounded"),
        (["explain", *ASKED, "--direction", "resolve", "--no-grounded"], "grounded goes with riseq simplify"),
        (["explain", *ASKED, "--direction", "resolve", "--guard"], "guard goes with riseq simplify"),
        (["simplify", *ASKED], "a model to resolve questions; expected one to simplify them"),
    ],
)
def test_mistakes_are_one_line(
    model: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--model", str(model)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
