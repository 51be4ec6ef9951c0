"""The preposition of a place that is named again: "there", replaced by a copied "Halifax", becomes "in Halifax"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import Edit, Op
from riseq.text.lexicon import ARTICLES, JOURNEYS, LINKS, PREPOSITIONS, find_stem
from riseq.text.realise import Copied
from riseq.text.words import read_forms

_BESIDE_PLACES = frozenset({"in", "at", "on"})
_JOURNEYS = frozenset(map(find_stem, JOURNEYS))
_PREPOSITIONS = LINKS | {
    "across",
    "along",
    "behind",
    "beside",
    "inside",
    "near",
    "onto",
    "outside",
    "past",
    "through",
    "towards",
}


def add_prepositions(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits of ``words`` and what they ``copied``, with a preposition before what replaces "there".

    It is the one that the place has in the dialogue, or "in"; after a verb of going somewhere it is "to", whatever the
    phrase says. Of two in a phrase ("in at Abbey Road") the one that was copied stays.
    """
    chosen, known = list(edits), dict(copied)
    for at, source in copied.items():
        phrase = chosen[at].phrase
        if source.before == 1 and phrase[0] in PREPOSITIONS and phrase[1] in _BESIDE_PLACES:
            chosen[at], phrase = replace(chosen[at], phrase=phrase[1:]), phrase[1:]
            known[at] = source = replace(source, before=0)
        alone = at + 1 == len(edits) or edits[at + 1].op is not Op.SUBSTITUTE
        if words[at] != "there" or edits[at].op is not Op.SUBSTITUTE or not alone:
            continue
        if _leads_there(words[:at]) and phrase[0] in _BESIDE_PLACES and len(phrase) > 1:
            chosen[at] = replace(chosen[at], phrase=("to", *phrase[1:]))
            known[at] = source if source.before else replace(source, first=source.first + 1, before=1)
        elif not source.before and not _PREPOSITIONS & {phrase[0], words[at - 1]}:
            leader = "to" if _leads_there(words[:at]) else _find_preposition(source, context)
            chosen[at] = replace(chosen[at], phrase=(leader, *phrase))
            known[at] = replace(source, before=1)
    return chosen, known


def _leads_there(before: Sequence[str]) -> bool:
    """Return whether the words before "there" end in a verb of going somewhere; "how cold does it get" is none."""
    verb = before[-2:] if before[-1] == "back" else before[-1:]
    return find_stem(verb[0]) in _JOURNEYS and not (verb[0] == "get" and before[-2] == "it")


def _find_preposition(source: Copied, context: Sequence[str]) -> str:
    said = () if source.utterance is None else read_forms(context[source.utterance])
    before = [word for word in said[max(source.first - 2, 0) : source.first] if word not in ARTICLES]
    return before[-1] if before and before[-1] in _BESIDE_PLACES else "in"
