"""Edits as values, what they make of a sequence, and how the moves of a path become edits."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

MARKER = "[SEP]"
Ops = list[int]
"""The operation at each position of one row, the marker's first; a row is short, and a list the quicker for it."""


class Op(IntEnum):
    """An edit operation. Its value is its column in a policy's score row, everywhere."""

    KEEP = 0
    DELETE = 1
    INSERT = 2
    SUBSTITUTE = 3


@dataclass(frozen=True, slots=True)
class Edit:
    """What happens to one position. In a run of SUBSTITUTEs the first carries the phrase of the whole run."""

    op: Op
    phrase: tuple[str, ...] = ()


class Move(NamedTuple):
    """One step of a path through the table of source and target prefixes: the operation and the cell it reaches.

    A path starts at (0, 0), the two markers, and ends at the last cell. KEEP and SUBSTITUTE go down both sequences,
    DELETE down the source and INSERT down the target (Eq. 11, read forwards).
    """

    op: Op
    i: int
    j: int


KEEP = Edit(Op.KEEP)
DELETE = Edit(Op.DELETE)
GONE = (Op.DELETE, Op.SUBSTITUTE)
"""The operations that take the position's own token away."""
STAYS = (Op.KEEP, Op.INSERT)
"""The operations that leave it."""
EDITED = (Op.DELETE, Op.INSERT, Op.SUBSTITUTE)
"""All operations but KEEP."""

STEPS = {Op.KEEP: (1, 1), Op.DELETE: (1, 0), Op.INSERT: (0, 1), Op.SUBSTITUTE: (1, 1)}
"""How far each operation moves down the source and down the target."""

_WITH_INSERT = {Op.KEEP: Op.INSERT, Op.INSERT: Op.INSERT, Op.DELETE: Op.SUBSTITUTE, Op.SUBSTITUTE: Op.SUBSTITUTE}


def apply(source: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """Return the tokens that ``edits`` make of ``source``; both start with the marker's position."""
    if len(source) != len(edits):
        raise ValueError(f"{len(edits)} edits for {len(source)} tokens")
    if edits and edits[0].op not in STAYS:
        raise ValueError(f"the marker is only kept or inserted after, not {edits[0].op.name}")
    output: list[str] = []
    previous: Op | None = None
    for token, edit in zip(source, edits, strict=True):
        op = edit.op
        if op in STAYS:
            output.append(token)
        elif edit.phrase and previous is op is Op.SUBSTITUTE:
            raise ValueError(f"a run of SUBSTITUTEs has one phrase, on its first position; got {edit.phrase} inside it")
        if edit.phrase:
            output.extend(edit.phrase)
        previous = op
    return output


def merge(path: Sequence[Move], target: Sequence[str]) -> list[Edit]:
    """Return one edit a source position, the marker's first, that does what the moves of ``path`` do.

    A token is left by one of KEEP, DELETE, SUBSTITUTE and may have INSERTs in its row: together they are one edit.
    Then a block of neighbouring DELETEs and SUBSTITUTEs that has a SUBSTITUTE becomes all SUBSTITUTE, with one phrase
    on its first position. A phrase is always a contiguous slice of the target, for DELETE takes nothing from it.
    """
    ops = [Op.KEEP]
    phrases: list[list[str]] = [[]]
    i = j = 0
    for move in path:
        down_source, down_target = STEPS[move.op]
        if (move.i, move.j) != (i + down_source, j + down_target):
            raise ValueError(f"{move.op.name} does not lead from ({i}, {j}) to ({move.i}, {move.j})")
        i, j = move.i, move.j
        if move.op is Op.INSERT:
            ops[i] = _WITH_INSERT[ops[i]]
            phrases[i].append(target[j])
        else:
            ops.append(move.op)
            phrases.append([target[j]] if move.op is Op.SUBSTITUTE else [])
    if j != len(target) - 1:
        raise ValueError(f"the path ends at target position {j}, the target at {len(target) - 1}")
    edits = [Edit(op, tuple(phrase)) for op, phrase in zip(ops, phrases, strict=True)]
    for run in find_runs(ops, GONE):
        if Op.SUBSTITUTE in ops[run]:
            substitute_run(edits, run)
    return edits


def find_runs(ops: Sequence[int], among: Collection[int] = EDITED, alike: bool = False) -> list[slice]:
    """Return where neighbouring positions have operations ``among`` these; with ``alike``, one and the same of them."""
    return [slice(*run.span()) for run in _match_runs(tuple(among), alike)(bytes(ops))]


@lru_cache(maxsize=64)
def _match_runs(among: tuple[int, ...], alike: bool) -> Callable[[bytes], Iterator[re.Match[bytes]]]:
    """Return what finds the runs in operations written as bytes: a loop over positions takes twice the time."""
    if not among:
        return re.compile(b"(?!)").finditer  # it matches nothing
    single = [re.escape(bytes([op])) for op in among]
    return re.compile(b"|".join(one + b"+" for one in single) if alike else b"[" + b"".join(single) + b"]+").finditer


def find_run(ops: Sequence[int], index: int, among: Collection[int]) -> slice:
    """Return the run of operations ``among`` these around ``index``; an empty one where its own is none of them."""
    return next((run for run in find_runs(ops, among) if run.start <= index < run.stop), slice(index, index))


def split_run(run: slice, opens: Callable[[int], bool]) -> Iterator[slice]:
    """Yield ``run`` in parts, of which each but the first begins at an index that ``opens``."""
    start = run.start
    for index in range(run.start + 1, run.stop):
        if opens(index):
            yield slice(start, index)
            start = index
    yield slice(start, run.stop)


def set_run(ops: Ops, run: slice, op: Op) -> None:
    """Give, in place, every position of ``run`` the operation ``op``."""
    ops[run] = [op] * (run.stop - run.start)


def substitute_run(edits: list[Edit], run: slice) -> None:
    """Make, in place, one run of SUBSTITUTEs of ``run``, with the phrases of all its edits on the first."""
    phrase = tuple(word for edit in edits[run] for word in edit.phrase)
    edits[run] = [Edit(Op.SUBSTITUTE, phrase), *[Edit(Op.SUBSTITUTE)] * (run.stop - run.start - 1)]
