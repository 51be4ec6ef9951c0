"""Training: one loop for RISE and the baselines, which are its tasks (needs torch)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from riseq.extras import needs_extra

if TYPE_CHECKING:
    from riseq.train.loop import TrainResult


def train_recipe(
    recipe: str | Path,
    out: str | Path,
    resume: Literal["auto", "none"] = "none",
    seed: int | None = None,
    changes: Sequence[str] = (),
) -> TrainResult:
    """Train as a recipe says, with ``changes`` (name=value) on top of it, and return how it went.

    ``accelerate launch`` can start it several times; the result of the first process is the one to show.
    """
    with needs_extra("train", "train"):
        from riseq.train.loop import train
        from riseq.train.processes import leave_processes
        from riseq.train.settings import parse_override, read_recipe
    overrides = dict(parse_override(text) for text in changes)
    if seed is not None:
        overrides["seed"] = seed
    result = train(read_recipe(recipe, overrides), out, resume == "auto")
    leave_processes()
    return result
