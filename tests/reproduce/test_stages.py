"""One recipe of stages trains, exports, calibrates and scores, and goes on where it was stopped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from riseq.cli import main
from riseq.engine.simplifier import Simplifier
from riseq.reproduce import stages
from riseq.reproduce.stages import read_stages, run_stages
from riseq.types import InputError
from tiny_world import make_rows, write_backbone, write_rows


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    """A start, a pupil of it and an export, on made-up pairs."""
    rows = make_rows()
    data = str(write_rows(tmp_path / "pairs.qa.jsonl", rows))
    one: dict[str, object] = {
        "backbone": str(write_backbone(tmp_path / "bert", "bert", rows)),
        "train": [data],
        "dev": [data],
    }
    one |= {"min_count": 1, "decoder_layers": 1, "epochs": 1, "batch": 16, "lr": 3e-3, "device": "cpu", "workers": 1}
    (tmp_path / "one.yaml").write_text(yaml.safe_dump(one), encoding="utf-8")
    ship = {
        "first": {"recipe": "one.yaml", "set": {"method": "mle"}},
        "pupil": {
            "recipe": "one.yaml",
            "set": {"start": "{first}", "teachers": ["{first}"], "distill": 0.5, "seed": 3},
        },
        "shipped": {"export": "{pupil}", "precision": "float32", "noise": 1.0, "calibrate": [data], "score": [data]},
    }
    path = tmp_path / "ship.yaml"
    path.write_text(yaml.safe_dump({"stages": ship}, sort_keys=False), encoding="utf-8")
    return path


def test_stages_run_once_and_go_on_where_they_were(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, exported = tmp_path / "out", stages._export

    def stop(*_: object) -> dict[str, object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "_export", stop)
    with pytest.raises(KeyboardInterrupt):
        list(run_stages(recipe, out))
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")}
    assert {path.parts[len(out.parts)] for path in before} == {"first", "pupil"}
    monkeypatch.setattr(stages, "_export", exported)
    assert main(["train", str(recipe), "--out", str(out)]) == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.safetensors")} == before, "trained once"
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["stage"] for one in made] == ["first", "pupil", "shipped"]
    (scores,) = made[-1]["scores"].values()
    assert scores["bleu4"] > 0
    engine = Simplifier.load(out / "shipped")
    assert engine("Did Ada win?", ["Who is Ada?"]).confidence is not None, "calibrated"
    assert main(["train", str(recipe), "--out", str(out), "--set", "lr=0.1"]) == 2
    assert "this stage was run otherwise" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"a": {"recipe": "none.yaml"}}, "no recipe none.yaml"),
        ({"a": {"export": "{b}"}}, r"\{b\} is no earlier stage"),
        ({"a": {"recipe": "one.yaml", "export": "x"}}, "expected a recipe to train by, or an export"),
        ({"a": {"recipe": "one.yaml", "sets": {}}}, "no key is called 'sets'; expected recipe, set"),
        ([], "expected the one key stages"),
    ],
)
def test_mistakes_are_told_before_anything_runs(recipe: Path, said: object, message: str) -> None:
    recipe.write_text(yaml.safe_dump({"stages": said}), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_stages(recipe)


def test_a_recipe_of_one_training_has_no_stages(recipe: Path) -> None:
    assert read_stages(recipe.parent / "one.yaml") is None
