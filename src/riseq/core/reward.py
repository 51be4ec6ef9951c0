"""The reward of one editing pass (Eq. 7)."""

from collections.abc import Hashable, Sequence

from riseq.core.levenshtein import distance


def reward(
    source: Sequence[Hashable], reached: Sequence[Hashable], target: Sequence[Hashable], edit_count: int
) -> float:
    """Return the reward (Eq. 7) of a pass that made ``reached`` of ``source`` with ``edit_count`` edits but KEEP.

    It is large where the pass comes close to the target, and each edit that brings it no nearer costs one.

    >>> source = "[SEP] was anyone opposed to ira hayes revealing it".split()
    >>> target = "[SEP] was anyone opposed to him revealing it".split()
    >>> reward(source, target, target, edit_count=2)  # both words substituted by "him": 1 / 1 * (2 - 0 - 2 + 1)
    1.0
    >>> reward(source, source, target, edit_count=0)  # nothing done: 1 / 3 * (2 - 2 - 0 + 1)
    0.3333333333333333
    """
    before = distance(source, target)
    after = distance(reached, target)
    return (before - after - edit_count + 1) / (1 + after)
