"""Edits that leave no English, or leave words stranded, are mended or undone: the question's own words are right.

A network decides word by word; what it leaves between its edits may be no sentence. Each check looks at one run of
edits and what stands around it, goes by forms alone, and did not lower the scores on CANARD's development set.
"""

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from riseq.core.edits import DELETE, GONE, KEEP, Edit, Op, Ops, find_runs, set_run
from riseq.engine.rules.gaps import Gap, is_bad_gap
from riseq.text import lexicon
from riseq.text.lexicon import ARTICLES, AUXILIARIES, DETERMINERS, ENDS, JOINTS, LINKS, PREPOSITIONS, is_content

_STANDING_ALONE = lexicon.PERSONAL_FORMS - lexicon.DETERMINERS - {"hers", "theirs"} | {"there", "one"}
_OBJECTS = {"its": "it", "their": "them"}
_OWNERS = DETERMINERS - ARTICLES - lexicon.DEMONSTRATIVES
_OPENINGS = frozenset({("what", "about"), ("how", "about"), ("and",)})
_MAIN_VERBS = frozenset({"am", "is", "are", "was", "were", "has", "have", "had"})
_HELPING_VERBS = AUXILIARIES - _MAIN_VERBS
_KNOWN_THINGS = DETERMINERS - {"a", "an"} | {"s"}
_SUBJECTS = frozenset({"he", "she", "it", "they"})
_OBJECTS_OF_VERBS = frozenset({("it",), ("them",), ("him",), ("her",)})
_OBJECTS_AND_ONE = _OBJECTS_OF_VERBS | {("one",), ("ones",)}
_LONE_SUBJECTS = frozenset((one,) for one in _SUBJECTS)
_NEGATED = frozenset(("couldn", "wouldn", "shouldn", "won", "didn", "hadn")).union(
    *lexicon.SINGULAR_TO_PLURAL_NOT.items()
)
"""Verbs that stand before "'t"."""
_PARTICLES = frozenset({"off", "up", "away", "back", "down"})
_QUANTIFIERS = frozenset({"any", "some", "no", "every", "each", "another", "what"})
_ASKING = frozenset({"", "why", "when", "where", "how"})
_TO_OBJECT = {"its": "it", "their": "them", "his": "him", "her": "her"}
_TO_THERE = {"from": "from", "into": "in"}
_GIVING = frozenset({"feed", "feeding", "give", "giving", "send", "show", "teach", "tell", "offer", "lend"})
_NUMERAL = re.compile(r"[ivx]+|\d+\w?")
_BEFORE_TO = frozenset({"have", "has", "had", "need", "needs", "needed", "ought", "going", "able"})
_COMPARING = frozenset({"better", "worse", "more", "less", "well", "as", "than"})
_AFTER_PHRASE = ENDS | PREPOSITIONS
_AFTER_OBJECT = _AFTER_PHRASE | AUXILIARIES
_AFTER_LOST_VERB = _AFTER_PHRASE | _COMPARING
_TIES = LINKS - AUXILIARIES
_TIES_AT_END = _TIES | lexicon.SUBORDINATORS
_BEFORE_TIME = PREPOSITIONS | lexicon.SUBORDINATORS
_BARE_OPENERS = lexicon.PHRASE_OPENERS - DETERMINERS
_BEFORE_OPENING = ENDS | {""}
_OWNERS_AND_ONE, _OWNERS_AND_COUNTS = _OWNERS | {"one"}, _OWNERS | {"much", "many"}


def undo_broken_runs(
    ops: Ops,
    words: Sequence[str],
    phrases: Sequence[Sequence[str]],
    names: Sequence[bool],
    fixed: Collection[int] = (),
) -> None:
    """Keep, in place, the runs of words that cannot go, or be replaced so, without breaking the sentence.

    "under the [Marshall Plan]?", "reply to [an email]?", "react when [the band split]?": small words before what is
    deleted go too, but ``fixed`` ones. ``names`` says which words are written as names are.
    """
    for run in find_runs(ops, (Op.DELETE,)):
        start, after = run.start, _find_next(run.stop, ops, words)
        opens = is_content(words[start]) or words[start] in DETERMINERS or words[start - 1] in ("because", "than")
        if opens and after in _AFTER_OBJECT:
            start -= words[start - 1] in ARTICLES
            along = slice(start - 1, run.stop)
            free = ops[start - 1] == Op.KEEP and not any(along.start <= at < run.start for at in fixed)
            ties = _TIES_AT_END if after in ENDS else _TIES
            if words[start - 1] in ties and start > 3 and free:
                set_run(ops, along, Op.DELETE)
    broken = [slice(0)]
    while broken:
        runs = find_runs(ops, GONE, alike=True)
        broken = [run for run in runs if _is_broken(run, ops, words, tuple(phrases[run.start]), names)]
        for run in broken:
            # "[How much does: and] a flight [from here] to Rome": what is left of an opening would lack its verb.
            opened = run.start == 1 and tuple(phrases[1]) in _OPENINGS
            set_run(ops, slice(0, len(ops)) if opened else run, Op.KEEP)
    if ops[0] == Op.KEEP and ops[1:2] == [Op.DELETE] and _find_next(1, ops, words) in ("about", "than", "of"):
        set_run(ops, slice(0, len(ops)), Op.KEEP)


def mend_phrases(
    words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = (), names: Sequence[bool] = ()
) -> list[Edit]:
    """Return the edits with phrases that fit where they stand; ``fixed`` positions are kept, ``names`` are names.

    - "[What is the limit: about] in Poland?": what is asked so begins with what.
    - "was the [telescope: one] built", "joined [the OECD: their] since": it, them.
    - "if [the seller: they] has left": they have. "raise my [melatonin: the] levels": one word before it is enough.
    - "three [pretzels: ones]": three. "declared with `[const: it]`": what stands for a code word is none.
    - "is a [tortoise: one] that", "which [of the two: ones] has": one. "turn off [the oven: it]": turn it off.
    - "[What do they eat: what about] in Peru?", "[how old is the mayor: what about] of Rome": what about Rome.
    - "get [from Rome: there] to Pisa": from there.
    - "if [my landlord hasn: they] 't": they haven't. "get [into the house: there]": in there.
    - "[What do I pay: what about] if": what if.
    - "[How much is a: and] ticket": and a ticket. "feed [robins: their] worms": them. "put [a tent up: it]": it up.
    """
    mended, ops = list(edits), [int(edit.op) for edit in edits]
    for run in find_runs(ops, (Op.SUBSTITUTE,)):
        phrase, after = edits[run.start].phrase, _find_next(run.stop, ops, words)
        left, start, stop = words[run.start - 1], run.start, run.stop
        ends = _is_free(start - 1, start - 2, ops, fixed), _is_free(stop, stop + 1, ops, fixed)
        placed = any(names[stop + 1 : stop + 2]) and lexicon.TIMES.isdisjoint(words[stop + 1 : stop + 2])
        counted = lexicon.is_number(left) and words[start - 2] not in DETERMINERS
        if phrase[:-1] in _LONE_SUBJECTS and words[stop - 1] in _NEGATED and _is_kept_t(stop, ops, words):
            negated = lexicon.SINGULAR_TO_PLURAL_NOT if phrase[0] == "they" else {}
            phrase = (phrase[0], negated.get(words[stop - 1], words[stop - 1]))
        elif phrase == ("about",) and start == 1:
            phrase = ("what", "about")
        elif "the" in (left, *phrase[:1]) and phrase[-1:] == ("one",) and after not in lexicon.PHRASE_OPENERS:
            article = left == "the" and ops[start - 1] == Op.KEEP
            phrase, start = (phrase, start) if article and not ends[0] else (("it",), start - article)
        elif phrase[-1:] in (("its",), ("their",)) and _ends_phrase(after):
            phrase = (*phrase[:-1], _OBJECTS[phrase[-1]])
        elif phrase == ("they",) and words[stop : stop + 1] == ["has"] and ends[1]:
            phrase, stop = ("they", "have"), stop + 1
        elif (phrase == ("the",) and left in _OWNERS) or (phrase == ("ones",) and counted):
            phrase = ()
        elif left == "`" and words[stop : stop + 1] == ["`"] and all(ends):
            start, stop = start - 1, stop + 1
        elif phrase == ("one",) and left in ("a", "an") and ends[0]:
            start -= 1
        elif (
            phrase in _OPENINGS
            and ends[1]
            and (after == "of" or (len(phrase) > 1 and (after == "by" or (after == "in" and placed))))
        ):
            stop += 1
        elif phrase == ("there",) and words[start] in _TO_THERE:
            phrase = (_TO_THERE[words[start]], "there")
        elif phrase == ("what", "about") and start == 1 and after == "if":
            phrase = ("what",)
        elif phrase == ("ones",) and left == "which" and after in lexicon.SINGULAR_TO_PLURAL:
            phrase = ("one",)
        elif left in _PARTICLES and phrase in _OBJECTS_OF_VERBS and ends[0] and _is_verb(start - 2, ops, words):
            mended[start - 2], phrase = Edit(Op.INSERT, phrase), ()
        elif phrase in _OPENINGS and stop - start > 1 and words[stop - 1] in ARTICLES and is_content(after):
            phrase = (*phrase, words[stop - 1])
        elif left in _GIVING and is_content(after) and lexicon.APOSTROPHES.isdisjoint(words[start:stop]):
            phrase = (*phrase[:-1], _TO_OBJECT.get(phrase[-1], phrase[-1])) if phrase else phrase
        elif phrase in _OBJECTS_AND_ONE and words[stop - 1] in _PARTICLES and is_content(words[stop - 2]):
            phrase = phrase if any(names[stop - 1 : stop]) else (*phrase, words[stop - 1])  # "[Spirited Away: it] come"
        rest = Edit(Op.SUBSTITUTE) if phrase else DELETE
        mended[start:stop] = [Edit(rest.op, phrase), *[rest] * (stop - start - 1)]
    return mended


def fix_stranded_words(words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = ()) -> list[Edit]:
    """Return the edits with stranded words seen to; both start with the marker's position, ``fixed`` ones are kept.

    - "insurance in [Germany]?": a preposition whose object goes, up to the end, goes with it.
    - "goals [for Argentina in] the final": a preposition stays before an object that stays.
    - "type [2] diabetes": a number alone is not what the dialogue already said.
    """
    repaired = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.DELETE,)):
        start, end, before = run.start, run.stop, run.start - 1
        kept_after = end < len(words) and repaired[end].op in (Op.KEEP, Op.INSERT)
        alone = end - start == 1 and words[start].isdigit() and words[start - 1] not in DETERMINERS
        if alone and kept_after and words[end] not in ENDS:
            repaired[start] = KEEP
            continue
        if end - start > 1 and words[end - 1] in PREPOSITIONS and kept_after and words[end] in DETERMINERS:
            repaired[end - 1] = KEEP
        at_end = end == len(words) or (end == len(words) - 1 and words[end] in ENDS and repaired[end].op is Op.KEEP)
        object_gone = words[start] not in ENDS and words[1] not in lexicon.OBJECT_QUESTION_WORDS
        free = before > 1 and repaired[before].op is Op.KEEP and before not in fixed
        # "check in [at the hotel]": what goes has a preposition of its own.
        object_gone &= words[start] not in PREPOSITIONS
        if at_end and object_gone and free and words[before] in PREPOSITIONS:
            repaired[before] = DELETE
    return repaired


def _is_broken(run: slice, ops: Ops, words: Sequence[str], new: tuple[str, ...], names: Sequence[bool]) -> bool:
    first, rest = ["", *_list_kept(words, ops, 1, run.start)], _list_kept(words, ops, run.stop, len(ops)) or ["?"]
    before, after, gone, left = first[-1], rest[0], words[run], words[run.start - 1]
    joined = words[run.stop : run.stop + 1] == [after]
    if is_bad_gap(Gap(gone, new, first, rest, joined, (names[run.stop - 1], any(names[run.stop : run.stop + 1])))):
        return True
    if ops[run.start] == Op.SUBSTITUTE:
        # "[Does Ryanair charge: do they] for a pushchair": the verb went along with the name before it.
        verb = any(names[run.start : run.stop - 1]) and is_content(gone[-1]) and not names[run.stop - 1]
        subject = new[-1:] != () and new[-1] in _SUBJECTS and DETERMINERS.isdisjoint(gone)
        along = verb and subject and after in _AFTER_PHRASE and not {gone[0], before}.isdisjoint(_HELPING_VERBS)
        # "[What time does the market on Canal Street: and] close": its verb stayed.
        stays = names[run.stop - 1] and words[run.stop : run.stop + 1] == [after] and not any(names[run.stop :][:1])
        along |= new in _OPENINGS and stays and is_content(after) and not _HELPING_VERBS.isdisjoint(gone)
        return along or (bool(new) and _is_misplaced(gone, new, first, rest))
    # "the payment [for a loan] of $40,000": what follows belongs to what went.
    if after == "of" != gone[0] and words[run.stop : run.stop + 1] == ["of"]:
        return True
    # "the Sony A7 [IV]": a number that is part of a name.
    if len(gone) == 1 and left == before and names[run.start - 1] and _NUMERAL.fullmatch(gone[0]):
        return True
    noun_follows = is_content(after) or after in ("one", "ones", "other", "same")
    # "become a [doctor] in Berlin", "did the [League or the Avengers] come": an article without its noun.
    if left in DETERMINERS and left == before and is_content(gone[0]):
        return not noun_follows or not lexicon.PHRASE_OPENERS.isdisjoint(gone)
    # "real-[time] databases", "example that [is] rejected": what ties two words together.
    hyphen = left == before == "-" or words[run.stop : run.stop + 1] == ["-"]
    if hyphen or (before and (noun_follows or after in DETERMINERS) and LINKS.issuperset(gone)):
        return True
    # "who doesn't have [to pay the fee]?", "what would fifty [posters cost]?": the verb went along.
    if after in ENDS and ((gone[0] == "to" and before in _BEFORE_TO) or _lacks_verb(first)):
        return True
    # "how many [chin] tucks": half a compound; but of a known thing "the [wedding] cake", and "[Wilbur] Wright".
    adjacent = run.stop < len(words) and words[run.stop] == after and is_content(after) and not names[run.stop]
    named = all(names[run]) and not names[run.start - 1] and left not in AUXILIARIES  # "two [Sonos] speakers"
    if adjacent and before and left not in _KNOWN_THINGS and all(map(is_content, gone)) and not named:
        return True
    # "help [Lewis and] Clark", "what were [Ching Shih's] laws": half of what belongs together.
    pair = gone[-1] in ("and", "or") and is_content(gone[0])
    owner = gone[-1] == "s" and not lexicon.APOSTROPHES.isdisjoint(gone[-2:]) and before not in DETERMINERS
    return noun_follows and (pair or owner)


def _is_misplaced(gone: Sequence[str], new: tuple[str, ...], first: Sequence[str], rest: Sequence[str]) -> bool:
    """Return whether the new words cannot stand where they would, between the ``first`` words and the ``rest``."""
    before, after = first[-1], rest[0]
    # "How many [calories does rowing: what about] burn": these open a question, and then something is asked about.
    # "[Can it run: what about] faster than a horse", "[how many: and] cans does it hold": not half of another question.
    if new[:2] in _OPENINGS or new in _OPENINGS:
        verb = any(is_content(one) and other in _HELPING_VERBS for one, other in pairwise(rest))
        half = verb or "than" in rest[:2] or not _PARTICLES.isdisjoint(rest[1:2])
        half |= after in AUXILIARIES or after in ("to", "be", "?")
        return gone[0] not in JOINTS and (before not in _BEFORE_OPENING or half)
    # "they haven" without "'t"; two subjects side by side; "while [the lake is frozen: it's]?".
    if new[-1] in _NEGATED and rest[:1] not in (["'"], ["’"]):
        return True
    if (new[-1] in _SUBJECTS and after in _SUBJECTS | {"i", "you", "we"}) or (new[-2:] == ("'", "s") and after in ENDS):
        return True
    # "how long was [the Wall in 1989: then]": a time alone is then.
    if new[-1] == "then" and gone[0] not in _BEFORE_TIME:
        return True
    # "if [the cyclist has: do they] no insurance": a question's order inside a clause. "if [it rains: they]?": no verb.
    alone = len(new) == 1 and new[0] in lexicon.PRONOUNS
    if before in lexicon.SUBORDINATORS and (new[0] in AUXILIARIES or (alone and after in ENDS and before != "that")):
        return True
    # "did the sponge [divers: they] find", "if she [sells the car: it]?": two subjects. "any [Abba: their] songs".
    opened = is_content(before) and (first[-2] in DETERMINERS or (first[-2] in AUXILIARIES and first[-3] in _ASKING))
    subject = before in _SUBJECTS or opened
    if (alone and new[0] in _SUBJECTS and subject) or (before in _QUANTIFIERS and new[-1] in _OWNERS_AND_ONE):
        return True
    # "take my name [off the list: it off]": the pronoun stands beside another object.
    if new[:1] in _OBJECTS_OF_VERBS and new[-1] in _PARTICLES and first[-2:-1] != [] and first[-2] in DETERMINERS:
        return True
    # "has to [repeat a year: one]": the verb went along.
    wants = new == ("one",) or first[-2:-1] in (["has"], ["have"], ["had"])
    if before == "to" and alone and wants and is_content(gone[0]) and not DETERMINERS.isdisjoint(gone):
        return True
    # "the role [of toilets: their] in film": a possessive without its noun.
    if new[-1] in _OBJECTS and _ends_phrase(after) and gone[0] in _BARE_OPENERS:
        return True
    # "reach [the: there] Moon", "how much [Red Bull: it] can you": a pronoun has no noun and no quantity with it.
    counted = len(new) == 1 and before in _OWNERS_AND_COUNTS
    torn = "-" in (gone[0], gone[-1], before, after)  # "did [Yeong-: she] hye"
    if torn or (new[-1] in _STANDING_ALONE and ((gone[-1] in DETERMINERS and is_content(after)) or counted)):
        return True
    # "Can [my landlord raise the rent: that] in Berlin?", "does [oat milk froth: it] better": the verb went along.
    return before in _HELPING_VERBS and after in _AFTER_LOST_VERB and len(gone) > 2


def _lacks_verb(first: Sequence[str]) -> bool:
    """Return whether nothing that may be a verb follows the helping verb of a question with a question word."""
    helping = next((at for at, word in enumerate(first) if word in _HELPING_VERBS), len(first))
    rest = first[helping + 1 :]
    verb = any((is_content(word) and not lexicon.is_number(word)) or word in AUXILIARIES for word in rest)
    return bool(rest) and not verb and first[1] in lexicon.QUESTION_WORDS


def _is_kept_t(at: int, ops: Ops, words: Sequence[str]) -> bool:
    """Return whether "'t" stands at ``at``, and stays."""
    return words[at : at + 2] in (["'", "t"], ["’", "t"]) and ops[at] == Op.KEEP


def _is_verb(at: int, ops: Ops, words: Sequence[str]) -> bool:
    """Return whether the word at ``at``, before a particle, is kept and may be its verb: no noun, no verb of motion."""
    verb = is_content(words[at]) and words[at] not in lexicon.MOTIONS and words[at - 1] not in DETERMINERS
    return at > 0 and ops[at] == Op.KEEP and verb


def _is_free(at: int, beyond: int, ops: Ops, fixed: Collection[int]) -> bool:
    """Return whether the word at ``at`` stays, may be changed, and is not followed ``beyond`` by one that is replaced.

    Two runs of SUBSTITUTEs side by side would be one with two phrases.
    """
    replaced = 0 <= beyond < len(ops) and ops[beyond] == Op.SUBSTITUTE
    return at < len(ops) and ops[at] == Op.KEEP and not replaced and at not in fixed


def _ends_phrase(after: str) -> bool:
    return after in LINKS or after in ENDS or after in JOINTS or after in lexicon.SUBORDINATORS


def _list_kept(words: Sequence[str], ops: Sequence[int], start: int, stop: int) -> list[str]:
    return [words[at] for at in range(start, stop) if ops[at] not in GONE]


def _find_next(start: int, ops: Sequence[int], words: Sequence[str]) -> str:
    """Return the next word that stays, from ``start`` on; a mark where none does."""
    return next(iter(_list_kept(words, ops, start, len(ops))), "?")
