"""A system in several processes: each has an engine of its own and does a part of the questions at a time.

What an engine does beside its network is Python on one core, and on a GPU that is nearly all of its time. So several
engines share the GPU, and the CPU's cores are at work.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from riseq.data.rows import BadRow, Record
from riseq.systems import System
from riseq.systems.bulk import Simplified, simplify_chunk
from riseq.types import Example, Simplification

PART = 512
"""How many questions a worker has at a time: so many fill a batch of its network, and are soon done."""
Item = TypeVar("Item")
Made = TypeVar("Made")
Make = Callable[[], System]
_make: list[Make] = []
_made: list[System] = []
"""In a worker: what makes its system, and the system, once it was needed."""


class Workers:
    """A system that ``make`` makes, once in each of some processes; results come in the order of the questions."""

    def __init__(self, name: str, make: Make, count: int) -> None:
        """Start the processes; raise what is wrong with the system."""
        self.name, self._count = name, count
        # Spawned: a forked process cannot use a GPU that its parent knows.
        self._pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (make,))
        self._wait(self._pool.submit(_simplify, list[Example]()))

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield one result an example, in order, holding no more than two parts a worker."""
        for _, results in self._share(examples, _simplify):
            yield from results

    def simplify_rows(self, outcomes: Iterable[Record | BadRow], name: str) -> Iterator[Simplified | BadRow]:
        """Yield what becomes of each row of the file called ``name``, while the workers go on; bad rows pass through.

        See ``riseq.systems.bulk.simplify_rows``.
        """
        for part, results in self._share(outcomes, partial(_simplify_rows, name=name)):
            for outcome, result in zip(part, results, strict=True):
                if isinstance(outcome, BadRow) or isinstance(result, BadRow):
                    yield outcome if isinstance(outcome, BadRow) else result  # type: ignore[misc]
                else:
                    yield outcome, result

    def _share(
        self, items: Iterable[Item], work: Callable[[list[Item]], list[Made]]
    ) -> Iterator[tuple[list[Item], list[Made]]]:
        """Yield parts of ``items`` with what workers make of them, in order, two parts a worker under way."""
        remaining = iter(items)
        running: deque[tuple[list[Item], Future[list[Made]]]] = deque()
        try:
            for part in iter(lambda: list(islice(remaining, PART)), []):
                running.append((part, self._pool.submit(work, part)))
                if len(running) >= 2 * self._count:
                    first, future = running.popleft()
                    yield first, self._wait(future)
            while running:
                first, future = running.popleft()
                yield first, self._wait(future)
        finally:
            for _, future in running:
                future.cancel()

    def close(self) -> None:
        """End the processes; those that are left end with the program."""
        self._pool.shutdown(cancel_futures=True)

    def _wait(self, future: Future[list[Made]]) -> list[Made]:
        try:
            return future.result()
        except BrokenProcessPool:
            raise RuntimeError(f"a worker of {self._count} died: is there enough memory for so many?") from None


def _begin(make: Make) -> None:
    """Keep what makes the system: it is made with the first part, where an error reaches the one who asked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it ends it
    _make[:] = [make]


def _find_system() -> System:
    if not _made:
        _made.append(_make[0]())
    return _made[0]


def _simplify(examples: list[Example]) -> list[Simplification]:
    return list(_find_system().simplify(examples))


def _simplify_rows(rows: list[Record | BadRow], name: str) -> list[Simplification | BadRow]:
    """Return the results of rows without what else is in a row, which stays where it was read."""
    done = simplify_chunk(_find_system(), rows, name)
    return [one if isinstance(one, BadRow) else one[1] for one in done]
