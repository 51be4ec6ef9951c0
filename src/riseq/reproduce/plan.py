"""The systems of the paper's tables, the commands that train them and write their outputs, and these commands run."""

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from riseq.jobs import Journal
from riseq.model.folder import read_json
from riseq.reproduce.facts import describe_machine
from riseq.systems.saved import MANIFEST, Store, Training

TEST = "canard/test.qonly"
UNSEEN = "cast19/test.qonly"
DEV = "canard/dev.qonly"
TEST_SETS = (TEST, UNSEEN)
SETS = (*TEST_SETS, DEV)
"""The sets of the report's tables, of which DEV chooses and the others only report."""
ANSWERS = "canard/test.qa"
"""CANARD test with the answers in the contexts."""
SAVED_SETS = (*SETS, ANSWERS)
"""The sets that outputs are saved on."""
GROUNDED_SUFFIX = "+grounded"
GROUNDED_SETS = (f"{UNSEEN}{GROUNDED_SUFFIX}",)
"""Sets whose outputs of RISE are also saved as people get them: dropping only what the dialogue has said."""

SET_TITLES = {TEST: "CANARD", UNSEEN: "CAsT-19 (unseen)", DEV: "CANARD validation", ANSWERS: "CANARD with answers"}
SHIPPED = {"default": "rise-small", "large": "rise-large"}
"""The shipped models, and the names of their saved outputs."""
PREDICTIONS = "benchmarks/predictions"
RUNS = "runs"
TAUGHT = "recipes/ship.yaml"
COUNTED_PASSES = 3
"""How many passes make the output of an editing system, as in the paper."""
SAVED_PASSES = 5
"""How many passes of an editing system are written down, to show what more of them would do."""

Group = Literal["baseline", "repeat", "rise", "ablation"]
"""A repeat is a further seed of a baseline, whose row is the mean of all."""


def split_form(dataset: str) -> tuple[str, bool]:
    """Return the name of a set, and whether its outputs are those of RISE asked to be grounded."""
    return dataset.removesuffix(GROUNDED_SUFFIX), dataset.endswith(GROUNDED_SUFFIX)


@cache
def read_paper() -> Any:
    """Return the numbers that the paper prints, by table and row."""
    return read_json(Path(__file__).with_name("paper.json"))


@cache
def read_texts() -> Any:
    """Return what the report says: its introduction, the titles of its sections, the notes under its tables."""
    return read_json(Path(__file__).with_name("report.json"))


def write_note(table: str, **values: object) -> str:
    """Return the note under a table, with ``values`` in their places."""
    return str(read_texts()["notes"][table]).format(**values)


@dataclass(frozen=True, slots=True)
class PlannedSystem:
    """One system of the tables, trained or not."""

    name: str
    title: str
    system: str
    group: Group
    recipe: str | None = None
    """The file in ``recipes`` that trains it; None needs no training."""
    seed: int | None = None
    """Instead of the recipe's."""
    paper: str | None = None
    """The row of the paper's tables that it answers to; an ablation's seeds share one."""
    ships: bool = False
    """Whether a model of it comes with riseq."""
    taught_by: str | None = None
    """The script with the steps that trained the model of the committed report; its recipe alone has no teachers."""

    def train_command(self, runs: str = RUNS, recipes: str = "recipes", changes: Sequence[str] = ()) -> list[str]:
        """Return the command that trains it, to be called again where it stopped."""
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        settings = [part for change in changes for part in ("--set", change)]
        out = f"{runs}/{self.name}"
        return ["riseq", "train", f"{recipes}/{self.recipe}", "--out", out, "--resume", "auto", *seed, *settings]

    def predict_command(self, predictions: str = PREDICTIONS, runs: str | None = RUNS) -> list[str]:
        """Return the command that writes its outputs; ``runs`` None takes the model that ships."""
        trained = self.recipe is not None and runs is not None
        model = ["--model", f"{runs}/{self.name}/best"] if trained else []
        return ["riseq", "predict", "--system", self.system, *model, "--into", f"{predictions}/{self.name}"]

    def find_model(self, runs: Path) -> Path | None:
        """Return the folder of its model in ``runs``; None where it has none, or the one that ships is meant."""
        folder = runs / self.name / "best"
        return folder if self.recipe is not None and folder.is_dir() else None

    def make_command(self) -> str:
        """Return, in a shell's words, what would make its saved predictions."""
        if self.recipe is None or self.ships:
            return shlex.join(self.predict_command(runs=None))
        return f"{shlex.join(self.train_command())} && {shlex.join(self.predict_command())}"


PLAN = (
    PlannedSystem("origin", "Origin", "origin", "baseline", paper="Origin"),
    PlannedSystem("rule", "Rule", "rule", "baseline", paper="Rule"),
    PlannedSystem("trans++", "Trans++", "trans++", "baseline", "trans++.yaml", paper="Trans++"),
    PlannedSystem("qgdiv", "QGDiv", "qgdiv", "baseline", "qgdiv.yaml", paper="QGDiv"),
    PlannedSystem("querysim", "QuerySim", "querysim", "baseline", "querysim.yaml", paper="QuerySim"),
    PlannedSystem(
        "rise-small", "RISE, small", "rise", "rise", "default.yaml", paper="RISE", ships=True, taught_by=TAUGHT
    ),
    PlannedSystem("rise-large", "RISE, large", "rise", "rise", "large.yaml", paper="RISE", taught_by=TAUGHT),
    *(
        PlannedSystem(f"{key}-{seed}", f"{row}, seed {seed}", "rise", "ablation", f"{key}.yaml", seed, row)
        for key, row in (("ablation-dps", "-DPS"), ("ablation-mld", "-MLD"), ("ablation-rise", "RISE"))
        for seed in (1, 2, 3)
    ),
    *(
        PlannedSystem(f"{name}-{seed}", f"{title}, seed {seed}", name, "repeat", f"{name}.yaml", seed, title)
        for name, title in (("trans++", "Trans++"), ("qgdiv", "QGDiv"), ("querysim", "QuerySim"))
        for seed in (2, 3)
    ),
)
BY_NAME = {planned.name: planned for planned in PLAN}

STEPS, RETRAINED = "steps.jsonl", "predictions"
"""What ``--retrain`` writes beside its runs: the journal of trainings, and the store of outputs."""


@dataclass(frozen=True, slots=True)
class RetrainStep:
    """One command of ``--retrain``, the name of its system, and what has to be there once it is done."""

    system: str
    command: tuple[str, ...]
    output: Path


def plan_steps(
    systems: Sequence[PlannedSystem], out: Path, recipes: Path, changes: Sequence[str] = (), limit: int | None = None
) -> list[RetrainStep]:
    """Return the commands of ``--retrain``: training in ``out/runs`` where there is a recipe, then the outputs.

    Every system is trained by its recipe alone, those too whose model in the committed report had teachers.
    """
    runs, predictions = out / RUNS, out / RETRAINED
    steps = []
    for planned in systems:
        if planned.recipe is not None:
            train = planned.train_command(str(runs), str(recipes), choose_changes(planned, changes))
            steps.append(RetrainStep(planned.name, tuple(train), runs / planned.name / "best"))
        predict = planned.predict_command(str(predictions), str(runs))
        if planned.taught_by is not None:
            predict += ["--note", f"trained by its recipe alone, without the teachers of {planned.taught_by}"]
        if limit is not None:
            predict += ["--limit", str(limit)]
        steps.append(RetrainStep(planned.name, tuple(predict), predictions / planned.name / MANIFEST))
    return steps


def choose_changes(planned: PlannedSystem, changes: Sequence[str]) -> list[str]:
    """Return the settings (``NAME=VALUE``) that go over the system's recipe; ``SYSTEM:NAME=VALUE`` is for that alone.

    A system is meant by its name in the report or, for all that are one, by its name on the command line.
    """
    chosen = []
    for change in changes:
        whose, colon, _ = change.partition("=")[0].partition(":")
        if not colon:
            chosen.append(change)
        elif whose in (planned.name, planned.system):
            chosen.append(change.removeprefix(f"{whose}:"))
    return chosen


def run_command(command: Sequence[str]) -> int:
    """Run a ``riseq`` command in a process of its own, with this one's terminal, and return its exit code."""
    return subprocess.run([sys.executable, "-m", "riseq", *command[1:]], check=False).returncode


def run_steps(
    steps: Sequence[RetrainStep],
    out: Path,
    log: Callable[[str], None],
    run: Callable[[Sequence[str]], int] = run_command,
    clock: Callable[[], float] = time.perf_counter,
) -> list[RetrainStep]:
    """Run the steps that are not done yet and return those that failed; a system's later steps wait for its earlier.

    Trainings that are done are in a journal; whether outputs are those of the model, ``riseq predict`` finds out.
    """
    out.mkdir(parents=True, exist_ok=True)
    store = Store(out / RETRAINED)
    failed: list[RetrainStep] = []
    with Journal(out / STEPS, {"job": "riseq reproduce --retrain"}, resume=True) as journal:
        entries: list[dict[str, Any]] = list(journal.entries())
        trained = {one["command"]: Training(one["command"], one["hours"], one["hardware"]) for one in entries}
        latest: dict[str, Training] = {}
        for number, step in enumerate(steps, 1):
            words, title = shlex.join(step.command), f"step {number} of {len(steps)}"
            if any(other.system == step.system for other in failed):
                failed.append(step)
                continue
            if words in trained and step.output.exists():
                log(f"{title} is done: {words}")
                latest[step.system] = trained[words]
                continue
            log(f"{title}: {words}")
            began = clock()
            code = run(step.command)
            if code or not step.output.exists():
                log(f"step {number} failed with exit code {code}: {words}")
                failed.append(step)
            elif step.command[1] == "train":
                latest[step.system] = Training(words, round((clock() - began) / 3600, 6), describe_machine())
                journal.add(asdict(latest[step.system]))
            elif step.system in latest:
                training, manifest = latest[step.system], store.read_manifest(step.system)
                if manifest is not None:  # hours and edits are the run's own where it has them
                    noted = replace(manifest.training or training, command=training.command, hardware=training.hardware)
                    store.write_manifest(replace(manifest, training=noted))
    return failed
