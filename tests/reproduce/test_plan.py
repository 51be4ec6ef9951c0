"""The systems of the tables, their commands, and the commands run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from riseq.reproduce.plan import BY_NAME, PLAN, SETS, choose_changes, plan_steps, read_paper, run_steps
from riseq.systems.saved import Manifest, SetFacts, Store


def test_every_recipe_of_the_plan_is_there(root: Path) -> None:
    missing = {one.recipe for one in PLAN if one.recipe and not (root / "recipes" / one.recipe).is_file()}
    assert not missing


def test_the_paper_has_a_row_for_every_system_that_claims_one() -> None:
    rows = {*read_paper()["overall"], *read_paper()["ablation"]}
    assert {one.paper for one in PLAN if one.paper} <= rows


def test_commands() -> None:
    dps = BY_NAME["ablation-dps-2"]
    assert dps.make_command() == (
        "riseq train recipes/ablation-dps.yaml --out runs/ablation-dps-2 --resume auto --seed 2 && "
        "riseq predict --system rise --model runs/ablation-dps-2/best --into benchmarks/predictions/ablation-dps-2"
    )
    assert (
        BY_NAME["rise-small"].make_command() == "riseq predict --system rise --into benchmarks/predictions/rise-small"
    )


def test_the_papers_numbers_have_the_papers_own_slips() -> None:
    """What looks like a mistake of ours is one of the paper's, kept as printed."""
    assert read_paper()["ablation"]["-MLD"] == read_paper()["overall"]["QGDiv"]
    assert read_paper()["validation"]["-MLD"] == read_paper()["validation"]["QGDiv"]


RECIPES = Path("recipes")
PLANNED = [BY_NAME[name] for name in ("origin", "ablation-dps-2", "rise-large")]


class Workshop:
    """Does what the commands would do to the disk; ``broken`` is a word of the command that fails."""

    def __init__(self, out: Path, broken: str = "") -> None:
        self.out, self.broken, self.ran = out, broken, list[list[str]]()

    def __call__(self, command: Sequence[str]) -> int:
        self.ran.append(list(command))
        if self.broken and any(self.broken in word for word in command):
            return 3
        if command[1] == "train":
            (Path(command[command.index("--out") + 1]) / "best").mkdir(parents=True)
        else:
            name = Path(command[command.index("--into") + 1]).name
            sets = {one: SetFacts(1, "x") for one in SETS}
            Store(self.out / "predictions").write_manifest(Manifest(name, name, "rise", sets=sets))
        return 0


def test_each_system_is_trained_then_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps = plan_steps(PLANNED, out, RECIPES, ["epochs=1"], limit=5)
    assert [(step.system, step.command[1]) for step in steps] == [
        ("origin", "predict"),
        ("ablation-dps-2", "train"),
        ("ablation-dps-2", "predict"),
        ("rise-large", "train"),
        ("rise-large", "predict"),
    ]
    train = " ".join(steps[1].command)
    assert "--resume auto --seed 2 --set epochs=1" in train
    assert f"--model {out}/runs/ablation-dps-2/best" in " ".join(steps[2].command)
    assert steps[0].command[-2:] == ("--limit", "5")


def test_a_setting_can_be_for_one_system_alone() -> None:
    changes = ["epochs=1", "querysim:backbone=gpt2", "rise-large:batch=8", "rise:lr=1e-5", "train=[a:b]"]
    assert choose_changes(BY_NAME["querysim"], changes) == ["epochs=1", "backbone=gpt2", "train=[a:b]"]
    assert choose_changes(BY_NAME["rise-large"], changes) == ["epochs=1", "batch=8", "lr=1e-5", "train=[a:b]"]
    assert choose_changes(BY_NAME["trans++"], changes) == ["epochs=1", "train=[a:b]"]


def test_done_steps_are_skipped_and_stopped_ones_run_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    steps = plan_steps(PLANNED, out, RECIPES)
    first = Workshop(out, broken="rise-large")
    said: list[str] = []
    failed = run_steps(steps, out, said.append, first)
    assert [step.system for step in failed] == ["rise-large", "rise-large"]
    assert len(first.ran) == 4  # what follows a failed step is not tried
    assert any("failed with exit code 3" in line for line in said)
    second = Workshop(out)
    assert run_steps(steps, out, said.append, second) == []
    assert [command[1] for command in second.ran] == ["predict", "predict", "train", "predict"]
    third = Workshop(out)
    assert run_steps(steps, out, said.append, third) == []
    assert {command[1] for command in third.ran} == {"predict"}, "nothing is trained again; predict finds nothing to do"


def test_a_model_that_is_gone_is_trained_and_run_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_steps(plan_steps(PLANNED[1:2], out, RECIPES), out, lambda _: None, Workshop(out))
    (out / "runs" / "ablation-dps-2" / "best").rmdir()
    again = Workshop(out)
    run_steps(plan_steps(PLANNED[1:2], out, RECIPES), out, lambda _: None, again)
    assert [command[1] for command in again.ran] == ["train", "predict"]


def test_every_recipe_of_the_plan_is_trained_and_what_had_teachers_says_that_it_has_none(tmp_path: Path) -> None:
    steps = plan_steps(PLAN, tmp_path, RECIPES)
    trained = {step.system: step.command[2] for step in steps if step.command[1] == "train"}
    assert trained == {one.name: f"recipes/{one.recipe}" for one in PLAN if one.recipe}
    assert (trained["rise-small"], trained["rise-large"]) == ("recipes/default.yaml", "recipes/large.yaml")
    noted = {step.system: step.command[-1] for step in steps if "--note" in step.command}
    said = "trained by its recipe alone, without the teachers of recipes/ship.yaml"
    assert noted == {"rise-small": said, "rise-large": said}


def test_the_manifest_tells_the_training(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ticks = iter(range(0, 100_000, 1800))
    run_steps(plan_steps(PLANNED[1:2], out, RECIPES), out, lambda _: None, Workshop(out), lambda: next(ticks))
    manifest = Store(out / "predictions").read_manifest("ablation-dps-2")
    assert manifest is not None
    assert manifest.training is not None
    assert manifest.training.hours == 0.5
    assert manifest.training.command.startswith("riseq train recipes/ablation-dps.yaml")
    assert manifest.training.hardware
    _, entry = (out / "steps.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(entry)["command"] == manifest.training.command
