"""Edits that leave no English are mended or undone: the question's own words are always right.

A network decides word by word; what it leaves between its edits may be no sentence. Each check looks at one run of
edits and what stands around it, and goes by forms alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from riseq.core.edits import DELETE, GONE, Edit, Op, Ops, find_runs, set_run
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
    broken = find_runs(ops, GONE, alike=True)
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
        mended[start:stop] = [Edit(Op.SUBSTITUTE, phrase), *[Edit(Op.SUBSTITUTE)] * (stop - start - 1)]
        if not phrase:
            mended[start:stop] = [DELETE] * (stop - start)
    return mended


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
    if (left == "-" and before == "-") or words[run.stop : run.stop + 1] == ["-"]:
        return True
    if before and noun_follows and all(word in LINKS for word in gone):
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
    if new[-1] in _STANDING_ALONE and gone[-1] in DETERMINERS and is_content(after):
        return True
    if len(new) == 1 and new[0] in _STANDING_ALONE and before in _OWNERS | {"much", "many"}:
        return True
    # "Can [my landlord raise the rent: that] in Berlin?": the verb went along.
    return before in AUXILIARIES - _MAIN_VERBS and after in ENDS | PREPOSITIONS and len(gone) > 2


def _ends_phrase(after: str) -> bool:
    return after in LINKS or after in ENDS or after in JOINTS


def _find_next(start: int, ops: Sequence[int], words: Sequence[str]) -> str:
    """Return the next word that stays, from ``start`` on; a mark where none does."""
    return next((words[at] for at in range(start, len(ops)) if ops[at] not in GONE), "?")
