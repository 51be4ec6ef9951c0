"""Everything from the recipes: each system trained and run, step by step, each step a command that is done once."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from riseq.files import write_json
from riseq.reproduce.facts import describe_machine
from riseq.reproduce.plan import SETS, Planned
from riseq.reproduce.store import Store, Training

LEDGER = "steps.json"


@dataclass(frozen=True, slots=True)
class Step:
    """One command, the name of its system, and what has to be there once it is done."""

    system: str
    command: tuple[str, ...]
    leaves: Path


@dataclass(frozen=True, slots=True)
class Places:
    """Where the steps read and write."""

    out: Path
    recipes: Path

    @property
    def runs(self) -> Path:
        """The folder of training runs."""
        return self.out / "runs"

    @property
    def predictions(self) -> Path:
        """The store that the outputs go to."""
        return self.out / "predictions"


def plan_steps(
    systems: Sequence[Planned],
    places: Places,
    changes: Sequence[str] = (),
    sets: Sequence[str] = SETS,
    limit: int | None = None,
) -> list[Step]:
    """Return what has to be run for the outputs of ``systems``: training where there is a recipe, then the outputs."""
    steps = []
    for planned in systems:
        if planned.recipe is not None:
            train = planned.train_command(str(places.runs), str(places.recipes), choose_changes(planned, changes))
            steps.append(Step(planned.name, tuple(train), places.runs / planned.name / "best"))
        predict = planned.predict_command(str(places.predictions), str(places.runs), sets)
        if limit is not None:
            predict += ["--limit", str(limit)]
        steps.append(Step(planned.name, tuple(predict), places.predictions / planned.name / "manifest.json"))
    return steps


def choose_changes(planned: Planned, changes: Sequence[str]) -> list[str]:
    """Return the settings (``NAME=VALUE``) that go over the system's recipe; ``SYSTEM:NAME=VALUE`` is for that alone.

    A system is meant by its name in the report or, for all that are one, by its name on the command line.
    """
    chosen = []
    for change in changes:
        setting, _, _ = change.partition("=")
        whose, colon, _ = setting.partition(":")
        if not colon:
            chosen.append(change)
        elif whose in (planned.name, planned.system):
            chosen.append(change.removeprefix(f"{whose}:"))
    return chosen


def run_command(command: Sequence[str]) -> int:
    """Run a ``riseq`` command in a process of its own, with this one's terminal, and return its exit code."""
    return subprocess.run([sys.executable, "-m", "riseq", *command[1:]], check=False).returncode


def run_steps(
    steps: Sequence[Step],
    places: Places,
    say: Callable[[str], None],
    run: Callable[[Sequence[str]], int] = run_command,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Step]:
    """Run the steps that are not done yet and return those that failed; a system's later steps wait for its earlier.

    Done steps are in ``steps.json``. A step that was stopped is run again, and its command goes on where it stopped.
    """
    places.out.mkdir(parents=True, exist_ok=True)
    ledger = _read_ledger(places.out)
    failed: list[Step] = []
    for number, step in enumerate(steps, 1):
        words = shlex.join(step.command)
        if words in ledger and step.leaves.exists():
            say(f"step {number} of {len(steps)} is done: {words}")
            continue
        if any(other.system == step.system for other in failed):
            failed.append(step)
            continue
        say(f"step {number} of {len(steps)}: {words}")
        began = clock()
        code = run(step.command)
        if code or not step.leaves.exists():
            say(f"step {number} failed with exit code {code}: {words}")
            failed.append(step)
            continue
        ledger[words] = {"system": step.system, "seconds": round(clock() - began, 2), "hardware": describe_machine()}
        write_json(places.out / LEDGER, ledger)
        if step.command[1] == "predict":
            _note_training(Store(places.predictions), step.system, ledger)
    return failed


def _read_ledger(out: Path) -> dict[str, Any]:
    path = out / LEDGER
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _note_training(store: Store, name: str, ledger: dict[str, Any]) -> None:
    """Write the training command and its machine into the manifest; the hours are the run's own where it told them."""
    manifest = store.read_manifest(name)
    done = [(words, facts) for words, facts in ledger.items() if facts["system"] == name and " train " in f" {words} "]
    if manifest is None or not done:
        return
    words, facts = done[-1]
    training = manifest.training or Training(words, round(facts["seconds"] / 3600, 6))
    told = replace(training, command=words, hardware=facts["hardware"])
    store.write_manifest(replace(manifest, training=told))
