"""The mark at the end of a question that is resolved: it is as who asks wrote it."""

from collections.abc import Sequence

from riseq.core.edits import GONE, KEEP, Edit, Op
from riseq.text.lexicon import AUXILIARIES, ENDS, QUESTION_WORDS

_OPENINGS = QUESTION_WORDS | AUXILIARIES


def keep_end_marks(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits without those that put a mark alone anywhere but at the end of a question, or take one there.

    What begins like a question may get the mark that it lacks; a request, or a few words ("any sequels"), may not.
    """
    chosen, last = list(edits), len(words) - 1
    lacks_mark = words[last] not in ENDS and words[1:2] and words[1] in _OPENINGS
    for at, edit in enumerate(edits):
        if edit.op is Op.INSERT and edit.phrase and ENDS.issuperset(edit.phrase) and not (at == last and lacks_mark):
            chosen[at] = KEEP
    if words[last] in ENDS and edits[last].op in GONE:
        first = last
        while edits[first - 1].op is edits[last].op:
            first -= 1
        if ENDS.isdisjoint(edits[first].phrase):
            chosen[last] = KEEP
    return chosen
