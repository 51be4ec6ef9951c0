"""What a person would not leave behind: small repairs of a pass's edits before they are made.

The editing policy decides word by word, so a deletion sometimes stops one word short. Each rule here is mechanical and
was kept because it did not lower the scores on CANARD's development set.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from riseq.core.edits import DELETE, KEEP, Edit, Op, find_runs
from riseq.text.lexicon import DETERMINERS, ENDS, OBJECT_QUESTION_WORDS, PREPOSITIONS


def fix_stranded_words(words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = ()) -> list[Edit]:
    """Return the edits with stranded words seen to; both start with the marker's position, ``fixed`` ones are kept.

    - "insurance in [Germany]?": a preposition whose object goes, up to the end, goes with it.
    - "goals [for Argentina in] the final": a preposition stays before an object that stays.
    - "type [2] diabetes": a number alone is not what the dialogue already said.
    """
    repaired = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.DELETE,)):
        _fix_around(words, repaired, run.start, run.stop, fixed)
    return repaired


def _fix_around(words: Sequence[str], edits: list[Edit], start: int, end: int, fixed: Collection[int]) -> None:
    """See to the words around the deletion of ``words[start:end]``."""
    kept_after = end < len(words) and edits[end].op in (Op.KEEP, Op.INSERT)
    if end - start == 1 and words[start].isdigit() and kept_after and words[end] not in ENDS:
        edits[start] = KEEP
        return
    if end - start > 1 and words[end - 1] in PREPOSITIONS and kept_after and words[end] in DETERMINERS:
        edits[end - 1] = KEEP
    at_end = end == len(words) or (end == len(words) - 1 and words[end] in ENDS and edits[end].op is Op.KEEP)
    object_gone = words[start] not in ENDS and words[1] not in OBJECT_QUESTION_WORDS
    before = start - 1
    stranded = before > 1 and words[before] in PREPOSITIONS and edits[before].op is Op.KEEP and before not in fixed
    if at_end and object_gone and stranded:
        edits[before] = DELETE
