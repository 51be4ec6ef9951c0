"""Training from a command line: what ``riseq train`` and ``python -m riseq.train run`` share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.train.loop import TrainResult

Resume = Literal["auto", "none"]


def train_recipe(
    recipe: str | Path,
    out: str | Path,
    resume: Resume = "none",
    seed: int | None = None,
    changes: Sequence[str] = (),
) -> TrainResult:
    """Train as a recipe says, with ``changes`` (name=value) on top of it, and return how it went."""
    try:
        from riseq.train.loop import train
        from riseq.train.settings import parse_override, read_values, settings_from
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("riseq"):
            raise
        raise InputError(
            f"train needs the package {error.name!r}; install it with: pip install 'riseq[train]'"
        ) from error

    overrides = dict(parse_override(text) for text in changes)
    if seed is not None:
        overrides["seed"] = seed
    values = {**read_values(recipe), **overrides}
    if "system" in values:
        from riseq.train.baseline_loop import baseline_settings, train_baseline

        return train_baseline(baseline_settings(values, str(recipe)), out, resume == "auto")
    return train(settings_from(values, str(recipe)), out, resume == "auto")


def describe(result: TrainResult) -> str:
    """Return how a run ended as one line of JSON."""
    told = {
        "model": str(result.folder),
        "best_epoch": result.best_epoch,
        "states_per_s": round(result.states_per_s, 1),
        "scores": result.scores,
    }
    return json.dumps(told)
