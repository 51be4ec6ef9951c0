"""``--round-trip`` on the command line: ``riseq evaluate`` measures by it, ``riseq simplify`` guards by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riseq.cli import main
from tiny_model import export_tiny
from tiny_resolver import export_tiny_resolver, make_rows


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.fixture(scope="module")
def resolver(base: Path) -> str:
    return str(export_tiny_resolver(base, "float32")[1])


@pytest.fixture(scope="module")
def simplifier(base: Path) -> str:
    return str(export_tiny(base, "bert", "float32")[1])


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in make_rows()[:36]), encoding="utf-8")
    return path


def evaluate(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert main(["evaluate", *map(str, arguments), "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)["round_trip"]
    return told


def test_evaluate_tells_how_much_is_back(pairs: Path, resolver: str, capsys: pytest.CaptureFixture[str]) -> None:
    back = ("-d", pairs, "--round-trip", "--resolver", resolver)
    origin, gold = evaluate(capsys, "-s", "origin", *back), evaluate(capsys, "-s", "gold", *back)
    assert (origin["n"], origin["dropped"], origin["back"], origin["whole"]) == (36, 0, 100, 100)
    assert gold["dropped"] > 30
    assert gold["restored"] > 60, "the tiny model has learnt these pairs"
    assert gold["back"] > 100 - gold["dropped"]
    assert set(gold["phenomena"]) <= {"anaphora", "ellipsis", "both", "none: reworded"}
    assert main(["evaluate", "-s", "gold", *map(str, back)]) == 0
    lines = capsys.readouterr().out.splitlines()
    header = next(line.split() for line in lines if line.strip().startswith("round trip"))
    assert header == ["round", "trip", "n", "dropped", "back", "restored", "whole", "exact", "%"]
    assert lines[-1].split()[:3] == ["all", "36", f"{gold['dropped']:.1f}"]


def test_saved_outputs_are_resolved_too_and_written_beside_them(
    pairs: Path, resolver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    back, saved = ("-d", pairs, "--round-trip", "--resolver", resolver), tmp_path / "saved.jsonl"
    gold = evaluate(capsys, "-s", "gold", *back, "--predictions", saved)
    rows = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]
    assert sum(row["resolved"] != row["prediction"] for row in rows) > 18
    assert evaluate(capsys, "-s", "saved", "-m", saved, *back) == gold


def test_a_suite_has_its_own_phenomena(resolver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "suite.jsonl"
    case = {"phenomenon": "thing", "context": ["Do you know NASA?"], "question": "Did NASA win a prize?"}
    rest = {"gold": ["Did it win a prize?"], "keep": ["prize"], "gone": ["NASA"], "bad": []}
    suite.write_text(json.dumps({**case, **rest}) + "\n", encoding="utf-8")
    found = evaluate(capsys, "-s", "gold", "-d", suite, "--round-trip", "--resolver", resolver)
    assert found["phenomena"] == {"thing": {name: value for name, value in found.items() if name != "phenomena"}}
    assert (found["restored"], found["exact"]) == (100, 100)


def test_simplify_says_only_what_comes_back(
    simplifier: str, resolver: str, pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, guarded = tmp_path / "plain.jsonl", tmp_path / "guarded.jsonl"
    command = ["simplify", str(pairs), "-m", simplifier]
    assert main([*command, str(plain)]) == 0
    assert main([*command, str(guarded), "--round-trip", "require", "--resolver", resolver]) == 0
    texts = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (plain, guarded)]
    reasons = [row["reason"] for row in texts[1] if (row["reason"] or "").startswith("round trip: ")]
    assert reasons
    assert len(reasons) == sum(one["text"] != other["text"] for one, other in zip(*texts, strict=True))
    capsys.readouterr()


def test_a_guarded_run_is_resumed_by_the_same_guard_alone(
    simplifier: str, resolver: str, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["simplify", str(pairs), str(tmp_path / "out.jsonl"), "-m", simplifier]
    back = ["--round-trip", "require", "--resolver", resolver]

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("riseq.cli.simplify._finish", stop)
        assert main([*command, *back]) == 130
    assert main([*command, "--resume"]) == 2, "other settings"
    assert main([*command, "--round-trip", "prefer", *back[2:], "--resume"]) == 2, "another mode"
    assert main([*command, *back, "--resume"]) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["evaluate", "-s", "origin", "--resolver", "x"], "--resolver goes with --round-trip; got it alone"),
        (["evaluate", "-s", "resolve", "--round-trip"], "--round-trip goes with simplified questions"),
        (["evaluate", "-s", "origin", "--round-trip", "--resolver", "SIMPLIFIER"], "expected one to resolve them"),
        (["simplify", "--resolver", "x"], "--resolver goes with --round-trip; got it alone"),
        (
            ["simplify", "-s", "origin", "--round-trip", "prefer"],
            "--round-trip goes with the system 'rise', not with 'origin'",
        ),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], told: str, simplifier: str, pairs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verb, *rest = [simplifier if one == "SIMPLIFIER" else one for one in arguments]
    data = ["-d", str(pairs)] if verb == "evaluate" else [str(pairs)]
    assert main([verb, *data, *rest]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_gold_needs_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": "q", "context": [], "question": "Why?"}\n', encoding="utf-8")
    assert main(["simplify", str(path), "-s", "gold", "--strict"]) == 2
    assert "has no target; the system 'gold' says nothing else" in capsys.readouterr().err
