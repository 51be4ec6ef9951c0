"""What the pronouns of one question refer to: one thing has one pronoun, and two things never share it.

A network chooses each phrase by itself: "Who owned [the scrolls: them] before [the scrolls: it] came?".
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from riseq.core.edits import KEEP, Edit, Op, find_runs
from riseq.engine.rules.agreement import use_pronouns
from riseq.text.lexicon import (
    APOSTROPHES,
    ARTICLES,
    AUXILIARIES,
    DETERMINERS,
    ENDS,
    FEMALE_NOUNS,
    HE,
    IT,
    JOINTS,
    PERSONAL_FORMS,
    PREPOSITIONS,
    SEXED_NOUNS,
    SHE,
    SINGULAR_TO_PLURAL,
    SUBORDINATORS,
    SUFFIXES,
    THEY,
    Pronoun,
    find_stem,
    is_content,
    is_plural,
)

_TO_SINGULAR = {many: one for one, many in SINGULAR_TO_PLURAL.items()} | {"re": "s", "ve": "s"}
_SUBJECT_OF = {form: one.subject for one in (HE, SHE, IT, THEY) for form in one}


class _Reference(NamedTuple):
    """A run that a pronoun replaces: its content words, the same as stems, and the pronoun's subject form."""

    run: slice
    words: tuple[str, ...]
    stems: frozenset[str]
    subject: str


def unite_references(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits with one pronoun for one thing; of he and she neither, for the network guessed.

    - "Who owned [the scrolls: them] before [the scrolls: it] came?": they came.
    - "Can [a piano: they] be tuned if [the piano: it] was moved?": it can be.
    - "Is [my son: they] ill?": he is.
    """
    chosen = list(edits)
    found = list(_find_references(words, edits))
    for one in found:
        sex = _find_sex(words[one.run])
        if sex is not None and sex.subject != one.subject and one.subject != "it":
            chosen = _refer(words, chosen, one, sex.subject)
    for one, other in combinations(found, 2) if len(found) > 1 else ():
        if one.subject != other.subject and one.stems == other.stems and _find_sex(words[one.run]) is None:
            subject = _choose_subject(words, one, other)
            chosen = _refer(words, _refer(words, chosen, one, subject), other, subject)
    return chosen


def keep_second_things(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits without the later "it" of two that are two things in a sentence: what it was is said.

    - "Can I run [the command: it] before I pushed [the commit: it]?": the commit.
    - "Can I use the machine while it shows [the error: it]?": the error.
    """
    chosen = list(edits)
    found = [one for one in _find_references(words, edits) if one.subject == "it"]
    for one, other in combinations(found, 2) if len(found) > 1 else ():
        together = ENDS.isdisjoint(words[one.run.stop : other.run.start])
        if together and one.stems.isdisjoint(other.stems) and chosen[one.run.start].op:
            chosen[other.run] = [KEEP] * (other.run.stop - other.run.start)
    for one in found:
        own = [at for at in range(2, one.run.start) if words[at] == "it" and edits[at].op is Op.KEEP]
        if any(words[at - 1] in SUBORDINATORS and words[at + 1] not in AUXILIARIES | APOSTROPHES for at in own):
            chosen[one.run] = [KEEP] * (one.run.stop - one.run.start)
    return chosen


def _find_references(words: Sequence[str], edits: Sequence[Edit]) -> Iterator[_Reference]:
    """Yield each run that a personal pronoun takes the place of."""
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)):
        forms = [form for form in edits[run.start].phrase if form in PERSONAL_FORMS]
        content = tuple(filter(is_content, words[run]))
        if len(forms) == 1 and content:
            yield _Reference(run, content, frozenset(map(find_stem, content)), _SUBJECT_OF[forms[0]])


def _refer(words: Sequence[str], edits: Sequence[Edit], one: _Reference, subject: str) -> list[Edit]:
    """Return the edits with another pronoun for a reference; a verb beside it in the phrase agrees."""
    chosen = list(edits)
    was, at = edits[one.run.start].phrase, one.run.start
    now = use_pronouns(words, edits, [(one.words, subject)])[at].phrase
    if subject != one.subject and "they" in (subject, one.subject):
        verbs = SINGULAR_TO_PLURAL if subject == "they" else _TO_SINGULAR
        now = tuple(form if form in PERSONAL_FORMS else verbs.get(form, form) for form in now)
        if len(was) > 1 and any(is_content(form) for form in was):
            return chosen  # "they get": a verb that ends otherwise
    chosen[at] = Edit(Op.SUBSTITUTE, now)
    return chosen


def _choose_subject(words: Sequence[str], one: _Reference, other: _Reference) -> str:
    subjects = {one.subject, other.subject}
    if not subjects.isdisjoint(("he", "she")):
        return "they"
    if subjects == {"it", "they"}:
        if is_plural(one.words[-1]) or is_plural(other.words[-1]):
            return "they"
        if not ARTICLES.isdisjoint((words[one.run.start], words[other.run.start])):
            return "it"
    return one.subject


def _find_sex(gone: Sequence[str]) -> Pronoun | None:
    """Return the pronoun of somebody who is called by a noun that tells: "my son", "my son's"; None of anybody else."""
    last = len(gone) - 1
    while last > 0 and (gone[last] in SUFFIXES or not is_content(gone[last])):
        last -= 1
    if gone[0] not in DETERMINERS | {"our"} or gone[last] not in SEXED_NOUNS:
        return None
    if not (JOINTS | PREPOSITIONS).isdisjoint(gone):
        return None
    return SHE if gone[last] in FEMALE_NOUNS else HE
