"""``riseq train``, and benchmarks/score_checkpoints.py."""

from __future__ import annotations

import builtins
import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from riseq.cli import main
from riseq.extras import INSTALL
from riseq.train.loop import train
from riseq.train.settings import read_recipe

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def recipe(world: Path, tmp_path: Path) -> Path:
    data = world / "pairs.qa.jsonl"
    lines = [f"backbone: {world / 'bert'}", f"train: [{data}]", f"dev: [{data}]", "min_count: 1", "decoder_layers: 1"]
    lines += ["epochs: 1", "batch: 16", "device: cpu", "workers: 1"]
    path = tmp_path / "tiny.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def score(root: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[dict[str, Any]]]:
    """The script, which gives the lines it prints."""
    script = runpy.run_path(str(root / "benchmarks" / "score_checkpoints.py"))

    def call(*arguments: object) -> list[dict[str, Any]]:
        assert script["main"](list(map(str, arguments))) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return call


def test_the_verb_trains_as_python_does(run: Run, recipe: Path, tmp_path: Path) -> None:
    code, out, err = run(
        "train", recipe, "--out", tmp_path / "cli", "--seed", 4, "--set", "lr=3e-3", "--set", "batch=8"
    )
    assert code == 0
    shown = json.loads(out)
    settings = read_recipe(recipe, {"seed": 4, "lr": 3e-3, "batch": 8})
    wanted = train(settings, tmp_path / "python")
    assert shown["scores"] == wanted.scores
    assert shown["best_epoch"] == 1
    assert Path(shown["model"]) == tmp_path / "cli" / "best"
    assert err.splitlines()[-1] == f"riseq: the best model is that of epoch 1, in {tmp_path / 'cli' / 'best'}"


def test_a_second_run_into_the_folder_is_refused_and_resume_goes_on(run: Run, recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run("train", recipe, "--out", out, "--resume", "auto")[0] == 0
    before = (out / "log.csv").read_bytes()
    code, printed, err = run("train", recipe, "--out", out)
    assert (code, printed) == (2, "")
    assert err.startswith(f"riseq: {out}: holds a run already")
    assert err.count("\n") == 1
    assert run("train", recipe, "--out", out, "--resume", "auto")[0] == 0
    assert (out / "log.csv").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "lr"], "--set 'lr': expected name=value"),
        (["--set", "speed=3"], "no setting is called 'speed'"),
        (["--set", "backbone=a/b/c"], "a/b/c: no such folder, expected a folder with an encoder"),
        (["--set", "backbone=weights/nowhere"], "weights/nowhere: no such folder; a path like this is not looked for"),
        (["--set", "system=gpt"], "system: 'gpt'; expected one of rise, trans++, qgdiv, querysim"),
        (["--set", "train=[nope]"], "nope: no such file"),
        (["--resume", "maybe"], "'maybe' is not one of 'auto', 'none'"),
        (["--seed", "-3"], "--seed"),
    ],
    ids=str,
)
def test_a_mistake_is_one_line_and_exit_2(
    run: Run, recipe: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    code, out, err = run("train", recipe, "--out", tmp_path / "run", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("package", ["torch", "numba", "accelerate", "yaml"])
def test_a_missing_package_names_the_extra(
    run: Run, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    real = builtins.__import__

    def missing(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "riseq.train.loop":
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return real(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    code, _, err = run("train", recipe, "--out", tmp_path / "run")
    assert code == 2
    assert err == f"riseq: train needs the package {package!r}; install it with: {INSTALL.format(extra='train')}\n"


def test_checkpoints_score_as_the_run_did(
    run: Run, score: Callable[..., list[dict[str, Any]]], recipe: Path, tmp_path: Path, world: Path
) -> None:
    folder, data = tmp_path / "run", world / "pairs.qa.jsonl"
    code, out, _ = run("train", recipe, "--out", folder)
    assert code == 0
    scores = json.loads(out)["scores"]
    lines = score("--model", folder / "best", "--data", data, "--device", "cpu", "--out", tmp_path / "out")
    last = lines[-1]
    assert (last.pop("data"), last.pop("passes") <= 3, last.pop("first_turns")) == (str(data), True, "kept")
    assert last == next(iter(scores.values()))
    (file,) = (tmp_path / "out").iterdir()
    assert len(json.loads(file.read_text(encoding="utf-8").splitlines()[0])["passes"]) == len(lines)
    twice = score("--model", folder / "best", "--model", folder / "best", "--data", data, "--device", "cpu")
    assert [line["exact"] for line in twice] == [line["exact"] for line in lines], "a mean of equals is the same"


BARE = """
import sys
for name in ("pydantic", "ray", "rapidfuzz", "pycocoevalcap", "fastapi", "pandas", "pyarrow", "spacy", "matplotlib"):
    sys.modules[name] = None
import riseq.baselines.tasks, riseq.train.loop, riseq.train.policy, riseq.train.rise
from riseq.train import train_recipe
print(train_recipe(sys.argv[1], sys.argv[2], changes=["limit=8"]).best_epoch)
"""


def test_training_needs_no_package_of_the_other_extras(recipe: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", BARE, str(recipe), str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "1\n"
