"""How a copied question begins: "What about Germany?" comes back as "What is the capital of Germany?", all of it.

A network that copies "is the capital of" means to keep the word that stands before it in both questions, and at times
replaces that word as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import STAYS, Edit, Op
from riseq.text.lexicon import APOSTROPHES, AUXILIARIES, ENDS, PREPOSITIONS, QUESTION_WORDS, SUFFIXES, is_word
from riseq.text.realise import Copied
from riseq.text.words import read_forms

_FRAMES = frozenset({("what", "about"), ("how", "about")})
_LONGEST = 4
"""Words before the verb of a question: "how", "how many days"."""


def complete_openings(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits and what they ``copied``, with the beginnings that copied words lack.

    Copied words that begin inside a word, such as the "s" of "what's", have its apostrophe too. Where they open the
    question with a verb, they have the question word that stands before it in the dialogue; before a noun that is asked
    about instead, the preposition that stands behind them: "a doctor in [Germany]".
    """
    chosen, known = list(edits), dict(copied)
    for at, source in copied.items():
        if source.utterance is None or source.before:
            continue
        said = read_forms(context[source.utterance])
        first = source.first
        if said[first] in SUFFIXES and said[first - 1 : first] and said[first - 1] in APOSTROPHES:
            first -= 1
        if _opens(chosen, at) and (said[first] in APOSTROPHES or said[first] in AUXILIARIES):
            start = next((k + 1 for k in range(first - 1, -1, -1) if said[k] in ENDS), 0)
            asks = said[start] in QUESTION_WORDS and all(map(is_word, said[start:first]))
            first = start if asks and first - start <= _LONGEST else first
        stop = source.stop
        whole = len(chosen[at].phrase) == stop - source.first
        if whole and stop < len(said) and said[stop] in PREPOSITIONS and _leads_on(words, chosen, at):
            stop += 1
        if (first, stop) != (source.first, source.stop):
            added = said[first : source.first], said[source.stop : stop]
            chosen[at] = replace(chosen[at], phrase=(*added[0], *chosen[at].phrase, *added[1]))
            known[at] = replace(source, first=first, stop=stop)
    return chosen, known


def _leads_on(words: Sequence[str], edits: Sequence[Edit], at: int) -> bool:
    """Return whether a question with another beginning, "what about" before, goes on with a noun that stays."""
    asks = tuple(words[1:3]) in _FRAMES or words[1] in {"and", "or"}
    if not asks or not _opens(edits, at):
        return False
    after = next((k for k in range(at + 1, len(edits)) if edits[k].op is not Op.SUBSTITUTE), len(edits))
    stays = after < len(edits) and edits[after].op in STAYS
    return stays and is_word(words[after]) and words[after] not in PREPOSITIONS


def _opens(edits: Sequence[Edit], at: int) -> bool:
    """Return whether what the edit ``at`` says is the question's beginning."""
    return edits[at].op is Op.SUBSTITUTE and all(edit.op is Op.DELETE for edit in edits[1:at])
