"""The "it" that stands for nothing: "Will it snow?", "Is it safe for him to drink coffee?"."""

from collections.abc import Sequence

from riseq.core.edits import KEEP, Edit, Op
from riseq.text.lexicon import AUXILIARIES, DETERMINERS, ENDS, find_stem, is_content

_WEATHER = frozenset(map(find_stem, ("rain", "snow", "drizzle", "thunder")))
_BEING = frozenset({"is", "was", "be", "isn", "wasn"})


def keep_impersonal(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` without a name for an "it" that the weather has, or that "for him to go" explains.

    >>> asked = "[SEP] will it snow ?".split()
    >>> keep_impersonal(asked, [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("oslo",)), KEEP, KEEP])[2].op.name
    'KEEP'
    """
    chosen = list(edits)
    for at, edit in enumerate(edits):
        alone = at + 1 == len(edits) or edits[at + 1].op is not Op.SUBSTITUTE
        if words[at] == "it" and edit.op is Op.SUBSTITUTE and alone and _is_impersonal(words, at):
            chosen[at] = KEEP
    return chosen


def _is_impersonal(words: Sequence[str], at: int) -> bool:
    after = [word for word in words[at + 1 : at + 4] if word not in AUXILIARIES | {"going", "to"}]
    if words[at - 1] in AUXILIARIES and after and after[0] not in ENDS and find_stem(after[0]) in _WEATHER:
        return True
    return words[at - 1] in _BEING and _explains(words, at + 1)


def _explains(words: Sequence[str], at: int) -> bool:
    """Return whether an adjective ``at`` a place has "for", somebody, "to", a verb and its object behind it."""
    if words[at + 1 : at + 2] != ["for"] or "to" not in words[at + 3 : at + 6]:
        return False
    verb = words.index("to", at + 3) + 1
    rest = words[verb + 1 : verb + 2]
    return is_content(words[at]) and bool(rest) and (is_content(rest[0]) or rest[0] in DETERMINERS)
