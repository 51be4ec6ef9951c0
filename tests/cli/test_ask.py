"""``riseq ask``, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq import Simplifier
from riseq.cli import main
from tiny_model import export_tiny

SAID = ["Who was Ira Hayes?", "A Marine."]
POOL = ["Why is the sky blue?", "Where was Ira Hayes born?", "Who was Ira Hayes?", "When did Ira Hayes die?"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chat.json").write_text(json.dumps(SAID), encoding="utf-8")
    Path("pool.txt").write_text("\n".join(POOL), encoding="utf-8")
    Path("pool.csv").write_text("\n".join(["question", *POOL]), encoding="utf-8")
    Path("pool.jsonl").write_text('{"question": "Where was Ira Hayes born?"}\n{"question": 7}\n', encoding="utf-8")
    Path("empty.txt").write_text("\n", encoding="utf-8")


def test_it_prints_what_the_library_asks(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = Simplifier.load(model, threads=1).ask(SAID, POOL)
    assert [one.index for one in expected] == [1, 3]
    said = [word for text in SAID for word in ("-c", text)]
    for source in (["pool.txt", *said], ["pool.csv", "--context-file", "chat.json"]):
        assert main(["ask", *source, "-m", str(model)]) == 0
        assert capsys.readouterr().out.splitlines() == [one.text for one in expected]
    assert main(["ask", "pool.txt", *said, "-m", str(model), "-n", "1", "--json", "--strength", "0"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    row = json.loads(line)
    assert (row["text"], row["question"], row["index"]) == (POOL[1], POOL[1], 1)
    assert row["score"] == pytest.approx(expected[0].score)


def test_bad_rows_are_told_or_left_out(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["ask", "pool.jsonl", "--context-file", "chat.json", "-m", str(model)]
    assert main(command) == 2
    told = capsys.readouterr()
    assert "pool.jsonl:2: question: got the number 7, expected a string" in told.err
    assert not told.out
    assert main([*command, "--skip-bad"]) == 0
    told = capsys.readouterr()
    assert "skipped pool.jsonl:2" in told.err
    assert len(told.out.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["pool.txt"], "expected the dialogue as --context or as --context-file, got neither"),
        (["pool.txt", "-c", "a", "--context-file", "chat.json"], "or as --context-file, got both"),
        (["pool.txt", "-c", " "], "context 1 is empty"),
        (["none.txt", "-c", "a"], "none.txt: no such file"),
        (["empty.txt", "-c", "a"], "empty.txt: no questions, expected at least one"),
        (["chat.xml", "-c", "a"], "chat.xml: unknown kind of file"),
        (["pool.txt", "-c", "a", "-n", "0"], "-n"),
    ],
)
def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert main(["ask", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
