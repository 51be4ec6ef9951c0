"""What "then" comes back as: a time, with its preposition; nothing else takes its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import KEEP, Edit, Op, find_run
from riseq.text.lexicon import ARTICLES, DEMONSTRATIVES, PREPOSITIONS, SEASONS, TIMES, WEEKDAYS
from riseq.text.realise import Copied

_LEADERS = PREPOSITIONS | {"since", "until", "around", "between", "by"}
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_DECADE = re.compile(r"(\d{2}|\d{4})s")
_SPANS = frozenset({"century", "day", "decade", "evening", "month", "morning", "night", "time", "week", "year"})
_DAY = re.compile(r"\d{1,2}(st|nd|rd|th)?")


def complete_times(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits of ``words`` and what they ``copied``, with a preposition before the time that replaces "then".

    "Then" stays where the phrase names no time that is known as one: a year, a decade, a month, a day, a season.
    """
    chosen, known = list(edits), dict(copied)
    for at, edit in enumerate(edits):
        alone = at + 1 == len(edits) or edits[at + 1].op is not Op.SUBSTITUTE
        if words[at] != "then" or edit.op is not Op.SUBSTITUTE or not edit.phrase or not alone:
            continue
        if (leader := find_leader(edit.phrase)) is None:
            chosen[at] = KEEP
            known.pop(at, None)
        elif edit.phrase[0] not in _LEADERS and words[at - 1] not in _LEADERS:
            chosen[at] = replace(edit, phrase=(leader, *edit.phrase))
            if at in known:
                known[at] = replace(known[at], before=known[at].before + 1)
    return chosen, known


def keep_times(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` that leave "that night" as it is, unless it becomes a time."""
    chosen, ops = list(edits), [edit.op for edit in edits]
    for at in range(1, len(edits) - 1):
        first = find_run(ops, at, (Op.SUBSTITUTE,)).start if ops[at] is Op.SUBSTITUTE else at
        said = (edits[first].phrase, edits[at + 1].phrase)
        if words[at] not in DEMONSTRATIVES or words[at + 1] not in _SPANS or any(map(find_leader, said)):
            continue
        for k in (at, at + 1):
            if ops[k] is Op.SUBSTITUTE or (k > at and ops[k] is Op.INSERT):
                run = slice(k, k + 1) if ops[k] is Op.INSERT else find_run(ops, k, (Op.SUBSTITUTE,))
                chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen


def find_leader(phrase: Sequence[str]) -> str | None:
    """Return "in" or "on", whichever stands before a time; None where the phrase is none.

    >>> find_leader(["july", "1980"]), find_leader(["may", "19", ",", "2011"]), find_leader(["apollo", "11"])
    ('in', 'on', None)
    """
    named = [word for word in phrase if word not in _LEADERS | ARTICLES]
    months = TIMES - WEEKDAYS - SEASONS
    if any(word in WEEKDAYS for word in named):
        return "on"
    if any(word in months for word in named):
        return "on" if any(map(_DAY.fullmatch, named)) else "in"
    if named and (_YEAR.fullmatch(named[-1]) or _DECADE.fullmatch(named[-1]) or named[0] in SEASONS):
        return "in"
    return None
