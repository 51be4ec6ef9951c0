"""Work in parts: in turns in one thread, where a part waits for a device, or side by side on the cores."""

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import NoReturn, TypeVar

_Made = TypeVar("_Made")
Task = Generator[None, None, _Made]
"""Work that yields where it has given a device something to do, and returns what it made."""


@contextmanager
def without_collection() -> Iterator[None]:
    """Put off the search for garbage in cycles: a batch makes many objects and no cycles.

    The searches took up to a quarter of the time. What has no cycle is freed at once all the same, and a search that
    was off before stays off.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def finish(task: Task[_Made]) -> _Made:
    """Return what ``task`` makes, without a turn for anything else."""
    while True:
        try:
            next(task)
        except StopIteration as end:
            made: _Made = end.value
            return made


def run_together(tasks: Sequence[Task[_Made]]) -> Task[list[_Made]]:
    """Return what ``tasks`` make, all of which have a turn before any has its next; a turn of theirs is one of this."""
    made: dict[int, _Made] = {}
    while len(made) < len(tasks):
        for index, task in enumerate(tasks):
            if index not in made:
                try:
                    next(task)
                except StopIteration as end:
                    made[index] = end.value
        if len(made) < len(tasks):
            yield
    return [made[index] for index in range(len(tasks))]


def run_in_turns(tasks: Iterable[Task[_Made]], at_once: int) -> Iterator[_Made]:
    """Yield what ``tasks`` make, in order; ``at_once`` of them are under way, each waiting while the others work."""
    waiting = iter(tasks)
    running = deque(islice(waiting, at_once))
    made: dict[Task[_Made], _Made] = {}
    while running:
        with without_collection():
            for task in [task for task in running if task not in made]:
                try:
                    next(task)
                except StopIteration as end:
                    made[task] = end.value
        while running and running[0] in made:
            yield made.pop(running.popleft())
            running.extend(islice(waiting, 1))


def run_side_by_side(calls: Iterable[Callable[[], _Made]], workers: int) -> Generator[_Made, None, None]:
    """Yield what ``calls`` return, in order; each of ``workers`` threads has one at a time, and its next one waits.

    What goes wrong with the n-th call, or in getting it, is raised after what the calls before it returned.
    """
    with ThreadPoolExecutor(workers) as pool:
        begun = (pool.submit(call) for call in _until_error(calls))
        running = deque(islice(begun, 2 * workers))
        try:
            while running:
                with without_collection():
                    made = running.popleft().result()
                running.extend(islice(begun, 1))
                yield made
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _until_error(calls: Iterable[Callable[[], _Made]]) -> Iterator[Callable[[], _Made]]:
    """Yield ``calls``; where the next one cannot be had, a last one that raises the reason."""
    try:
        yield from calls
    except Exception as error:
        caught = error

        def fail() -> NoReturn:
            raise caught

        yield fail
