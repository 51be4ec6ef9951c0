"""What a person would not leave behind: small repairs of a pass's edits before they are made.

The editing policy decides word by word, so a deletion sometimes stops one word short. Each rule here is mechanical and
was kept because it did not lower the scores on CANARD's development set.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from riseq.core.edits import DELETE, KEEP, Edit, Op

PREPOSITIONS = frozenset({"in", "of", "on", "at", "for", "from", "by", "with", "about", "during", "after", "before"})
DETERMINERS = frozenset(
    {"the", "a", "an", "this", "that", "these", "those", "his", "her", "its", "their", "my", "your"}
)
AUXILIARIES = frozenset(
    {"am", "is", "are", "was", "were", "do", "does", "did", "has", "have", "had"}
    | {"can", "could", "will", "would", "shall", "should", "may", "might", "must"}
)
_ENDS = frozenset("?.!")
_OBJECTS = frozenset({"what", "who", "whom", "which"})
"""A question that starts so may well end in a preposition: "What is it known for?"."""


def mend(words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = ()) -> list[Edit]:
    """Return the edits with stranded words seen to; both start with the marker's position, ``fixed`` ones are kept.

    - "insurance in [Germany]?": a preposition whose object goes, up to the end, goes with it.
    - "goals [for Argentina in] the final": a preposition stays before an object that stays.
    - "type [2] diabetes": a number alone is not what the dialogue already said.
    """
    mended = list(edits)
    at = 1
    while at < len(mended):
        if mended[at].op is not Op.DELETE:
            at += 1
            continue
        end = at
        while end < len(mended) and mended[end].op is Op.DELETE:
            end += 1
        _mend_run(words, mended, at, end, fixed)
        at = end
    return mended


def _mend_run(words: Sequence[str], edits: list[Edit], start: int, end: int, fixed: Collection[int]) -> None:
    """Mend around the deletion of ``words[start:end]``."""
    kept_after = end < len(words) and edits[end].op in (Op.KEEP, Op.INSERT)
    if end - start == 1 and words[start].isdigit() and kept_after and words[end] not in _ENDS:
        edits[start] = KEEP
        return
    if end - start > 1 and words[end - 1] in PREPOSITIONS and kept_after and words[end] in DETERMINERS:
        edits[end - 1] = KEEP
    at_end = end == len(words) or (end == len(words) - 1 and words[end] in _ENDS and edits[end].op is Op.KEEP)
    object_gone = words[start] not in _ENDS and words[1] not in _OBJECTS
    before = start - 1
    stranded = before > 1 and words[before] in PREPOSITIONS and edits[before].op is Op.KEEP and before not in fixed
    if at_end and object_gone and stranded:
        edits[before] = DELETE
