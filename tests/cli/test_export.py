"""The verb export, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.cli import main, take_evenly
from riseq.hub import find_examples
from riseq.model.factors import NOISE
from riseq.types import Example
from tiny_model import make_checkpoint, make_examples, save_tiny


def write_examples(path: Path, count: int) -> Path:
    rows = [{"id": one.id, "context": list(one.context), "question": one.question} for one in make_examples(count)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_an_export_is_checked_on_the_named_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint = save_tiny(tmp_path / "checkpoint", make_checkpoint())
    data = write_examples(tmp_path / "questions.jsonl", 30)
    out = tmp_path / "out"
    asked = ["export", str(checkpoint), str(out), "-p", "float32", "--data", str(data), "--limit", "20"]
    assert main(asked) == 0
    told = capsys.readouterr()
    assert "wrote 0." in told.err
    rows = [line.split() for line in told.out.splitlines() if line.strip()]
    assert rows[-1][:5] == ["onnxruntime", "float32", "20", "100.0", "100"]


def test_an_export_that_says_something_else_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from riseq.model import export as module
    from riseq.model.checkpoint import Checkpoint, load_trained

    def load_wrong(folder: Path) -> Checkpoint:
        checkpoint = load_trained(folder)
        checkpoint.network.edit_head.weight.data.neg_()
        return checkpoint

    checkpoint = save_tiny(tmp_path / "checkpoint", make_checkpoint())
    data = write_examples(tmp_path / "questions.jsonl", 20)
    monkeypatch.setattr(module, "load_trained", load_wrong)
    out = tmp_path / "out"
    assert main(["export", str(checkpoint), str(out), "-p", "float32", "--data", str(data)]) == 1
    assert f"further from the checkpoint than asked; {out} should not be used" in capsys.readouterr().err


def test_the_noise_of_differences_is_an_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from riseq.model import export as module

    asked = list[object]()

    def export(*options: object) -> dict[str, int]:
        asked.append(options)
        return {}

    monkeypatch.setattr(module, "export", export)
    assert main(["export", "above", "out", "--like", "default", "--no-check"]) == 0
    assert main(["export", "above", "out", "--like", "default", "--noise", "1.6", "--no-check"]) == 0
    assert asked == [(Path("above"), Path("out"), "int8", "default", noise) for noise in (NOISE, 1.6)]


def test_a_missing_file_of_questions_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = save_tiny(tmp_path / "checkpoint", make_checkpoint())
    out = tmp_path / "out"
    assert main(["export", str(checkpoint), str(out), "--data", str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl" in capsys.readouterr().err
    assert not out.exists()


def test_the_examples_of_the_checkout_are_found() -> None:
    assert {path.name for path in find_examples()} >= {"dialogues.jsonl", "everyday.jsonl"}
    assert not any("results" in path.name for path in find_examples())


@pytest.mark.parametrize(("have", "limit", "taken"), [(10, 3, "036"), (3, 10, "012"), (0, 5, "")])
def test_questions_are_taken_at_even_distances(have: int, limit: int, taken: str) -> None:
    examples = [Example(str(index), (), "Who?") for index in range(have)]
    assert "".join(example.id for example in take_evenly(examples, limit)) == taken
