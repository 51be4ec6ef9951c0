"""Token-level Levenshtein distance and one alignment of that cost, on plain sequences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from riseq.core.edits import Edit, Move, Op, merge


def distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Return the least number of single-token deletions, insertions and substitutions that turn ``a`` into ``b``."""
    start, a_end, b_end = 0, len(a), len(b)
    # What both begin or end with never costs anything, and questions and their rewrites share most of their words.
    while start < a_end and start < b_end and a[start] == b[start]:
        start += 1
    while start < a_end and start < b_end and a[a_end - 1] == b[b_end - 1]:
        a_end -= 1
        b_end -= 1
    row = list(range(b_end - start + 1))
    targets = b[start:b_end]
    for token in a[start:a_end]:
        diagonal = row[0]
        left = row[0] = diagonal + 1
        for j, other in enumerate(targets, start=1):
            above = row[j]
            if token == other:
                left = diagonal
            else:
                least = left if left < above else above
                left = (least if least < diagonal else diagonal) + 1
            diagonal = above
            row[j] = left
    return row[-1]


def align(source: Sequence[Hashable], target: Sequence[Hashable]) -> list[Move]:
    """Return the moves of one cheapest path from ``source`` to ``target``, both with their marker at position 0.

    Of several cheapest paths it is always the same one: walking back from the end, equal tokens are kept, and
    otherwise INSERT goes before SUBSTITUTE and SUBSTITUTE before DELETE. INSERT goes first because an insert to the
    right of a substitution joins its phrase, while one to the left is a second edit. The path obeys the sampler's rule
    of moves (KEEP exactly where the tokens are equal), so the sampler can take it too.
    """
    if not source or not target:
        raise ValueError(f"a sequence starts with its marker; got {len(source)} source and {len(target)} target tokens")
    costs = _costs(source, target)
    i, j = len(source) - 1, len(target) - 1
    path: list[Move] = []
    while i or j:
        if i and j and source[i] == target[j]:
            path.append(Move(Op.KEEP, i, j))
            i, j = i - 1, j - 1
        elif j and (not i or costs[i][j] == costs[i][j - 1] + 1):
            path.append(Move(Op.INSERT, i, j))
            j -= 1
        elif j and costs[i][j] == costs[i - 1][j - 1] + 1:
            path.append(Move(Op.SUBSTITUTE, i, j))
            i, j = i - 1, j - 1
        else:
            path.append(Move(Op.DELETE, i, j))
            i -= 1
    path.reverse()
    return path


def gold_edits(source: Sequence[str], target: Sequence[str]) -> list[Edit]:
    """Return the merged edits of the alignment: the gold of the -MLD ablation and of the phrase vocabulary."""
    return merge(align(source, target), target)


def _costs(source: Sequence[Hashable], target: Sequence[Hashable]) -> list[list[int]]:
    """Return the distance of every source prefix to every target prefix, each with its marker."""
    costs = [list(range(len(target)))]
    for i in range(1, len(source)):
        above, row = costs[-1], [i]
        for j in range(1, len(target)):
            same = source[i] == target[j]
            row.append(above[j - 1] if same else min(above[j], row[j - 1], above[j - 1]) + 1)
        costs.append(row)
    return costs
