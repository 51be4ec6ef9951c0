"""What people see on the terminal; here, progress: a bar for people, and a line now and then where nobody watches."""

import sys
from collections.abc import Callable, Generator, Iterable
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

T = TypeVar("T")

LINE_SECONDS = 60.0
"""How long a file that standard error goes to waits for the next line."""


def track(
    items: Iterable[T],
    total: int | None,
    title: str,
    console: Console | None = None,
    done: int = 0,
    size: Callable[[T], int] = lambda _: 1,
    log: Callable[[str], None] | None = None,
) -> Generator[T]:
    """Yield ``items`` while a bar shows how many of ``total`` have come, how fast, and how long the rest will take.

    ``done`` of them came in an earlier run; an item counts for ``size``. Where ``console`` is no terminal there is no
    bar, and where standard error is none, there are lines to ``log``.
    """
    if log is not None and not sys.stderr.isatty():
        yield from report(items, total, log, done, size=size)
        return
    console = console or Console(stderr=True)
    left = TimeRemainingColumn(elapsed_when_finished=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _RateColumn(), left)
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
    size: Callable[[T], int] = lambda _: 1,
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
            rate = count / (now - began)
            far, left = f"{done + count:,}", ""
            if total is not None:
                minutes, seconds = divmod(round((total - done - count) / rate), 60)
                left = f", {minutes // 60}:{minutes % 60:02d}:{seconds:02d} left"
                far += f" of {total:,}"
            log(f"{far} rows, {rate:,.1f} a second{left}")


class _RateColumn(ProgressColumn):
    """How many items come in a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.1f}/s", style="progress.data.speed")
