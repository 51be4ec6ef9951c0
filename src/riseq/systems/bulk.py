"""A system over a table of questions: every row gets a result or a reason, in order, a chunk in memory at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from time import perf_counter

from riseq.data.rows import BadRow, Record
from riseq.systems import System
from riseq.types import InputError, Simplification

Simplified = tuple[Record, Simplification]
"""A row with what a system made of it."""
LARGEST_CHUNK = 4_096
SHORT, LONG = 1.0, 4.0
"""How many seconds of work a chunk should be: so many that cores hardly wait at its end, and soon done."""


def simplify_rows(
    system: System,
    outcomes: Iterable[Record | BadRow],
    name: str,
    clock: Callable[[], float] = perf_counter,
    largest: int = LARGEST_CHUNK,
) -> Iterator[Simplified | BadRow]:
    """Yield what becomes of each row of the file called ``name``; bad rows pass through.

    A chunk grows up to ``largest`` while it is quickly done, and shrinks while rows come more slowly than they are
    done. Rows of a pipe want a ``largest`` of 1: its sender may wait for each result before the next row.
    """
    remaining = iter(outcomes)
    size = 1
    while True:
        began = clock()
        chunk = list(islice(remaining, size))
        if not chunk:
            return
        read = clock()
        done = list(simplify_chunk(system, chunk, name))
        waited, worked = read - began, clock() - read
        if waited > worked or worked > LONG:
            size = max(1, size // 2)
        elif worked < SHORT:
            size = min(2 * size, largest)
        yield from done


def simplify_chunk(system: System, chunk: Sequence[Record | BadRow], name: str) -> Iterator[Simplified | BadRow]:
    """Yield what becomes of each row of ``chunk``; what ``system`` refuses is a bad row."""
    records = [outcome for outcome in chunk if isinstance(outcome, Record)]
    try:
        results = iter(list(zip(records, system.simplify([one.example for one in records]), strict=True)))
    except InputError as error:
        if len(chunk) == 1 and isinstance(chunk[0], Record):
            yield BadRow(name, chunk[0].line, str(error))
        else:  # one row is no reason to lose the others
            for outcome in chunk:
                yield from simplify_chunk(system, [outcome], name)
        return
    for outcome in chunk:
        yield next(results) if isinstance(outcome, Record) else outcome
