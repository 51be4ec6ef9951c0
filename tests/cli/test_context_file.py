"""Questions of a file after one dialogue: ``riseq simplify --context-file``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq import Simplifier
from riseq.cli import main
from riseq.controls import Controls
from riseq.types import InputError
from tiny_model import export_tiny

SAID = ["Who was Ira Hayes?", "A Marine who raised the flag on Iwo Jima."]
ASKED = ["Where was Ira Hayes born?", "When did Ira Hayes die?", "Who was Ira Hayes married to?"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("chat.json").write_text(json.dumps(SAID), encoding="utf-8")
    Path("questions.txt").write_text("\n".join(ASKED), encoding="utf-8")
    return tmp_path


def test_every_question_is_answered_as_many_answers_it(
    model: Path, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = [one.text for one in Simplifier.load(model).many(SAID, ASKED)]
    command = ["simplify", "questions.txt", "--context-file", "chat.json", "-m", str(model)]
    assert main(command) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["text"] for row in rows] == expected
    assert [row["context"] for row in rows] == [SAID] * 3
    assert main([*command[:2], "out.csv", *command[2:]]) == 0
    assert Path("out.csv").read_text(encoding="utf-8").count(ASKED[0]) == 1
    capsys.readouterr()
    assert main(["simplify", ASKED[0], "--context-file", "chat.json", "-m", str(model)]) == 0
    assert capsys.readouterr().out == f"{expected[0]}\n"


def test_how_a_long_dialogue_is_read_is_an_option(model: Path, files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = [*SAID, *["The flag was large. Who saw it there?", "All of them did."] * 20]
    Path("chat.json").write_text(json.dumps(said), encoding="utf-8")
    command = ["simplify", "questions.txt", "--context-file", "chat.json", "-m", str(model), "--read"]
    for read in ("all", "relevant"):
        assert main([*command, read]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        expected = Simplifier.load(model).many(said, ASKED, controls=Controls.of(read=read))
        assert [(row["text"], row["truncated"]) for row in rows] == [(one.text, one.truncated) for one in expected]
    assert main([*command, "some"]) == 2
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "relevant" in shown


def test_a_run_is_not_continued_after_another_dialogue(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise InputError("stopped here")

    command = ["simplify", "questions.txt", "out.jsonl", "--context-file", "chat.json", "-s", "origin", "--resume"]
    with monkeypatch.context() as patch:
        patch.setattr("riseq.cli.simplify._finish", stop)
        assert main(command) == 2
    Path("chat.json").write_text('["Something else."]', encoding="utf-8")
    assert main(command) == 2
    assert "were made with another dialogue" in capsys.readouterr().err
    Path("chat.json").write_text(json.dumps(SAID), encoding="utf-8")
    assert main(command) == 0
    assert "continuing after 3 finished rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["questions.txt", "--context-file", "none.json"], "none.json: no such file"),
        (["questions.txt", "--context-file", "questions.csv"], "no file of one dialogue"),
        (["Why?", "-c", "a", "--context-file", "chat.json"], "contradict each other"),
        (["questions.txt", "out", "--context-file", "chat.json", "--engine", "ray"], "--engine ray takes a file"),
        (["questions.txt"], "questions.txt: unknown kind of file"),
    ],
)
def test_a_mistake_is_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    assert main(["simplify", *arguments, "-s", "origin"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
