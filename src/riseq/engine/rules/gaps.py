"""What cannot stand around the gap that an edit leaves, or around the words that fill it: half of what was one.

Each check goes by forms alone, knows one thing that is surely no English, or surely lost, and lets everything else
pass. A gap that fails any of them is closed again: the question's own words are right.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from riseq.text.lexicon import (
    APOSTROPHES,
    ARTICLES,
    AUXILIARIES,
    ENDS,
    PREPOSITIONS,
    QUESTION_WORDS,
    SUBORDINATORS,
    is_content,
    is_number,
)

OPENINGS = frozenset({("what", "about"), ("how", "about"), ("and",)})
"""What asks the question before anew, of something else."""
_MAIN_VERBS = frozenset({"am", "is", "are", "was", "were"})
_HELPING_VERBS = AUXILIARIES - _MAIN_VERBS - {"has", "have", "had"}
_PRONOUNS = frozenset({"he", "she", "it", "they", "him", "her", "them"})
_OBJECTS = frozenset({"him", "them"})
_SINGULAR = frozenset({"he", "she", "it", "him", "her", "one", "that"})
_SUBJECTS = frozenset({"he", "she", "it", "they"})
_RELATIVES = frozenset({"that", "which", "who", "whose"})
_ROMAN_DIGITS = frozenset("ivx")
_PAIRING = frozenset({"neither", "either", "both"})
_NO_PLACES = frozenset({"about", "against", "by", "for", "of", "than", "with", "without"})
"""Prepositions that no "there" follows."""
_ASKING = frozenset({"", "why", "when", "where", "how"})


class Gap(NamedTuple):
    """What goes, what takes its place, and what stays around it."""

    gone: Sequence[str]
    new: tuple[str, ...]
    first: Sequence[str]
    """What stays before it, the marker as an empty word first."""
    rest: Sequence[str]
    """What stays behind it, a mark at least."""
    joined: bool
    """Whether the first of the rest stood right behind what goes."""
    named: tuple[bool, bool]
    """Whether the last word that goes, and the one that stood behind it, are written as names are."""

    @property
    def before(self) -> str:
        """The word before it."""
        return self.first[-1]

    @property
    def after(self) -> str:
        """The word behind it."""
        return self.rest[0]

    @property
    def opens(self) -> bool:
        """Whether a question is asked anew: "what about"."""
        return self.new in OPENINGS and self.before == ""


def splits_name(gap: Gap) -> bool:
    """Return whether half of a name stays: "the tank [of the Nespresso Vertuo] Next", "Why was [Johnny] B. Goode".

    Or its number alone: "Was [George] VI's daughter".
    """
    initial = len(gap.after) == 1 and gap.after.isalpha() and gap.rest[1:2] == ["."]
    number = gap.named[1] and set(gap.after) <= _ROMAN_DIGITS
    of_it = gap.gone[0] in PREPOSITIONS and gap.named[1] and is_content(gap.after)
    return not gap.new and gap.joined and gap.named[0] and (initial or number or of_it)


def splits_pair(gap: Gap) -> bool:
    """Return whether half goes of what is joined: "[Can I mix bleach: what about] and ammonia", "[doesn: and] 't"."""
    return gap.opens and (gap.after in ("and", "or") or (gap.joined and gap.after in APOSTROPHES))


def splits_number(gap: Gap) -> bool:
    """Return whether a number and what is counted part: "[How much is in 100: and] g of peas?"."""
    return gap.opens and gap.joined and gap.gone[-1][0].isdigit() and is_content(gap.after)


def lacks_verb(gap: Gap) -> bool:
    """Return whether a clause loses its verb: "how old the beech [in our garden is]?", "that [he had won: it]?"."""
    if gap.after not in ENDS:
        return False
    whole = not (QUESTION_WORDS | SUBORDINATORS | _RELATIVES).isdisjoint(gap.gone)
    if not gap.new:
        return gap.gone[-1] in _MAIN_VERBS and len(gap.gone) > 1 and not whole
    clause = gap.before == "that" and not AUXILIARIES.isdisjoint(gap.gone)
    return len(gap.new) == 1 and gap.new[0] in _OBJECTS | {"it", "that"} and clause


def lacks_subject(gap: Gap) -> bool:
    """Return whether the subject went along: "Can [our landlord raise the rent: do that] twice?"."""
    return gap.new[:1] == ("do",) and gap.before in _HELPING_VERBS and gap.first[-2] in _ASKING


def strands_phrase(gap: Gap) -> bool:
    """Return whether a pronoun gets what only a noun has: "are [prints: they] of a film", "[gems: they] from Peru"."""
    if not gap.joined or len(gap.new) != 1 or gap.new[0] not in _PRONOUNS:
        return False
    does = gap.before in _HELPING_VERBS and gap.first[-2] != "to" and gap.after in PREPOSITIONS
    if gap.before in PREPOSITIONS and gap.after in _RELATIVES:  # "cook with them that are left", but "a map of it that"
        return is_content(gap.first[-2]) and ARTICLES.isdisjoint(gap.first[-4:-1])
    return does or (gap.after == "of" and gap.before in AUXILIARIES | SUBORDINATORS)


def counts_pronoun(gap: Gap) -> bool:
    """Return whether a subject has a number of its own: "how many calories one [macaron has: they have]"."""
    subject = gap.new[:1] != () and gap.new[0] in _SUBJECTS
    return subject and gap.before != "" and (gap.before == "one" or is_number(gap.before))


def names_one_of_two(gap: Gap) -> bool:
    """Return whether two that are weighed are one, or both: "Is [a 50 or an 85 millimetre lens: one] better?"."""
    joints = [left for left, word in pairwise(gap.gone) if word == "or"]
    return (
        len(gap.new) == 1 and gap.new[0] in _SINGULAR | {"both"} and any(left not in APOSTROPHES for left in joints)
    )  # d'Or


def pairs_pronoun(gap: Gap) -> bool:
    """Return whether one pronoun stands where two things are joined: "if neither [the Air nor the Tab fits: they]"."""
    return gap.before in _PAIRING and gap.new[:1] != () and gap.new[0] in _PRONOUNS


def asks_for_one(gap: Gap) -> bool:
    """Return whether the question is of nothing: "What is [a normal pressure: one] for a man of seventy?"."""
    return gap.new == ("one",) and list(gap.first) in (["", "what", "is"], ["", "what", "'", "s"])


def misplaces_there(gap: Gap) -> bool:
    """Return whether "there" follows what no place does: "help against [red wine on wool: there]"."""
    return gap.new == ("there",) and gap.before in _NO_PLACES and gap.gone[0] not in PREPOSITIONS


def loses_goal(gap: Gap) -> bool:
    """Return whether "get" loses what it gets to: "How did the piece get [to Rome]?", "get from Rome [to Pisa]?"."""
    if gap.new or gap.gone[0] not in ("to", "into", "in") or gap.after not in ENDS | PREPOSITIONS:
        return False
    from_place = gap.gone[0] == "to" and ("get", "from") in pairwise(gap.first)
    return gap.before == "get" or from_place


def lacks_article(gap: Gap) -> bool:
    """Return whether nothing tells which one it is: "replace it with fresh [yeast: one]"."""
    if gap.new != ("one",) or not is_content(gap.gone[0]) or not is_content(gap.before) or is_number(gap.before):
        return False
    group = takewhile(is_content, reversed(gap.first))
    leader = gap.first[-1 - sum(1 for _ in group)]
    return leader in PREPOSITIONS


CHECKS: tuple[Callable[[Gap], object], ...] = (
    splits_name,
    splits_pair,
    splits_number,
    lacks_verb,
    lacks_subject,
    strands_phrase,
    counts_pronoun,
    names_one_of_two,
    pairs_pronoun,
    asks_for_one,
    misplaces_there,
    loses_goal,
    lacks_article,
)


def is_bad_gap(gap: Gap) -> bool:
    """Return whether any check finds what cannot stand around the ``gap``."""
    return any(check(gap) for check in CHECKS)
