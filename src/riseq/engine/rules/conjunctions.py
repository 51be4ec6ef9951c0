"""The "and" that waits for a second name: "Do Patsy and have children?" gets it in the next pass, or goes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import Edit
from riseq.text.lexicon import AUXILIARIES, ENDS, PREPOSITIONS
from riseq.text.realise import Copied

_JOINTS = frozenset({"and", "or"})
_FOLLOWERS = AUXILIARIES | PREPOSITIONS | ENDS


def find_waiting(words: Sequence[str], asked: Sequence[str]) -> int | None:
    """Return where an "and" that is not of the question as it was ``asked`` has nothing to join; None where none has.

    >>> find_waiting("did patsy and have children ?".split(), "did they have children ?".split())
    2
    """
    for at, word in enumerate(words):
        if word == "and" and word not in asked and (at + 1 == len(words) or words[at + 1] in _FOLLOWERS):
            return at
    return None


def drop_conjunctions(edits: Sequence[Edit], copied: Mapping[int, Copied]) -> list[Edit]:
    """Return the edits without an "and" behind copied words that join two already: "Medicare and Medicaid and"."""
    chosen = list(edits)
    for at, source in copied.items():
        phrase, end = chosen[at].phrase, source.before + source.stop - source.first
        if phrase[end:] and phrase[-1] in _JOINTS and not _JOINTS.isdisjoint(phrase[source.before : end]):
            chosen[at] = replace(chosen[at], phrase=phrase[:-1])
    return chosen
