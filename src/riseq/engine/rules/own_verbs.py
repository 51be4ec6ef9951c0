"""A person and what they do, replaced together: the verb is the question's own.

A network has "they have" and "they get" among its phrases, but not every verb: "if [the plumber comes: they get] late".
"""

from collections.abc import Sequence

from riseq.core.phrases import Phrase
from riseq.engine.rules.agreement import VERB_OF_ONE
from riseq.text import lexicon


def keep_own_verb(words: Sequence[str], run: slice, phrase: Phrase) -> Phrase:
    """Return the ``phrase`` that replaces ``run``; one of "they" and a verb has the verb that the run ends with.

    >>> keep_own_verb("if the plumber comes late ?".split(), slice(1, 4), ("they", "get"))
    ('they', 'come')
    """
    replaced = words[run]
    if len(phrase) != 2 or phrase[0] != "they" or len(replaced) < 2 or phrase[1] in replaced:
        return phrase
    if not lexicon.APOSTROPHES.isdisjoint(replaced) or run.stop >= len(words):
        return phrase
    verb = replaced[-1]
    before_t = words[run.stop] in lexicon.APOSTROPHES and words[run.stop + 1 : run.stop + 2] == ["t"]
    if before_t and verb in lexicon.SINGULAR_TO_PLURAL_NOT:
        return ("they", lexicon.SINGULAR_TO_PLURAL_NOT[verb])
    if verb in lexicon.SINGULAR_TO_PLURAL or verb in lexicon.AUXILIARIES:
        return ("they", lexicon.SINGULAR_TO_PLURAL.get(verb, verb))
    found = VERB_OF_ONE.fullmatch(verb) if lexicon.is_content(verb) else None
    same = lexicon.find_stem(phrase[1]) == lexicon.find_stem(verb)
    if found is None or same or replaced[0] not in lexicon.DETERMINERS | {"our"}:
        return phrase
    return ("they", found[1] + "y" * (found[2] == "ies"))
