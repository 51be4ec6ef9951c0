"""Everything from the recipes, in steps that are done once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from riseq.reproduce.plan import BY_NAME, SETS
from riseq.reproduce.retrain import Places, choose_changes, plan_steps, run_steps
from riseq.reproduce.store import Manifest, SetFacts, Store

PLANNED = [BY_NAME[name] for name in ("origin", "ablation-dps-2", "rise-large")]


class Workshop:
    """Does what the commands would do to the disk; ``broken`` is a word of the command that fails."""

    def __init__(self, places: Places, broken: str = "") -> None:
        self.places, self.broken, self.ran = places, broken, list[list[str]]()

    def __call__(self, command: Sequence[str]) -> int:
        self.ran.append(list(command))
        if self.broken and any(self.broken in word for word in command):
            return 3
        if command[1] == "train":
            (Path(command[command.index("--out") + 1]) / "best").mkdir(parents=True)
        else:
            name = Path(command[command.index("--into") + 1]).name
            sets = {one: SetFacts(1, "x") for one in SETS}
            Store(self.places.predictions).write_manifest(Manifest(name, name, "rise", sets=sets))
        return 0


def test_each_system_is_trained_then_run(tmp_path: Path) -> None:
    places = Places(tmp_path / "out", Path("recipes"))
    steps = plan_steps(PLANNED, places, ["epochs=1"], limit=5)
    assert [(step.system, step.command[1]) for step in steps] == [
        ("origin", "predict"),
        ("ablation-dps-2", "train"),
        ("ablation-dps-2", "predict"),
        ("rise-large", "train"),
        ("rise-large", "predict"),
    ]
    train = " ".join(steps[1].command)
    assert "--resume auto --seed 2 --set epochs=1" in train
    assert f"--model {places.runs}/ablation-dps-2/best" in " ".join(steps[2].command)
    assert steps[0].command[-2:] == ("--limit", "5")


def test_a_setting_can_be_for_one_system_alone() -> None:
    changes = ["epochs=1", "querysim:backbone=gpt2", "rise-large:batch=8", "rise:lr=1e-5", "train=[a:b]"]
    assert choose_changes(BY_NAME["querysim"], changes) == ["epochs=1", "backbone=gpt2", "train=[a:b]"]
    assert choose_changes(BY_NAME["rise-large"], changes) == ["epochs=1", "batch=8", "lr=1e-5", "train=[a:b]"]
    assert choose_changes(BY_NAME["trans++"], changes) == ["epochs=1", "train=[a:b]"]


def test_done_steps_are_skipped_and_stopped_ones_run_again(tmp_path: Path) -> None:
    places = Places(tmp_path / "out", Path("recipes"))
    steps = plan_steps(PLANNED, places)
    first = Workshop(places, broken="rise-large")
    said: list[str] = []
    failed = run_steps(steps, places, said.append, first)
    assert [step.system for step in failed] == ["rise-large", "rise-large"]
    assert len(first.ran) == 4  # what follows a failed step is not tried
    assert any("failed with exit code 3" in line for line in said)
    second = Workshop(places)
    assert run_steps(steps, places, said.append, second) == []
    assert [command[1] for command in second.ran] == ["train", "predict"]
    third = Workshop(places)
    assert run_steps(steps, places, said.append, third) == []
    assert third.ran == []


def test_other_settings_are_other_steps(tmp_path: Path) -> None:
    places = Places(tmp_path / "out", Path("recipes"))
    run_steps(plan_steps(PLANNED[1:2], places), places, lambda _: None, Workshop(places))
    (places.runs / "ablation-dps-2" / "best").rmdir()
    again = Workshop(places)
    run_steps(plan_steps(PLANNED[1:2], places), places, lambda _: None, again)
    assert [command[1] for command in again.ran] == ["train"]  # what it left is gone, what came of it is not


def test_the_manifest_tells_the_training(tmp_path: Path) -> None:
    places = Places(tmp_path / "out", Path("recipes"))
    ticks = iter(range(0, 100_000, 1800))
    run_steps(plan_steps(PLANNED[1:2], places), places, lambda _: None, Workshop(places), lambda: next(ticks))
    manifest = Store(places.predictions).read_manifest("ablation-dps-2")
    assert manifest is not None
    assert manifest.training is not None
    assert manifest.training.hours == 0.5
    assert manifest.training.command.startswith("riseq train recipes/ablation-dps.yaml")
    assert manifest.training.hardware
    ledger = json.loads((places.out / "steps.json").read_text(encoding="utf-8"))
    assert len(ledger) == 2
