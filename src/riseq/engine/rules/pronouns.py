"""The pronouns people go by: where an edit refers to someone by one, it is the one that was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from riseq.core.edits import GONE, Edit, Op, find_runs
from riseq.text import lexicon

Pronouns = Sequence[tuple[Sequence[str], str]]
"""The words of each name, and its pronoun: he, she, they or it."""


def use_pronouns(words: Sequence[str], edits: Sequence[Edit], pronouns: Pronouns) -> list[Edit]:
    """Return the edits with the pronoun of each name, or of a part of it, that one replaces, in the same role."""
    changed = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)) if pronouns else ():
        gone, phrase = set(filter(lexicon.is_content, words[run])), edits[run.start].phrase
        asked = [lexicon.PERSONAL_PRONOUNS[pronoun] for name, pronoun in pronouns if gone and gone <= set(name)]
        found = [index for index, form in enumerate(phrase) if form in lexicon.PERSONAL_FORMS]
        if asked and found:
            role = _find_role(words, edits, run, phrase[found[0] + 1 :])
            changed[run.start] = Edit(Op.SUBSTITUTE, (*phrase[: found[0]], asked[0][role], *phrase[found[0] + 1 :]))
    return changed


def _find_role(words: Sequence[str], edits: Sequence[Edit], run: slice, rest: Sequence[str]) -> int:
    """Return whether the name was a subject, an object, or an owner, before a noun or alone."""
    before = next((words[at] for at in range(run.start - 1, 0, -1) if edits[at].op not in GONE), "")
    kept = [words[at] for at in range(run.stop, len(words)) if edits[at].op not in GONE]
    ends = (*rest, *kept, "?")[0] in lexicon.AFTER_OBJECT
    if not lexicon.APOSTROPHES.isdisjoint(words[run]):
        return 3 if ends else 2
    return int(before in lexicon.OBJECT_PREPOSITIONS or (ends and before not in lexicon.AUXILIARIES and before != ""))
