"""Rules for neighbouring words: a network decides word by word, and these make its decisions fit each other.

Each works on the operations of one row, the marker's first, in place; ``riseq.engine.decisions`` has their order.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import GONE, Op, Ops, find_run, find_runs, set_run, split_run
from riseq.engine.backends import ScoreArray
from riseq.text.lexicon import AUXILIARIES, DETERMINERS, PREPOSITIONS, SECOND_VERBS, is_word

SURE_OF_NAME = 3.0
"""By how much, in log-odds, keeping the rest of a name has to be more probable than replacing it; chosen on dev."""


def bar_protected(scores_WE: ScoreArray, barred_WE: NDArray[np.bool_]) -> None:
    """Rule out the ``barred`` edits, which touch protected words, and all others of a run that has such edits."""
    for run in find_runs(scores_WE.argmax(-1).tolist()):
        if barred_WE[run, Op.DELETE].any():
            barred_WE[run, Op.DELETE :] = True
    scores_WE[barred_WE] = -np.inf


def complete_names(scores_WE: ScoreArray, ops: Ops, names: Sequence[bool]) -> None:
    """Replace the rest of a name of which a part is replaced: "Did [Richard] he Nixon travel?".

    A word of it is kept all the same where the network is sure that it stays.
    """
    for index in [index for index, op in enumerate(ops) if op == Op.SUBSTITUTE and names[index]]:
        for side in (range(index - 1, 1, -1), range(index + 1, len(ops))):
            for other in side:
                likely = scores_WE[other, Op.SUBSTITUTE] - scores_WE[other, Op.KEEP] > -SURE_OF_NAME
                if not names[other] or (ops[other] == Op.KEEP and not likely):
                    break
                ops[other] = Op.SUBSTITUTE


def unite_blocks(scores_WE: ScoreArray, ops: Ops, words: Sequence[str]) -> None:
    """Make neighbours that go, some deleted and some replaced, all go the more probable way.

    A block of the kind the network learned from is all DELETE or all SUBSTITUTE (``riseq.core.edits.merge``), so one of
    both kinds is its doubt between the two: "the album [Abbey: DELETE] [Road: it]" would be read as "the album it".
    Where it begins to replace a noun phrase at its article the whole is replaced: "What were [the: they] [pilots:
    DELETE] called?" needs its subject.
    """
    if not (Op.DELETE in ops and Op.SUBSTITUTE in ops):
        return
    for run in find_runs(ops, GONE):
        if len(set(ops[run])) > 1:
            of_all = scores_WE[run].sum(0)
            head = words[run.start] in DETERMINERS and ops[run.start] == Op.SUBSTITUTE
            deleted = of_all[Op.DELETE] > of_all[Op.SUBSTITUTE] and not head
            set_run(ops, run, Op.DELETE if deleted else Op.SUBSTITUTE)


def substitute_subject(ops: Ops, words: Sequence[str]) -> None:
    """Replace a subject that would be deleted between two verbs: "Can [type 2 diabetes] be reversed?".

    Only where the second is surely a verb: of "Did [Richard] Nixon travel?" the subject is still there.
    """
    if Op.DELETE not in ops:
        return
    first = next((index for index, word in enumerate(words) if word in AUXILIARIES), len(words))
    run = find_run(ops, first + 1, (Op.DELETE,))
    if run.start < run.stop < len(words) and words[run.stop] in SECOND_VERBS and ops[first] == ops[run.stop] == Op.KEEP:
        set_run(ops, run, Op.SUBSTITUTE)


def undo_weak_runs(scores_WE: ScoreArray, ops: Ops, shift: float) -> None:
    """Keep the runs of neighbours whose edits are on average less than ``shift`` better than keeping them."""
    for run in find_runs(ops):
        better = scores_WE[range(run.start, run.stop), ops[run]] - scores_WE[run, Op.KEEP]
        if better.mean() < shift:
            set_run(ops, run, Op.KEEP)


def undo_scraps(strong: Ops, plain: Ops, words: Sequence[str]) -> None:
    """Undo deletions that only a higher strength wants, but for whole phrases with a preposition.

    What the network would keep it rarely deletes rightly: without its subject "Can type 2 diabetes be reversed?" is no
    question, "in Berlin" can go. A phrase ends before the next preposition, a mark, or what goes at any strength; as
    none of that depends on the strength, a higher one still never keeps more.
    """
    new = [now != Op.KEEP and before == Op.KEEP for now, before in zip(strong, plain, strict=True)]
    for run in find_runs(new, among=(True,)):
        for phrase in split_run(run, lambda index: words[index] in PREPOSITIONS):
            end = phrase.stop
            closed = end == len(words) or words[end] in PREPOSITIONS or not is_word(words[end]) or plain[end] != Op.KEEP
            if Op.SUBSTITUTE not in strong[phrase] and not (closed and words[phrase.start] in PREPOSITIONS):
                set_run(strong, phrase, Op.KEEP)


def leaves_word(ops: Ops, words: Sequence[str]) -> bool:
    """Return whether a word is kept or brought in, what stands past the row's end counted; a mark is no question."""
    if Op.INSERT in ops or Op.SUBSTITUTE in ops:
        return True
    kept = [word for word, op in zip(words[1:], ops[1:], strict=False) if op == Op.KEEP]
    return any(map(is_word, (*kept, *words[len(ops) :])))
