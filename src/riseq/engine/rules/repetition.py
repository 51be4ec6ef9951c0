"""What is put into a question twice: words that come back from the dialogue are wanted once."""

from collections.abc import Sequence
from itertools import pairwise

from riseq.core.edits import KEEP, STAYS, Edit, Op, find_run, find_runs
from riseq.text.lexicon import APOSTROPHES, PRONOUNS, QUESTION_WORDS, SUBORDINATORS, find_stem, is_content, is_word

_LIKELY = 0.5
"""Of two pronouns that would get one name, the likelier gets it only if it is this likely."""
_LEAST_AGAIN = 0.3
"""How likely a name of one word has to be for a second "it", in another clause: that may be something else."""
_CLAUSE_STARTS = QUESTION_WORDS | SUBORDINATORS | {"and", "or", "but", "before", "after", "until"}


def drop_repeated(words: Sequence[str], edits: Sequence[Edit], probabilities: Sequence[float]) -> list[Edit]:
    """Return the edits of ``words`` without the insertions of which all that tells something is said elsewhere.

    Where two say the same, the less probable one goes.
    """
    chosen = list(edits)
    said = [
        _find_content([word]) if edit.op in (Op.KEEP, Op.INSERT) else set()
        for word, edit in zip(words, edits, strict=True)
    ]
    put_in = [_find_content(edit.phrase) for edit in edits]
    inserted = [at for at, edit in enumerate(edits) if edit.op is Op.INSERT and put_in[at]]
    for at in sorted(inserted, key=lambda at: probabilities[at]):
        others = set[str]().union(*said, *put_in[:at], *put_in[at + 1 :])
        if put_in[at] <= others:
            chosen[at], put_in[at] = Edit(Op.KEEP), set()
    return chosen


def name_once(words: Sequence[str], edits: Sequence[Edit], probabilities: Sequence[float]) -> list[Edit]:
    """Return the edits of ``words`` with each mention in the place of one pronoun of a clause: nobody beats himself.

    Of two the less probable one is undone, and both where neither is likely; so is one that names what its clause names
    already. A mention of several words is wanted once in the whole question.
    """
    chosen = list(edits)
    ops = [edit.op for edit in edits]
    replacing = [at for at, edit in enumerate(edits) if edit.op is Op.SUBSTITUTE and _is_mention(edit.phrase)]
    for at in sorted(replacing, key=lambda at: probabilities[at]):
        content = list(filter(is_content, edits[at].phrase))
        twins = [k for k in replacing if k != at and chosen[k].phrase == edits[at].phrase]
        if len(content) == 1 and not (words[at] == "it" and probabilities[at] < _LEAST_AGAIN):
            twins = [k for k in twins if _share_clause(words, at, k)]
        unlikely = [k for k in twins if probabilities[k] < _LIKELY]
        if twins or set(content) <= _find_said(words, chosen, at):
            for one in (at, *(unlikely if unlikely == twins else ())):
                run = find_run(ops, one, (Op.SUBSTITUTE,))
                chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen


def _is_mention(phrase: Sequence[str]) -> bool:
    """Return whether a phrase names something and not whose something is, as a clause may name its owner too."""
    return any(map(is_content, phrase)) and APOSTROPHES.isdisjoint(phrase[-2:])


def _share_clause(words: Sequence[str], one: int, other: int) -> bool:
    between = words[min(one, other) + 1 : max(one, other)]
    return all(is_word(word) and word not in _CLAUSE_STARTS for word in between)


def _find_said(words: Sequence[str], edits: Sequence[Edit], at: int) -> set[str]:
    """Return what the clause around ``at`` says of its own."""
    around = [k for k in range(1, len(words)) if k != at and edits[k].op in STAYS]
    return {words[k] for k in around if _share_clause(words, at, k)}


def repeats_itself(words: Sequence[str]) -> bool:
    """Return whether two neighbouring content words, or any three words, are said twice: nobody asks so.

    >>> repeats_itself("did rosalind franklin ever get credit for rosalind franklin ?".split())
    True
    """
    pairs = [pair for pair in pairwise(words) if all(map(is_content, pair))]
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return len(set(pairs)) < len(pairs) or len(set(triples)) < len(triples)


def _find_content(words: Sequence[str]) -> set[str]:
    return {find_stem(word) for word in words if is_content(word)}


def keep_answered(words: Sequence[str], edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits of ``words`` without mentions that the question has before the pronoun they would replace.

    "My daughter is five. Does she pay?" needs nothing. "It" may mean another thing than the one just named.
    """
    chosen = list(edits)
    for run in find_runs([edit.op for edit in edits], (Op.SUBSTITUTE,)):
        said = {word for word, edit in zip(words[: run.start], edits, strict=False) if edit.op in STAYS}
        content = set(filter(is_content, edits[run.start].phrase))
        if content and content <= said and words[run.start] in PRONOUNS - {"it", "its"}:
            chosen[run] = [KEEP] * (run.stop - run.start)
    return chosen
