"""The systems of the paper's tables: what they are called, and the commands that train them and write their outputs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TEST = "canard/test.qonly"
UNSEEN = "cast19/test.qonly"
DEV = "canard/dev.qonly"
SETS = (TEST, UNSEEN, DEV)
"""The sets of the report, of which DEV chooses and the others only report."""

SET_TITLES = {TEST: "CANARD", UNSEEN: "CAsT-19 (unseen)", DEV: "CANARD validation"}
SEEDS = (1, 2, 3)
PREDICTIONS = "benchmarks/predictions"
RUNS = "runs"
COUNTED_PASSES = 3
"""How many passes make the output of an editing system, as in the paper."""
SAVED_PASSES = 5
"""How many passes of an editing system are written down, to show what more of them would do."""

Group = Literal["baseline", "rise", "ablation"]


@dataclass(frozen=True, slots=True)
class Planned:
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
    """The row of the paper's tables that it answers to."""
    variant: str | None = None
    """What several seeds share: the row of the ablation."""
    ships: bool = False
    """Whether a model of it comes with riseq."""

    def train_command(self, runs: str = RUNS, recipes: str = "recipes", changes: Sequence[str] = ()) -> list[str]:
        """Return the command that trains it, to be called again where it stopped."""
        if self.recipe is None:
            raise ValueError(f"{self.name} is not trained")
        seed = [] if self.seed is None else ["--seed", str(self.seed)]
        settings = [part for change in changes for part in ("--set", change)]
        out = f"{runs}/{self.name}"
        return ["riseq", "train", f"{recipes}/{self.recipe}", "--out", out, "--resume", "auto", *seed, *settings]

    def predict_command(
        self, predictions: str = PREDICTIONS, runs: str | None = RUNS, sets: Sequence[str] = SETS
    ) -> list[str]:
        """Return the command that writes its outputs; ``runs`` None takes the model that ships."""
        trained = self.recipe is not None and runs is not None
        model = ["--model", f"{runs}/{self.name}/best"] if trained else []
        data = [] if tuple(sets) == SETS else [part for name in sets for part in ("--data", name)]
        return ["riseq", "predict", "--system", self.system, *model, *data, "--into", f"{predictions}/{self.name}"]

    def make_command(self) -> str:
        """Return, in a shell's words, what would make its saved predictions."""
        if self.recipe is None or self.ships:
            return shlex.join(self.predict_command(runs=None))
        return f"{shlex.join(self.train_command())} && {shlex.join(self.predict_command())}"


def _ablations() -> tuple[Planned, ...]:
    variants = (("dps", "-DPS"), ("mld", "-MLD"), ("rise", "RISE"))
    return tuple(
        Planned(
            f"ablation-{key}-{seed}",
            f"{title}, seed {seed}",
            "rise",
            "ablation",
            f"ablation-{key}.yaml",
            seed,
            title,
            title,
        )
        for key, title in variants
        for seed in SEEDS
    )


PLAN = (
    Planned("origin", "Origin", "origin", "baseline", paper="Origin"),
    Planned("rule", "Rule", "rule", "baseline", paper="Rule"),
    Planned("trans++", "Trans++", "trans++", "baseline", "trans++.yaml", paper="Trans++"),
    Planned("qgdiv", "QGDiv", "qgdiv", "baseline", "qgdiv.yaml", paper="QGDiv"),
    Planned("querysim", "QuerySim", "querysim", "baseline", "querysim.yaml", paper="QuerySim"),
    Planned("rise-small", "RISE, small", "rise", "rise", "small.yaml", paper="RISE", ships=True),
    Planned("rise-large", "RISE, large", "rise", "rise", "large.yaml", paper="RISE"),
    *_ablations(),
)
BY_NAME = {planned.name: planned for planned in PLAN}
