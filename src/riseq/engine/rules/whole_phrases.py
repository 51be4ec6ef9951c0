"""Noun phrases are copied whole: of "the volunteer fire brigade" no "volunteer" goes before "employer"."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from riseq.core.edits import KEEP, STAYS, Edit, Op, find_run
from riseq.text.lexicon import PREPOSITIONS, PRONOUNS, find_stem, is_content, is_irregular, is_plural, is_word
from riseq.text.realise import Copied
from riseq.text.words import find_named, read_forms

_BEING = frozenset({"is", "are", "was", "were", "been", "being", "be"})


def keep_whole_phrases(
    words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> list[Edit]:
    """Return the edits of ``words`` without what was torn from a noun phrase.

    A modifier goes before its own noun, and before half a compound no more than before another one. What takes the
    place of a pronoun has its noun.
    """
    chosen, ops = list(edits), [edit.op for edit in edits]
    for at, source in copied.items():
        if source.utterance is None or not edits[at].phrase:
            continue
        said, named = read_forms(context[source.utterance]), find_named(context[source.utterance])
        if edits[at].op is Op.INSERT:
            behind = words[at + 1 : at + 3] if at + 1 < len(words) and edits[at + 1].op in STAYS else []
            plain = source.before == 0 and not any(named[source.first : source.stop + 2])
            if (plain and _is_torn_modifier(said, source, behind)) or _is_torn_verb(words, at, said, source):
                chosen[at] = KEEP
        elif words[at] in PRONOUNS and (_is_bare_form(said, source) or _begins_inside(said, named, source)):
            run = find_run(ops, at, (Op.SUBSTITUTE,))
            chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen


def _is_torn_modifier(said: Sequence[str], source: Copied, behind: Sequence[str]) -> bool:
    """Return whether words put before a noun have another noun behind them where they were said."""
    after = said[source.stop : source.stop + 2]
    if not behind or not after or not is_content(after[0]) or not is_content(behind[0]):
        return False
    if not is_content(said[source.first]):
        return False
    if find_stem(after[0]) != find_stem(behind[0]):
        return _is_noun(after[0]) and not is_plural(said[source.stop - 1])
    more = len(after) > 1 and is_content(after[1]) and _is_noun(after[1]) and not is_plural(after[0])
    return more and (len(behind) < 2 or not is_content(behind[1]))


def _is_bare_form(said: Sequence[str], source: Copied) -> bool:
    """Return whether one word was copied that is a verb's form: "fried" of "fried rice", "drawing" of "for drawing"."""
    first = source.first
    if source.stop > first + 1:
        return False
    before, after = said[first - 1] if first else "", said[source.stop : source.stop + 1]
    adjective = said[first].endswith("ed") and bool(after) and is_content(after[0])
    return adjective or (said[first].endswith("ing") and before in PREPOSITIONS)


def _begins_inside(said: Sequence[str], named: Sequence[bool], source: Copied) -> bool:
    """Return whether the copied words are the end of a title: "Rights of Man" of "Declaration of the Rights of Man"."""
    first = source.first
    joined = first > 2 and said[first - 1] == "the" and said[first - 2] in {"for", "of"}
    return joined and named[first] and named[first - 3] and "of" in said[first : source.stop]


def _is_noun(word: str) -> bool:
    """Return whether a content word behind a noun of one is hardly a verb: not drew, opened, closes, or an adverb."""
    return not (word.endswith(("ed", "ing", "ly", "s")) or is_irregular(word) or word[0].isdigit())


def _is_torn_verb(words: Sequence[str], at: int, said: Sequence[str], source: Copied) -> bool:
    """Return whether "carrying gold" was put behind a noun, of "Was the freighter carrying gold?"."""
    if source.before or not said[source.first].endswith("ing") or not is_content(words[at]):
        return False
    clause = takewhile(is_word, reversed(said[: source.first]))
    return not _BEING.isdisjoint(clause)
