"""A title is no person: "Which novels did she write?" does not come back as "Which novels did 'Emma' write?"."""

from collections.abc import Mapping, Sequence

from riseq.core.edits import KEEP, Edit, Op, find_run
from riseq.text.lexicon import HE, SHE, THEY, find_stem
from riseq.text.realise import Copied
from riseq.text.words import read_forms

_MARKS = {'"': '"', "“": "”", "«": "»"}
_PERSONS = frozenset((*HE, *SHE))
_MAKING = frozenset(
    map(
        find_stem,
        ("act", "compose", "create", "direct", "invent", "paint", "publish", "record", "sing", "star", "write"),
    )
)
"""What people do and works don't; a work may still play, or be."""


def keep_persons(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> list[Edit]:
    """Return the edits of ``words`` without titles in quotation marks for "he" and "she", and for "they" who write."""
    chosen, ops = list(edits), [edit.op for edit in edits]
    makes = not _MAKING.isdisjoint(map(find_stem, words))
    for at, source in copied.items():
        personal = words[at] in _PERSONS or (makes and words[at] in THEY)
        if edits[at].op is Op.SUBSTITUTE and personal and _is_quoted(source, context):
            run = find_run(ops, at, (Op.SUBSTITUTE,))
            chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen


def _is_quoted(source: Copied, context: Sequence[str]) -> bool:
    """Return whether copied words are between quotation marks, which may be copied too."""
    if source.utterance is None:
        return False
    said = read_forms(context[source.utterance])
    opening = source.first if said[source.first] in _MARKS else source.first - 1
    closing = _MARKS.get(said[opening]) if opening >= 0 else None
    return closing is not None and closing in said[source.stop - 1 : source.stop + 1]
