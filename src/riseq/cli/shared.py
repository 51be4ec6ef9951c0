"""What the verbs do alike: load a system as it is wished for, read sets, tell the user something."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from riseq import __version__
from riseq.controls import Controls
from riseq.jobs import digest
from riseq.systems.registry import SYSTEMS, load_system
from riseq.types import Example, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from riseq.data.rows import BadRow
    from riseq.systems.protocol import System


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which system a user wants, and how it should edit; None where nothing was said."""

    system: str
    model: Path | None = None
    strength: float | None = None
    protect: list[str] | None = None
    max_passes: int | None = None
    n_best: int | None = None
    threads: int | None = None

    def settings(self) -> dict[str, object]:
        """Return everything that decides what becomes of a question, as JSON has it."""
        return {
            "riseq version": __version__,
            "system": self.system,
            # A user's own system may change under its name.
            "system's file": digest(Path(self.system.rpartition(":")[0])) if ":" in self.system else None,
            "model": None if self.model is None else digest(self.model) or str(self.model),
            "strength": self.strength,
            "protect": self.protect,
            "max-passes": self.max_passes,
            "n-best": self.n_best,
        }

    def resolve(self) -> Wishes:
        """Return the same wishes with the folder of the model, where that goes by another name or by none."""
        from riseq.hub import find_default_model, find_model

        if self.system != "rise":
            return self
        return replace(self, model=find_default_model() if self.model is None else find_model(self.model))


def load_asked(wishes: Wishes) -> System:
    """Return the system by its name; only a trained one can be told how to edit."""
    told = {
        "strength": wishes.strength,
        "protect": wishes.protect,
        "max_passes": wishes.max_passes,
        "n_best": wishes.n_best,
        "threads": wishes.threads,
    }
    wanted = {name: value for name, value in told.items() if value is not None}
    if not wanted or wishes.system not in SYSTEMS:
        return load_system(wishes.system, wishes.model)
    if wishes.system != "rise":
        option = next(iter(wanted)).replace("_", "-")
        raise InputError(f"--{option} goes with the system 'rise', not with {wishes.system!r}")
    from riseq.systems.rise import Rise

    return Rise(
        wishes.model,
        threads=wishes.threads,
        controls=Controls.of(**{name: value for name, value in wanted.items() if name != "threads"}),
    )


def load_set(name: Path, skip_bad: bool, need_target: bool = False) -> list[Example]:
    """Return the examples of a file or a named set, of which there is at least one."""
    from riseq.data.dataset import load_dataset

    skipped: list[BadRow] = []
    examples = load_dataset(name, on_bad=skipped.append if skip_bad else None, need_target=need_target)
    _tell_skipped(skipped, len(examples))
    if not examples:
        raise InputError(f"{name}: no questions, expected at least one")
    return examples


def _tell_skipped(skipped: Sequence[BadRow], kept: int) -> None:
    for row in skipped:
        say(f"skipped {row}")
    if skipped:
        say(f"went on without {len(skipped):,} of {len(skipped) + kept:,} rows")


def open_console() -> Console:
    """Return standard output as rich writes it."""
    from rich.console import Console

    # A pipe has no width to wrap at.
    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 1_000)


def say(message: str) -> None:
    """Tell the user something on standard error, apart from results."""
    typer.echo(f"riseq: {message}", err=True)


def count(number: int, noun: str) -> str:
    """Return ``number`` of ``noun`` in words: "1 row", "2,000 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
