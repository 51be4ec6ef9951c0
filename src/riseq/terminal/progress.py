"""Progress on standard error: a bar for people, and a line now and then where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

T = TypeVar("T")

LINE_SECONDS = 60.0
"""How long a file that standard error goes to waits for the next line."""


def _count_one(item: object) -> int:  # noqa: ARG001
    return 1


def track(
    items: Iterable[T],
    total: int | None,
    title: str,
    console: Console | None = None,
    done: int = 0,
    size: Callable[[T], int] = _count_one,
) -> Generator[T]:
    """Yield ``items`` while a bar shows how many of ``total`` have come, how fast, and how long the rest will take.

    ``done`` of them came in an earlier run; an item counts for ``size``. Where ``console`` is no terminal there is no
    bar.
    """
    console = console or Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total, completed=done)
        for item in items:
            yield item
            progress.advance(task, size(item))


def report(
    items: Iterable[T],
    total: int | None,
    log: Callable[[str], None],
    done: int = 0,
    clock: Callable[[], float] = monotonic,
    size: Callable[[T], int] = _count_one,
) -> Generator[T]:
    """Yield ``items`` and ``log`` once in a while how far they are: a line in place of a bar."""
    began = last = clock()
    count = 0
    for item in items:
        yield item
        count += size(item)
        now = clock()
        if now - last >= LINE_SECONDS:
            last = now
            log(_describe(count, done, total, count / (now - began)))


class _RateColumn(ProgressColumn):
    """How many items come in a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="progress.data.speed")


def _describe(count: int, done: int, total: int | None, rate: float) -> str:
    if total is None:
        return f"{done + count:,} rows, {rate:,.1f} a second"
    minutes, seconds = divmod(round((total - done - count) / rate), 60)
    hours, minutes = divmod(minutes, 60)
    left = f"{hours}:{minutes:02d}:{seconds:02d}"
    return f"{done + count:,} of {total:,} rows, {rate:,.1f} a second, {left} left"
