"""The preposition of a place that is named again: "there", replaced by a copied "Halifax", becomes "in Halifax"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import Edit, Op
from riseq.text.lexicon import ARTICLES, LINKS, MOTIONS
from riseq.text.realise import Copied
from riseq.text.words import read_forms

_BESIDE_PLACES = frozenset({"in", "at", "on"})
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

    It is the one that the place has in the dialogue, or "in"; after a verb of motion it is "to".
    """
    chosen, known = list(edits), dict(copied)
    for at, source in copied.items():
        alone = at + 1 == len(edits) or edits[at + 1].op is not Op.SUBSTITUTE
        bare = not source.before and not _PREPOSITIONS & {chosen[at].phrase[0], words[at - 1]}
        if words[at] == "there" and edits[at].op is Op.SUBSTITUTE and alone and bare:
            leader = "to" if words[at - 1] in MOTIONS else _find_preposition(source, context)
            chosen[at] = replace(chosen[at], phrase=(leader, *chosen[at].phrase))
            known[at] = replace(source, before=1)
    return chosen, known


def _find_preposition(source: Copied, context: Sequence[str]) -> str:
    said = () if source.utterance is None else read_forms(context[source.utterance])
    before = [word for word in said[max(source.first - 2, 0) : source.first] if word not in ARTICLES]
    return before[-1] if before and before[-1] in _BESIDE_PLACES else "in"
