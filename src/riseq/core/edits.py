"""Edits as values, what they make of a sequence, and how the moves of a path become edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

MARKER = "[SEP]"


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
    DELETE down the source and INSERT down the target (Eq. 9, read forwards).
    """

    op: Op
    i: int
    j: int


KEEP = Edit(Op.KEEP)
DELETE = Edit(Op.DELETE)

STEPS = {Op.KEEP: (1, 1), Op.DELETE: (1, 0), Op.INSERT: (0, 1), Op.SUBSTITUTE: (1, 1)}
"""How far each operation moves down the source and down the target."""

_WITH_INSERT = {
    Op.KEEP: Op.INSERT,
    Op.INSERT: Op.INSERT,
    Op.DELETE: Op.SUBSTITUTE,
    Op.SUBSTITUTE: Op.SUBSTITUTE,
}


def apply(source: Sequence[str], edits: Sequence[Edit]) -> list[str]:
    """Return the tokens that ``edits`` make of ``source``; both start with the marker's position."""
    if len(source) != len(edits):
        raise ValueError(f"{len(edits)} edits for {len(source)} tokens")
    if edits and edits[0].op not in (Op.KEEP, Op.INSERT):
        raise ValueError(f"the marker is only kept or inserted after, not {edits[0].op.name}")
    output: list[str] = []
    previous: Op | None = None
    for token, edit in zip(source, edits, strict=True):
        if edit.op in (Op.KEEP, Op.INSERT):
            output.append(token)
        elif edit.op is Op.SUBSTITUTE and previous is Op.SUBSTITUTE and edit.phrase:
            raise ValueError(f"a run of SUBSTITUTEs has one phrase, on its first position; got {edit.phrase} inside it")
        output.extend(edit.phrase)
        previous = edit.op
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
    return _join_blocks([Edit(op, tuple(phrase)) for op, phrase in zip(ops, phrases, strict=True)])


def _join_blocks(edits: Sequence[Edit]) -> list[Edit]:
    """Return ``edits`` with each block that has a SUBSTITUTE turned into one run of SUBSTITUTEs."""
    joined: list[Edit] = []
    for replaces, members in groupby(edits, key=lambda edit: edit.op in (Op.DELETE, Op.SUBSTITUTE)):
        block = list(members)
        if replaces and any(edit.op is Op.SUBSTITUTE for edit in block):
            phrase = tuple(token for edit in block for token in edit.phrase)
            block = [Edit(Op.SUBSTITUTE, phrase)] + [Edit(Op.SUBSTITUTE)] * (len(block) - 1)
        joined.extend(block)
    return joined


def normalise(source: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that make the same of ``source``, where an edit with no effect is a KEEP.

    An INSERT of nothing keeps; a run of SUBSTITUTEs whose phrase is the run's own tokens keeps them; one without a
    phrase deletes them.
    """
    if len(source) != len(edits):
        raise ValueError(f"{len(edits)} edits for {len(source)} tokens")
    normal: list[Edit] = []
    for op, members in groupby(edits, key=lambda edit: edit.op):
        run = list(members)
        if op is Op.INSERT:
            run = [edit if edit.phrase else KEEP for edit in run]
        elif op is Op.SUBSTITUTE:
            phrase = run[0].phrase
            if not phrase:
                run = [DELETE] * len(run)
            elif phrase == tuple(source[len(normal) : len(normal) + len(run)]):
                run = [KEEP] * len(run)
        normal.extend(run)
    return normal


def count_edits(edits: Sequence[Edit]) -> int:
    """Return how many positions are not kept as they are: the sum in Eq. 5."""
    return sum(edit.op is not Op.KEEP for edit in edits)
