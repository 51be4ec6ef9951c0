"""Pairs, policies and paths for the laws of the core: every short case, and Hypothesis strategies beyond."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from riseq.core.edits import MARKER, Edit, Move, Op
from riseq.core.packed import Interner, Packed

if TYPE_CHECKING:
    from riseq.core.batch import Sampled

Words = list[str]
LogPolicy = NDArray[np.float32]


def words(letters: str) -> Words:
    """Return the letters as words after a marker."""
    return [MARKER, *letters]


SHORT = [words("".join(letters)) for length in range(5) for letters in product("abc", repeat=length)]
EVERY_PAIR = [(source, target) for source in SHORT for target in SHORT]
"""Every pair of strings of up to four letters out of three."""


def _names_in_order(source: Words, target: Words) -> bool:
    seen = list(dict.fromkeys(source[1:] + target[1:]))
    return seen == sorted(seen) and seen == list("abc")[: len(seen)]


RENAMED_PAIRS = [(source, target) for source, target in EVERY_PAIR if _names_in_order(source, target)]
"""Every pair again, one of each six that differ in the letters' names alone: for laws that list every path."""


def random_policy(rows: int, rng: np.random.Generator, spread: float = 1.5) -> LogPolicy:
    """Return softmax policies of normal scores."""
    scores = rng.normal(scale=spread, size=(rows, 4))
    return (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)).astype(np.float32)


def policy_of(rows: Sequence[Sequence[float]]) -> LogPolicy:
    """Return the log of rows of probabilities, zeros and all."""
    with np.errstate(divide="ignore"):
        log: LogPolicy = np.log(np.array(rows)).astype(np.float32)
    return log


def paths(source: Sequence[str], target: Sequence[str]) -> list[list[Move]]:
    """Return every path by the rule of moves, spelled out here again."""
    table: dict[tuple[int, int], list[list[Move]]] = {}
    for i in range(len(source)):
        for j in range(len(target)):
            if i == j == 0:
                table[i, j] = [[]]
            elif i == 0:
                table[i, j] = [[*path, Move(Op.INSERT, i, j)] for path in table[i, j - 1]]
            elif j == 0:
                table[i, j] = [[*path, Move(Op.DELETE, i, j)] for path in table[i - 1, j]]
            elif source[i] == target[j]:
                table[i, j] = [[*path, Move(Op.KEEP, i, j)] for path in table[i - 1, j - 1]]
            else:
                table[i, j] = [[*path, Move(Op.DELETE, i, j)] for path in table[i - 1, j]]
                table[i, j] += [[*path, Move(Op.INSERT, i, j)] for path in table[i, j - 1]]
                table[i, j] += [[*path, Move(Op.SUBSTITUTE, i, j)] for path in table[i - 1, j - 1]]
    return table[len(source) - 1, len(target) - 1]


def edits_of(drawn: Sampled, sources: Packed, targets: Packed, interner: Interner) -> Iterator[list[Edit]]:
    """Yield the edits of each pair of a batch as values."""
    for k in range(len(sources)):
        edits = []
        for at in range(sources.offsets[k], sources.offsets[k + 1]):
            start, end = drawn.phrase_start[at], drawn.phrase_end[at]
            said = targets.values[start:end].tolist() if start >= 0 else []
            edits.append(Edit(Op(drawn.ops[at]), tuple(interner.word(number) for number in said)))
        yield edits


sequences = st.lists(st.sampled_from("abcde"), max_size=9).map(lambda letters: [MARKER, *letters])


@st.composite
def pairs_with_policies(draw: st.DrawFn, lowest: float = -12.0) -> tuple[Words, Words, LogPolicy]:
    """Draw a source, a target and log-probabilities that need not sum to one, as small as ``lowest``."""
    source, target = draw(sequences), draw(sequences)
    depth = draw(st.floats(lowest, 0.0))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))  # one number is quicker to draw than a table of them
    return source, target, rng.uniform(depth, 0.0, size=(len(source), 4)).astype(np.float32)
