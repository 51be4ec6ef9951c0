"""What the gold edit of a question does: anaphora, ellipsis, both or none, decided by a rule on words.

The question and its target are aligned at the least Levenshtein distance. Each changed place has the words that went
and the words that came.
- **Anaphora**: a word that points back (``riseq.data.stats.PRONOUNS``) came at some place where it was not among the
  words that went.
- **Ellipsis**: at some place content words went, and neither a content word nor a pointing word came.
- **Both** where the target does both, at different places; **none** where it does neither: it is the question's own
  words, or a rewording.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import align
from riseq.data.stats import PRONOUNS
from riseq.text.content import is_content
from riseq.text.words import forms


class Kind(StrEnum):
    """What a target does to its question."""

    ANAPHORA = "anaphora"
    ELLIPSIS = "ellipsis"
    BOTH = "both"
    UNCHANGED = "none: unchanged"
    REWORDED = "none: reworded"


@dataclass(frozen=True, slots=True)
class Place:
    """One changed place: the words that went and the words that came."""

    old: tuple[str, ...]
    new: tuple[str, ...]


def find_kind(question: str, target: str) -> Kind:
    """Return what ``target`` does to ``question``."""
    places = list(find_places(question, target))
    anaphora = any(PRONOUNS.intersection(place.new).difference(place.old) for place in places)
    ellipsis = any(_drops(place) for place in places)
    if anaphora:
        return Kind.BOTH if ellipsis else Kind.ANAPHORA
    if ellipsis:
        return Kind.ELLIPSIS
    return Kind.REWORDED if places else Kind.UNCHANGED


def find_places(question: str, target: str) -> Iterator[Place]:
    """Yield the changed places from left to right."""
    source, wanted = [MARKER, *forms(question)], [MARKER, *forms(target)]
    old: list[str] = []
    new: list[str] = []
    for move in align(source, wanted):
        if move.op is Op.KEEP:
            if old or new:
                yield Place(tuple(old), tuple(new))
            old, new = [], []
            continue
        if move.op is not Op.INSERT:
            old.append(source[move.i])
        if move.op is not Op.DELETE:
            new.append(wanted[move.j])
    if old or new:
        yield Place(tuple(old), tuple(new))


def _drops(place: Place) -> bool:
    came = any(is_content(word) or word in PRONOUNS for word in place.new)
    return not came and any(map(is_content, place.old))
