"""Whose something is: the phrases that take the place of "its" and "their"."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from riseq.core.edits import Edit, Op, Ops, find_run
from riseq.text.lexicon import APOSTROPHES, ARTICLES, DETERMINERS, POSSESSIVES, SUFFIXES, is_content
from riseq.text.realise import Copied
from riseq.text.words import read_words

_OF_SOMEBODY = frozenset(possessive for possessive, _ in POSSESSIVES.values())
_LEADERS = DETERMINERS | {"our"}

_SINGULAR_ENDINGS = ("ss", "us", "is")


def find_unnamed(words: Sequence[str], ops: Ops, phrases: Mapping[int, Sequence[str]]) -> list[int]:
    """Return where an article alone would replace "its" or the like, although nothing else says whose it is.

    ``phrases`` are those of the operations, by their word. Where one is put in, as in "[its: the] founder [of
    Patagonia]", nothing is lost.
    """
    if any(ops[at] == Op.INSERT and any(map(is_content, phrase)) for at, phrase in phrases.items()):
        return []
    return [at for at, phrase in phrases.items() if words[at] in _OF_SOMEBODY and ARTICLES.issuperset(phrase)]


def name_owner_once(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` with "the" for a possessive that stays before what gets an owner put in behind it.

    "How large is its population [of Malta]?" asks for the population.
    """
    chosen, ops = list(edits), [edit.op for edit in edits]
    for at, word in enumerate(words):
        if word not in _OF_SOMEBODY or edits[at].op is not Op.KEEP:
            continue
        end = next((k for k in range(at + 1, len(words)) if edits[k].op is not Op.KEEP), at)
        owned = edits[end].op is Op.INSERT and edits[end].phrase[:1] == ("of",) and len(edits[end].phrase) > 1
        if owned and all(map(is_content, words[at + 1 : end + 1])):
            before = find_run(ops, at - 1, (Op.SUBSTITUTE,))  # "what about", where it is replaced
            chosen[at] = Edit(Op.SUBSTITUTE)
            chosen[before.start if before.stop == at else at] = Edit(
                Op.SUBSTITUTE, (*(edits[before.start].phrase if before.stop == at else ()), "the")
            )
    return chosen


def shorten_plurals(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> list[Edit]:
    """Return the edits of ``words`` with "my parents'", not "my parents's", in the place of "their".

    What ends in s is taken for a plural where it has a determiner or a small letter: INXS is one.
    """
    chosen = list(edits)
    for at, source in copied.items():
        phrase, end = chosen[at].phrase, source.before + source.stop - source.first
        replaced = words[at] == "their" and edits[at].op is Op.SUBSTITUTE
        owned = len(phrase) > end + 1 and phrase[end] in APOSTROPHES and phrase[end + 1] == "s"
        if replaced and owned and _is_plural(phrase[:end], source, context):
            chosen[at] = replace(chosen[at], phrase=(*phrase[: end + 1], *phrase[end + 2 :]))
    return chosen


def _is_plural(owner: Sequence[str], source: Copied, context: Sequence[str]) -> bool:
    last = owner[-1]
    if not last.endswith("s") or last in SUFFIXES or last.endswith(_SINGULAR_ENDINGS):
        return False
    said = "" if source.utterance is None else context[source.utterance]
    return owner[0] in _LEADERS or (bool(said) and said[read_words(said)[source.stop - 1].start].islower())
