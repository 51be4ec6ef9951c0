"""What the verbs do alike: load a system, read questions, tell what was left out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from riseq.systems.registry import SYSTEMS, load_system
from riseq.types import Example, InputError, Simplification

if TYPE_CHECKING:
    from rich.console import Console

    from riseq.data.bad_rows import BadRow
    from riseq.systems.protocol import System


def load_asked(
    system: str, model: Path | None, strength: float | None, protect: list[str] | None, max_passes: int | None
) -> System:
    """Return the system by its name; only a trained one can be told how to edit."""
    told = {"strength": strength, "protect": protect, "max-passes": max_passes}
    wanted = [name for name, value in told.items() if value is not None]
    if not wanted or system not in SYSTEMS:
        return load_system(system, model)
    if system != "rise":
        raise InputError(f"--{wanted[0]} goes with the system 'rise', not with {system!r}")
    from riseq.systems.rise import Rise

    return Rise(model, strength=strength, protect=protect or (), max_passes=max_passes)


def simplify_question(example: Example, system: System, show_edits: bool) -> None:
    """Print the conversational form of one question, below its edits where they are wanted."""
    (result,) = system.simplify([example])
    if show_edits:
        from riseq.evaluate.listing import show_edits as show

        show(open_console(), result)
    typer.echo(result.text)


def simplify_all(system: System, examples: Iterator[Example]) -> Iterator[tuple[Example, Simplification]]:
    """Yield each example with its result, in order."""
    asked, given = tee(examples)
    return zip(asked, system.simplify(given), strict=True)


def read_questions(source: str, skip_bad: bool) -> tuple[int, Iterator[Example]]:
    """Return how many examples there are, and the examples; every bad row is told before any work is done."""
    from riseq.data.tables import read_examples

    skipped: list[BadRow] = []
    on_bad = skipped.append if skip_bad else None
    if Path(source).is_file():
        # Read twice: the first time checks and counts the rows, so that none of them has to be held.
        total = sum(1 for _ in read_examples(source, on_bad=on_bad))
        examples = read_examples(source, on_bad=(lambda _: None) if skip_bad else None)
    else:
        held = list(read_examples(source, on_bad=on_bad))
        total, examples = len(held), iter(held)
    _tell_skipped(skipped, total)
    return total, examples


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
