"""Two noun phrases side by side: "the libretto Carmen" is "the libretto of Carmen", "is Carmen the libretto" nothing.

A network that puts a mention into a question knows its place better than how it hangs together with what stands there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from riseq.core.edits import KEEP, STAYS, Edit, Op
from riseq.engine.rules.frames import is_reopened
from riseq.text.lexicon import (
    ARTICLES,
    AUXILIARIES,
    DEMONSTRATIVES,
    DETERMINERS,
    ENDS,
    NAMED_KINDS,
    OBJECT_PREPOSITIONS,
    OBJECT_QUESTION_WORDS,
    PERSONAL_PRONOUNS,
    PREPOSITIONS,
    WISHES,
    find_stem,
    is_content,
    is_irregular,
    is_number,
)
from riseq.text.realise import Copied
from riseq.text.words import find_named, read_forms

_SUBJECTS = PERSONAL_PRONOUNS.keys() | {"i", "we", "you"}
_STRANDED = PREPOSITIONS | OBJECT_PREPOSITIONS | {"across", "behind", "near", "past", "through"}
_LEADERS = (DETERMINERS | PREPOSITIONS | {"any", "every", "no", "other", "our", "some"}) - DEMONSTRATIVES - {"the"}
_DOING = frozenset({"do", "does", "did"})
_BEING = frozenset({"is", "are", "was", "were"})
_MARKS = frozenset("\"'“‘«")
_OBJECTS = frozenset({"it", "him", "them", "me", "us"})
_PARTICLES = frozenset({"away", "back", "down", "off", "out", "over", "up"})
_WANTING = WISHES | {"able", "allow", "allowed", "asked", "going", "needed", "supposed", "told", "tried", "try"}
_KINDS = frozenset(map(find_stem, NAMED_KINDS))


def part_noun_phrases(
    text: str, words: Sequence[str], edits: Sequence[Edit], copied: Mapping[int, Copied], context: Sequence[str]
) -> tuple[list[Edit], dict[int, Copied]]:
    """Return the edits of ``text`` and what they ``copied``, without mentions beside what they don't go with.

    A mention that is put in without a preposition is no second object, and no neighbour of a noun that has "a" or a
    preposition. It goes with a name beside it if the dialogue says the two together ("Robert" and "Prescott"), and with
    a verb before it if nothing else does. Behind a noun with "the" it gets its "of", unless it is what the noun calls:
    "the album Vespertine".
    """
    chosen, known = list(edits), dict(copied)
    if is_reopened(edits):
        return chosen, known
    named = [False, *find_named(text)]
    for at, edit in enumerate(edits):
        if edit.op is not Op.INSERT or not _is_bare(edit.phrase) or not at:
            continue
        after = at + 1 if at + 1 < len(words) and edits[at + 1].op in STAYS else None
        crowds = _crowds(words, at, after, edit.phrase, context)
        torn = words[at] in AUXILIARIES | {"t"} and not AUXILIARIES.isdisjoint(edit.phrase)  # it doesn't [the film is]
        if torn or crowds or _has_object(words, at, after) or _is_apart(words, named, at, after, edit.phrase, context):
            chosen[at] = KEEP
            known.pop(at, None)
        elif (
            at in copied
            and not (after is not None and named[after])
            and _wants_of(words, at, after, copied[at], context)
        ):
            chosen[at] = replace(edit, phrase=("of", *edit.phrase))
            known[at] = replace(copied[at], before=copied[at].before + 1)
    return chosen, known


def _crowds(words: Sequence[str], at: int, after: int | None, phrase: Sequence[str], context: Sequence[str]) -> bool:
    """Return whether a noun phrase stands right behind another one, with which it makes no name: "my ticket [Rome]".

    What "the" or "this" stands before may be called so: "the ship".
    """
    leader = _find_leader(words, at)
    if leader == at or words[leader] not in _LEADERS or find_stem(words[at]) in _KINDS:
        return False
    if words[leader] in PREPOSITIONS and words[leader + 1].endswith("ing"):
        return False  # for leaving Rome
    joins = after is not None and is_content(words[after]) and _says((phrase[-1], words[after]), context)
    return not joins and not _says((words[at], phrase[0]), context)


def _find_leader(words: Sequence[str], at: int) -> int:
    """Return where the word stands before the content words that end ``at`` a place."""
    while is_content(words[at]) or is_number(words[at]):
        at -= 1
    return at


def _has_object(words: Sequence[str], at: int, after: int | None) -> bool:
    """Return whether the word ``at`` has its object, or wants none.

    It has one at the beginning of the question in "What did he oppose?", and as a pronoun in "fill it up". The "to" of
    "wanted him to" has a verb behind it that is not said.
    """
    if _is_pronoun_object(words, at) or _is_infinitive(words, at):
        return True
    counted = words[1] == "how" and words[2:3] and words[2] in {"many", "much"}
    if after is not None and words[after] not in ENDS:
        return False
    if words[at] in _STRANDED:
        return bool(counted) or words[1] in OBJECT_QUESTION_WORDS | {"where"}
    verb = next((k for k in range(2, at) if words[k] in AUXILIARIES), at)
    asks = verb < at - 1 and words[verb] not in _BEING and words[at - 1] in _SUBJECTS
    return asks and (bool(counted) or words[1] in OBJECT_QUESTION_WORDS)


def _is_pronoun_object(words: Sequence[str], at: int) -> bool:
    """Return whether the word ``at`` is the object of the verb before it, or the particle behind one."""
    at -= words[at] in _PARTICLES
    return words[at] in _OBJECTS and is_content(words[at - 1])


def _is_infinitive(words: Sequence[str], at: int) -> bool:
    """Return whether the "to" ``at`` a place is behind a wish and whom it is of: "Had she wanted him to?"."""
    return words[at] == "to" and not _WANTING.isdisjoint(words[max(at - 4, 2) : at])


def _is_apart(
    words: Sequence[str],
    named: Sequence[bool],
    at: int,
    after: int | None,
    phrase: Sequence[str],
    context: Sequence[str],
) -> bool:
    """Return whether a mention behind the word ``at`` has nothing to do with a name on either side, nor with a verb."""
    if after is not None and _says((phrase[-1], words[after]), context):
        return False
    beside = named[at] or (after is not None and named[after])
    beside |= words[at] in AUXILIARIES and after is not None and _begins_phrase(words[after])
    return beside and (words[at] in AUXILIARIES or not _says((words[at], phrase[0]), context))


def _is_bare(phrase: Sequence[str]) -> bool:
    """Return whether a phrase begins like a noun phrase, and is no more than one."""
    return bool(phrase) and (_begins_phrase(phrase[0]) or phrase[0] in _MARKS)


def _begins_phrase(word: str) -> bool:
    return is_content(word) or word in DETERMINERS - DEMONSTRATIVES  # "this week" stands anywhere


def _is_verb(words: Sequence[str], at: int) -> bool:
    """Return whether a content word is surely a verb: wrote, filmed; or the last one, where the question has "did"."""
    word = words[at]
    ends = at + 2 == len(words) and words[at + 1] in ENDS and not _DOING.isdisjoint(words[:at])
    return ends or word.endswith("ed") or is_irregular(word)


def _says(pair: tuple[str, str], context: Sequence[str]) -> bool:
    """Return whether the dialogue says two words one after the other."""
    return any(pair in pairwise(read_forms(text)) for text in context)


def _wants_of(words: Sequence[str], at: int, after: int | None, source: Copied, context: Sequence[str]) -> bool:
    """Return whether a name stands behind "the" and its noun, and calls something else than the noun does."""
    first = _find_leader(words, at)
    if first == at or words[first] != "the" or source.before or source.utterance is None:
        return False
    is_kind = find_stem(words[at]) in _KINDS and not any(map(is_number, words[first:at]))  # the last episode of "Her"
    if is_kind or (after is not None and is_content(words[after]) and not _is_verb(words, after)):
        return False
    said = read_forms(context[source.utterance])
    start = source.first + (said[source.first] in ARTICLES)
    named = start < source.stop and find_named(context[source.utterance])[start]
    is_name = named or said[source.first] in _MARKS
    return is_name and not _says((words[at], said[source.first]), context)
