"""What a resolved question keeps of its own words: a name takes the place of the pronoun, not of what follows it.

A network that resolves questions at times replaces more than what points back: in "She's Lenny Kravitz's daughter" the
verb goes with the pronoun, in "Who is coaching her this season?" the season.
"""

from collections.abc import Sequence
from dataclasses import replace

from riseq.core.edits import GONE, KEEP, Edit, Op, find_runs
from riseq.text.lexicon import (
    APOSTROPHES,
    ARTICLES,
    AUXILIARIES,
    DEMONSTRATIVES,
    DETERMINERS,
    PERSONAL_FORMS,
    POSSESSIVES,
    PREPOSITIONS,
    QUESTION_WORDS,
    find_stem,
    is_content,
    is_word,
)

_CONTRACTED = {"s": "is", "re": "are", "ve": "have", "ll": "will", "d": "would"}
"""What a name is followed by instead: "Macarons are", not "Macarons're"."""
_AFTER_HAS = frozenset({"been", "become", "got", "had"})
_HEADS = PERSONAL_FORMS | {"both", "one", "ones"}
"""Words that one mention stands for."""
_OF_SOMEBODY = frozenset(possessive for possessive, _ in POSSESSIVES.values())
_ABOUT = (("what", "about"), ("how", "about"))
_CONNECTIVES = frozenset({"and", "or", "so"})
_LED = PREPOSITIONS | {"near"}
_PARTICLES = frozenset({"apart", "away", "back", "down", "off", "out", "over", "through", "together", "up"})
_FINITE = frozenset({"is", "are", "was", "were", "has", "had", "does", "did"})
_ASKED = QUESTION_WORDS | _PARTICLES | {"then", "there"}
"""Small words that a question needs: "Who put [it down: the Boxer Rebellion]?"."""


def keep_rest(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` in which a phrase takes the place of a pronoun alone, where it says no more.

    What stood behind the pronoun stays if the question needs it: a verb, a content word, a question word, "then". The
    same holds of "what about her" before "sister", in the place of which a question begins.
    """
    chosen = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)):
        phrase = edits[run.start].phrase
        first = run.start + (_measure_frame(words, run) or words[run.start] in _HEADS | DEMONSTRATIVES)
        if run.start < first < run.stop and _tells_more(words, run, first, phrase):
            chosen[first : run.stop] = [KEEP] * (run.stop - first)
            if (verb := _find_contracted(words, first)) is not None:
                chosen[run.start] = replace(edits[run.start], phrase=(*phrase, verb))
                chosen[first : first + 2] = [Edit(Op.SUBSTITUTE)] * 2
    return chosen


def _find_contracted(words: Sequence[str], at: int) -> str | None:
    """Return the verb that begins with an apostrophe ``at`` this word: "are" for "'re"."""
    if words[at] not in APOSTROPHES or at + 1 == len(words):
        return None
    has = words[at + 1] == "s" and at + 2 < len(words) and words[at + 2] in _AFTER_HAS
    return "has" if has else _CONTRACTED.get(words[at + 1])


def undo_losses(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits without the replacements and deletions that lose what only the question says.

    A word of content or a question word goes where the phrase has it too, or with an article or "this" before it, for
    a name ("the band" is the Dubliners). Words that begin "what about" ask nothing, and an adverb may become a place or
    a time ("nearby" is near Kotor). A mark stands for no words, and an article for no pronoun.
    """
    chosen = list(edits)
    for run in find_runs([edit.op for edit in edits], GONE):
        phrase = [word for edit in edits[run] for word in edit.phrase]
        if _loses(words, run, phrase):
            chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen


def keep_pronouns(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` without what cannot stand where a pronoun does.

    That is a clause ("What if [it: the glass is corroded] doesn't?"), and for the object of a verb a noun that is that
    verb: "glaze [it: the glaze]".
    """
    chosen = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)):
        phrase, before = edits[run.start].phrase, words[run.start - 1]
        if words[run.start] not in PERSONAL_FORMS or not phrase:
            continue
        is_clause = AUXILIARIES.isdisjoint(words[run]) and _has_verb(phrase)
        own = run.start > 1 and is_content(before) and find_stem(before) in map(find_stem, phrase)
        if run.stop == run.start + 1 and (is_clause or own):
            chosen[run] = [KEEP]
    return chosen


def _has_verb(phrase: Sequence[str]) -> bool:
    """Return whether a phrase has a verb of its own, and not one of a clause that belongs to its noun."""
    first = next((at for at, word in enumerate(phrase) if word in _FINITE), 0)
    return first > 0 and (QUESTION_WORDS | {"that"}).isdisjoint(phrase[:first])


def _measure_frame(words: Sequence[str], run: slice) -> int:
    """Return how many words at the beginning of a question are of "and what about", or the like."""
    if run.start != 1:
        return 0
    led = int(words[1] in _CONNECTIVES)
    asks = tuple(words[1 + led : 3 + led]) in _ABOUT
    return min(led + 2 * asks, len(words[run]))


def _tells_more(words: Sequence[str], run: slice, first: int, phrase: Sequence[str]) -> bool:
    """Return whether the words from ``first`` to the end of ``run`` say what ``phrase`` lacks."""
    rest, said = words[first : run.stop], set(map(find_stem, phrase))
    framed = words[first - 1] not in _HEADS | DEMONSTRATIVES
    verbal = rest[0] in AUXILIARIES or _find_contracted(words, first) is not None
    if words[run.start] in DEMONSTRATIVES and not framed:
        return verbal and AUXILIARIES.isdisjoint(phrase)
    if verbal and AUXILIARIES.isdisjoint(phrase):
        return True
    if framed and rest[-1] in _OF_SOMEBODY | ARTICLES and phrase[-1:] != ("s",):
        return run.stop < len(words) and is_word(words[run.stop])
    asked = [word for word in rest if is_content(word) or word in _ASKED]
    return bool(asked) and said.isdisjoint(map(find_stem, asked))


def _loses(words: Sequence[str], run: slice, phrase: Sequence[str]) -> bool:
    taken = words[run.start + _measure_frame(words, run) : run.stop]
    if not any(map(is_word, taken)):
        return False
    if not any(map(is_word, phrase)):
        return True
    if ARTICLES.issuperset(phrase):
        return taken[0] not in DETERMINERS | {"all"} or any(map(is_content, taken))
    said = set(map(find_stem, phrase))
    lost = [word for word in taken if (is_content(word) or word in QUESTION_WORDS) and find_stem(word) not in said]
    if not lost or QUESTION_WORDS & set(lost):
        return bool(lost)
    leader = taken[1:2] if taken[0] in PREPOSITIONS else taken[:1]
    named = bool(leader) and leader[0] in ARTICLES | DEMONSTRATIVES
    return not named and phrase[0] not in _LED
