"""Words that stand for nothing a dialogue has said: "Will it snow?", "Is it true that he left?", "how does one ask".

What a clause behind it explains, what is told of people in general, the tag of a question: each stays as it is asked.
"""

from collections.abc import Sequence

from riseq.core.edits import KEEP, Edit, Op
from riseq.text.lexicon import (
    APOSTROPHES,
    AUXILIARIES,
    DEMONSTRATIVES,
    DETERMINERS,
    ENDS,
    PERSONAL_FORMS,
    SINGULAR_TO_PLURAL_NOT,
    SUBORDINATORS,
    find_stem,
    is_content,
    is_word,
)

_WEATHER = frozenset(map(find_stem, ("rain", "snow", "drizzle", "thunder")))
_BEING = frozenset({"is", "was", "be", "been", "isn", "wasn"})
_NOTHING = AUXILIARIES | {"be", "been", "not", "really"}
"""Words between an "it" and what is said of it."""
_SEEMING = frozenset(map(find_stem, ("matter", "seem", "appear", "happen")))
_CLAUSES = frozenset({"that", "whether"})
_OPINIONS = frozenset({"coincidence", "fact", "legend", "lie", "mistake", "myth", "pity", "rumor", "rumour", "shame"})
"""What a clause is called by: "Is it a myth that sharks never sleep?"."""
_ACTING = AUXILIARIES - {"am", "is", "are", "was", "were", "has", "have", "had"}
_CLAUSE_STARTS = SUBORDINATORS | {"how", "where"}
_TALKING = frozenset({"say", "said"})
_SPANS = frozenset({"century", "day", "evening", "hour", "month", "morning", "night", "person", "week", "year"})
"""What a number counts, where "one" is a number: "in one week"."""
_GROUPS = frozenset({"these", "those", "us", "you"})
_REFERRING = DEMONSTRATIVES | {"which", "the", "another", "each", "every"}


def keep_impersonal(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` without a name for a pronoun that stands for nothing.

    >>> asked = "[SEP] will it snow ?".split()
    >>> keep_impersonal(asked, [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("oslo",)), KEEP, KEEP])[2].op.name
    'KEEP'
    """
    chosen = list(edits)
    for at, edit in enumerate(edits):
        alone = at + 1 == len(edits) or edits[at + 1].op is not Op.SUBSTITUTE
        if edit.op is Op.SUBSTITUTE and alone and _stands_for_nothing(words, at):
            chosen[at] = KEEP
    return chosen


def _stands_for_nothing(words: Sequence[str], at: int) -> bool:
    if words[at] == "it":
        return _is_impersonal(words, at) or _is_tag(words, at)
    if words[at] == "they":
        return (at == 1 and _TALKING.issuperset(words[2:3]) and len(words) > 4) or _is_tag(words, at)
    return words[at] == "one" and _is_anybody(words, at)


def _is_impersonal(words: Sequence[str], at: int) -> bool:
    after = [word for word in words[at + 1 : at + 4] if word not in AUXILIARIES | {"going", "to"}]
    if words[at - 1] in AUXILIARIES and after and after[0] not in ENDS and find_stem(after[0]) in _WEATHER:
        return True
    if words[at - 1] in _BEING and _explains(words, at + 1):
        return True
    return _announces(words, at)


def _explains(words: Sequence[str], at: int) -> bool:
    """Return whether an adjective ``at`` a place has "to", a verb and its object behind it, maybe "for" somebody."""
    if words[at + 1 : at + 2] != ["for"] or "to" not in words[at + 3 : at + 6]:
        return False
    verb = words.index("to", at + 3) + 1
    rest = words[verb + 1 : verb + 2]
    return is_content(words[at]) and bool(rest) and (is_content(rest[0]) or rest[0] in DETERMINERS)


def _announces(words: Sequence[str], at: int) -> bool:
    """Return whether what is said of an "it" is followed by the clause that it is said of."""
    first = at + 1
    while first < len(words) and (words[first] in _NOTHING or not is_word(words[first]) or words[first] in {"s", "t"}):
        if words[first] in ENDS:
            return False
        first += 1
    is_being = not _BEING.isdisjoint((*words[max(at - 3, 1) : at], *words[at + 1 : first]))
    said = words[first : first + 4]
    if len(said) > 2 and said[0] in {"a", "an"} and said[1] in _OPINIONS and said[2] == "that":
        return is_being
    last = next((k for k, word in enumerate(said) if not is_content(word)), len(said))
    if not 0 < last < 3 or any(word.endswith("ing") and word != "surprising" for word in said[:last]):
        return False
    behind = words[first + last :]
    if not behind:
        return False
    if behind[0] in _CLAUSES and sum(map(is_word, behind)) > 2:
        return is_being or (last == 1 and find_stem(said[0]) in _SEEMING)
    has_object = len(behind) > 2 and (behind[2] in DETERMINERS | PERSONAL_FORMS)
    return is_being and last == 1 and behind[0] == "to" and has_object


def _is_tag(words: Sequence[str], at: int) -> bool:
    """Return whether the pronoun ends a tag: ", is it?", ", don't they?"."""
    negated = words[at - 1] == "t" and words[at - 2] in APOSTROPHES
    verb = at - 3 if negated else at - 1
    asks = words[verb] in AUXILIARIES | set(SINGULAR_TO_PLURAL_NOT) | set(SINGULAR_TO_PLURAL_NOT.values())
    return verb > 2 and asks and words[verb - 1] == "," and ENDS.issuperset(words[at + 1 :])


def _is_anybody(words: Sequence[str], at: int) -> bool:
    """Return whether "one" is anybody, or a number: "when one buys used", "one day in Zagreb"."""
    before, after = words[at - 1], words[at + 1] if at + 1 < len(words) else "?"
    if after in _SPANS or (after == "of" and _GROUPS.issuperset(words[at + 2 : at + 3])):
        return before not in _REFERRING
    if before == "that":
        return is_content(words[at - 2]) and is_content(after)
    asks = before in _ACTING and words[at - 2] in {"how", "where", "when", "why"}
    return (asks or before in _CLAUSE_STARTS) and is_content(after)
