"""The pronouns people go by: where an edit refers to someone by one, it is the one that was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from riseq.core.edits import GONE, Edit, Op, find_runs
from riseq.text.lexicon import (
    AFTER_OBJECT,
    APOSTROPHES,
    AUXILIARIES,
    OBJECT_PREPOSITIONS,
    PERSONAL_PRONOUNS,
    PREPOSITIONS,
    is_content,
)

Pronouns = Sequence[tuple[Sequence[str], str]]
"""The words of each name, and its pronoun: he, she, they or it."""
_FORMS = frozenset(form for one in PERSONAL_PRONOUNS.values() for form in one)


def use_pronouns(words: Sequence[str], edits: Sequence[Edit], pronouns: Pronouns) -> list[Edit]:
    """Return the edits with the pronoun of each name, or of a part of it, that one replaces, in the same role."""
    changed = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)) if pronouns else ():
        gone = {word for word in words[run] if is_content(word)}
        owned = next((pronoun for name, pronoun in pronouns if gone and gone <= set(name)), None)
        phrase = edits[run.start].phrase
        index = next((index for index, form in enumerate(phrase) if form in _FORMS), None)
        if owned is not None and index is not None:
            role = _find_role(words, edits, run, (*phrase[index + 1 :], *_find_next(words, edits, run.stop)))
            form = PERSONAL_PRONOUNS[owned][role]
            changed[run.start] = Edit(Op.SUBSTITUTE, (*phrase[:index], form, *phrase[index + 1 :]))
    return changed


def _find_role(words: Sequence[str], edits: Sequence[Edit], run: slice, after: Sequence[str]) -> int:
    """Return whether the name was a subject, an object, or an owner, before a noun or alone."""
    following = after[0] if after else "?"
    if any(word in APOSTROPHES for word in words[run]):
        return 3 if following in AFTER_OBJECT else 2
    before = next((words[at] for at in range(run.start - 1, 0, -1) if edits[at].op not in GONE), "")
    if before in OBJECT_PREPOSITIONS or (before in PREPOSITIONS and following in AFTER_OBJECT):
        return 1
    return 1 if before and following in AFTER_OBJECT and before not in AUXILIARIES else 0


def _find_next(words: Sequence[str], edits: Sequence[Edit], start: int) -> list[str]:
    return [words[at] for at in range(start, len(words)) if edits[at].op not in GONE][:1]
