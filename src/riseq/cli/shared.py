"""What the verbs do alike: choose a system, tell a question from a file, read sets, print beside the results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from riseq import __version__
from riseq.controls import Controls
from riseq.data.source import STDIN
from riseq.jobs import digest
from riseq.systems.registry import load_system
from riseq.types import Example, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from riseq.data.cases import Case
    from riseq.data.rows import BadRow
    from riseq.systems.protocol import System

T = TypeVar("T")

FAILED, INPUT_ERROR, BAD_ROWS, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: a result that should not be used, a user's mistake, rows that were left out, Ctrl-C."""


@dataclass(frozen=True, slots=True)
class SystemChoice:
    """Which system simplifies, from which model, how it edits and on how many cores."""

    system: str
    model: Path | None = None
    controls: Controls = field(default_factory=Controls)
    threads: int | None = None

    def settings(self) -> dict[str, object]:
        """Return everything that decides what becomes of a question, as JSON has it."""
        return {
            "riseq version": __version__,
            "system": self.system,
            # A custom system may change under its name.
            "system's file": digest(Path(self.system.rpartition(":")[0])) if ":" in self.system else None,
            "model": None if self.model is None else digest(self.model) or str(self.model),
            **self.controls.to_dict(),
        }

    def resolve(self) -> SystemChoice:
        """Return the same choice with the folder of the model, where that goes by another name or by none."""
        from riseq.hub import find_default_model, find_model

        if self.system != "rise":
            return self
        return replace(self, model=find_default_model() if self.model is None else find_model(self.model))

    def load(self) -> System:
        """Return the system, ready to simplify."""
        return load_system(self.system, self.model, controls=self.controls, threads=self.threads)


def names_file(source: str) -> bool:
    """Return whether ``source`` is the name of a file (or ``-``), which has to be there, and not a question."""
    if source == STDIN:
        return True
    if not source.strip():
        return False
    try:
        exists, is_folder = Path(source).exists(), Path(source).is_dir()
    except (OSError, ValueError):  # too long for a name, or with a null character in it
        return False
    if is_folder:
        raise InputError(f"{source}: is a folder, expected a file or a question")
    if not exists and _looks_like_name(source):
        raise InputError(f"{source}: no such file")
    return exists


def _looks_like_name(source: str) -> bool:
    # "dialogues.txt" and "./dialogues" are slips of the fingers, "Why?", "and/or?" and "Is it in data.csv?" questions.
    from riseq.data.tables import SUFFIXES

    if source.lower().endswith(tuple(SUFFIXES)):
        return True
    if len(source.split()) > 1 or source.endswith("?"):
        return False
    return source.startswith(("/", "./", "../", "~/")) or Path(source).suffix[1:].isalnum()


def make_example(question: str, context: Sequence[str] = ()) -> Example:
    """Return the example of one question after the utterances of ``context``, oldest first."""
    named = [("the question", question), *((f"context {number}", text) for number, text in enumerate(context, 1))]
    for name, text in named:
        if not text.strip():
            raise InputError(f"{name} is empty, expected some text")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{name} is not Unicode text: {text!r}") from None
    return Example("1", tuple(context), question)


def load_set(name: Path, skip_bad: bool = False, need_target: bool = False) -> list[Example]:
    """Return the examples of a file or a named set, of which there is at least one."""
    from riseq.data.dataset import load_dataset

    return _load(partial(load_dataset, need_target=need_target), name, skip_bad)


def load_case_set(name: Path, skip_bad: bool = False) -> list[Case]:
    """Return the cases of a suite, of everyday dialogues or of a set with targets, of which there is at least one."""
    from riseq.data.cases import load_cases

    return _load(load_cases, name, skip_bad)


def _load(load: Callable[..., list[T]], name: Path, skip_bad: bool) -> list[T]:
    skipped: list[BadRow] = []
    found = load(name, on_bad=skipped.append if skip_bad else None)
    for row in skipped:
        notify(f"skipped {row}")
    if skipped:
        notify(f"went on without {len(skipped):,} of {len(skipped) + len(found):,} rows")
    if not found:
        raise InputError(f"{name}: no questions, expected at least one")
    return found


def load_set_or_examples(data: Path | None) -> list[Example]:
    """Return the set called ``data``, else the example dialogues of a checkout, of which there may be none."""
    if data is not None:
        return load_set(data)
    from riseq.data.dataset import load_dataset
    from riseq.hub import find_examples

    return [example for file in find_examples() for example in load_dataset(file)]


def take_evenly(examples: list[Example], limit: int) -> list[Example]:
    """Return ``limit`` examples, or all there are, at even distances."""
    total = min(limit, len(examples))
    return [examples[index * len(examples) // total] for index in range(total)]


def open_console() -> Console:
    """Return standard output as rich writes it."""
    from rich.console import Console

    # A pipe has no width to wrap at.
    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 1_000)


def show_progress(
    items: Iterable[T], total: int | None, title: str, done: int, size: Callable[[T], int] = lambda _: 1
) -> Generator[T]:
    """Yield ``items``, each of ``size`` rows, with a bar on a terminal and a line now and then in a log."""
    from riseq.terminal.progress import report, track

    if sys.stderr.isatty():
        return track(items, total, title, done=done, size=size)
    return report(items, total, notify, done=done, size=size)


def notify(message: str) -> None:
    """Print ``message`` on standard error, apart from results."""
    typer.echo(f"riseq: {message}", err=True)


def count(number: int, noun: str) -> str:
    """Return ``number`` of ``noun`` in words: "1 row", "2,000 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
