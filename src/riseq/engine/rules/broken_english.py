"""Edits that leave no English, or leave words stranded, are mended or undone: the question's own words are right.

A network decides word by word; what it leaves between its edits may be no sentence. Each check looks at one run of
edits and what stands around it, goes by forms alone, and did not lower the scores on CANARD's development set.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from riseq.core.edits import DELETE, GONE, KEEP, Edit, Op, Ops, find_runs, set_run
from riseq.text import lexicon
from riseq.text.lexicon import ARTICLES, AUXILIARIES, DETERMINERS, ENDS, JOINTS, LINKS, PREPOSITIONS, is_content

_STANDING_ALONE = lexicon.PERSONAL_FORMS - lexicon.DETERMINERS - {"hers", "theirs"} | {"there", "one"}
_OBJECTS = {"its": "it", "their": "them"}
_OWNERS = DETERMINERS - ARTICLES - lexicon.DEMONSTRATIVES
_OPENINGS = frozenset({("what", "about"), ("how", "about"), ("and",)})
_MAIN_VERBS = frozenset({"am", "is", "are", "was", "were", "has", "have", "had"})


def undo_broken_runs(
    ops: Ops, words: Sequence[str], phrases: Sequence[Sequence[str]], fixed: Collection[int] = ()
) -> None:
    """Keep, in place, the runs of words that cannot go, or be replaced so, without breaking the sentence.

    "under the [Marshall Plan]?", "reply to [an email]?": small words before what is deleted go too, but ``fixed`` ones.
    """
    for run in find_runs(ops, (Op.DELETE,)):
        start, after = run.start, _find_next(run.stop, ops, words)
        if (is_content(words[start]) or words[start] in DETERMINERS) and after in ENDS | PREPOSITIONS:
            start -= words[start - 1] in ARTICLES
            along = slice(start - 1, run.stop)
            free = ops[start - 1] == Op.KEEP and not any(along.start <= at < run.start for at in fixed)
            if words[start - 1] in LINKS - AUXILIARIES and start > 3 and free:
                set_run(ops, along, Op.DELETE)
    broken = [slice(0)]
    while broken:
        runs = find_runs(ops, GONE, alike=True)
        broken = [run for run in runs if _is_broken(run, ops, words, tuple(phrases[run.start]))]
        for run in broken:
            set_run(ops, run, Op.KEEP)
    if ops[0] == Op.KEEP and ops[1:2] == [Op.DELETE] and _find_next(1, ops, words) in ("about", "than", "of"):
        set_run(ops, slice(0, len(ops)), Op.KEEP)


def mend_phrases(words: Sequence[str], edits: Sequence[Edit], fixed: Collection[int] = ()) -> list[Edit]:
    """Return the edits with phrases that fit where they stand; ``fixed`` positions are kept.

    - "[What is the limit: about] in Poland?": what is asked so begins with what.
    - "was the [telescope: one] built", "joined [the OECD: their] since": it, them.
    - "if [the seller: they] has left": they have.
    - "increase my [melatonin: the] levels": one word before the noun is enough.
    """
    mended, ops = list(edits), [int(edit.op) for edit in edits]
    for run in find_runs(ops, (Op.SUBSTITUTE,)):
        phrase, after = edits[run.start].phrase, _find_next(run.stop, ops, words)
        left, start, stop = words[run.start - 1], run.start, run.stop
        if phrase == ("about",) and start == 1:
            phrase = ("what", "about")
        elif "the" in (left, *phrase[:1]) and phrase[-1:] == ("one",) and after not in lexicon.PHRASE_OPENERS:
            article = left == "the" and ops[start - 1] == Op.KEEP
            phrase, start = (phrase, start) if article and start - 1 in fixed else (("it",), start - article)
        elif phrase[-1:] in (("its",), ("their",)) and _ends_phrase(after):
            phrase = (*phrase[:-1], _OBJECTS[phrase[-1]])
        elif phrase == ("they",) and after == "has" and ops[stop] == Op.KEEP and stop not in fixed:
            phrase, stop = ("they", "have"), stop + 1
        elif phrase == ("the",) and left in _OWNERS:
            phrase = ()
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
        if end - start == 1 and words[start].isdigit() and kept_after and words[end] not in ENDS:
            repaired[start] = KEEP
            continue
        if end - start > 1 and words[end - 1] in PREPOSITIONS and kept_after and words[end] in DETERMINERS:
            repaired[end - 1] = KEEP
        at_end = end == len(words) or (end == len(words) - 1 and words[end] in ENDS and repaired[end].op is Op.KEEP)
        object_gone = words[start] not in ENDS and words[1] not in lexicon.OBJECT_QUESTION_WORDS
        free = before > 1 and repaired[before].op is Op.KEEP and before not in fixed
        if at_end and object_gone and free and words[before] in PREPOSITIONS:
            repaired[before] = DELETE
    return repaired


def _is_broken(run: slice, ops: Ops, words: Sequence[str], new: tuple[str, ...]) -> bool:
    before = next((words[at] for at in range(run.start - 1, 0, -1) if ops[at] not in GONE), "")
    after, gone, left = _find_next(run.stop, ops, words), words[run], words[run.start - 1]
    if ops[run.start] == Op.SUBSTITUTE:
        return bool(new) and _is_misplaced(gone, new, before, after)
    noun_follows = is_content(after) or after in ("one", "ones", "other", "same")
    # "become a [doctor] in Berlin", "did the [League or the Avengers] come": an article without its noun.
    if left in DETERMINERS and left == before and is_content(gone[0]):
        return not noun_follows or not lexicon.PHRASE_OPENERS.isdisjoint(gone)
    # "real-[time] databases", "example that [is] rejected": what ties two words together.
    hyphen = left == before == "-" or words[run.stop : run.stop + 1] == ["-"]
    if hyphen or (before and noun_follows and LINKS.issuperset(gone)):
        return True
    # "help [Lewis and] Clark", "what were [Ching Shih's] laws": half of what belongs together.
    pair = gone[-1] in ("and", "or") and is_content(gone[0])
    owner = gone[-1] == "s" and not lexicon.APOSTROPHES.isdisjoint(gone[-2:]) and before not in DETERMINERS
    return noun_follows and (pair or owner)


def _is_misplaced(gone: Sequence[str], new: tuple[str, ...], before: str, after: str) -> bool:
    """Return whether the new words cannot stand where they would."""
    # "How many [calories does rowing: what about] burn": these open a question, and then something is asked about.
    if new[:2] in _OPENINGS or new in _OPENINGS:
        return gone[0] not in JOINTS and (before not in {"", *ENDS} or after in ("to", "be", "?"))
    # "the role [of toilets: their] in film": a possessive without its noun.
    if new[-1] in _OBJECTS and _ends_phrase(after) and gone[0] in lexicon.PHRASE_OPENERS - DETERMINERS:
        return True
    # "reach [the: there] Moon", "how much [Red Bull: it] can you": a pronoun has no noun and no quantity with it.
    counted = len(new) == 1 and before in _OWNERS | {"much", "many"}
    if new[-1] in _STANDING_ALONE and ((gone[-1] in DETERMINERS and is_content(after)) or counted):
        return True
    # "Can [my landlord raise the rent: that] in Berlin?": the verb went along.
    return before in AUXILIARIES - _MAIN_VERBS and after in ENDS | PREPOSITIONS and len(gone) > 2


def _ends_phrase(after: str) -> bool:
    return after in LINKS or after in ENDS or after in JOINTS


def _find_next(start: int, ops: Sequence[int], words: Sequence[str]) -> str:
    """Return the next word that stays, from ``start`` on; a mark where none does."""
    return next((words[at] for at in range(start, len(ops)) if ops[at] not in GONE), "?")
