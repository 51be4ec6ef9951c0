"""From a network's scores to edits: scores, decisions at each word, rules in their order, and the phrases."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from riseq.controls import NEUTRAL
from riseq.core.edits import DELETE, KEEP, Edit, Op, Ops, find_runs
from riseq.core.phrases import PhraseVocabulary
from riseq.engine.backends import BatchScores, ScoreArray
from riseq.engine.confidence import measure_pass
from riseq.engine.drafts import Choice, Draft
from riseq.engine.rules import neighbours
from riseq.engine.rules.broken_english import undo_broken_runs
from riseq.engine.rules.new_information import keep_new_information, keep_unsaid
from riseq.engine.rules.two_candidates import keep_candidates
from riseq.model.inputs import Batch, Condition, SpanBatch
from riseq.text.lexicon import is_word

Span = tuple[int, int, int, int]
"""A phrase is wanted here: the row, the first word, and the pieces from the first to past the last."""
BestPhrase = tuple[int, float]
"""A phrase's id and its probability."""
_WITHOUT_PHRASE = (KEEP, DELETE, Edit(Op.INSERT), Edit(Op.SUBSTITUTE))
"""The edits without a phrase, by their ``Op``."""
_KEEPS_WORD = np.array([op in (Op.KEEP, Op.INSERT) for op in Op], dtype=np.float32)

# On CANARD's dev set the log-odds of an edit against KEEP lie between -7 and 7, half of them beyond 5. At +7 hardly any
# edit is left; at -2 what the network was in two minds about goes and what it is sure of stays.
_MILDEST, _STRONGEST = 7.0, -2.0


def find_shift(strength: float) -> float:
    """Return what ``strength`` adds to the log-probability of KEEP: linear on both sides of ``NEUTRAL``."""
    share = 1 - strength / NEUTRAL
    return share * _MILDEST if share > 0 else -share * _STRONGEST


def decide(scores_BWE: ScoreArray, drafts: Sequence[Draft], shift: float = 0.0, sureness: float = 0.0) -> list[Ops]:
    """Return the operation at each word, when ``shift`` is added to the log-probability of keeping it.

    Neighbours that go are deleted together or replaced together, and a name is replaced whole. A run of neighbours that
    would be edited is undone as one, where a shift above 0 outweighs its edits on average: half a name is no milder
    form. A lower shift never keeps a word that a higher one takes, unless no word would be left of the question: then
    it has the edits of no shift. A shift below 0 leaves marks alone, for a question is no stronger without its "?", and
    deletes no scraps of phrases. Protected words are kept, nothing is put inside them, and what would have gone with
    them stays: "the" of "the Eiffel Tower". With a ``sureness`` above 0 what only the question says stays too, where
    the draft is not grounded, for which ``choose_phrases`` sees to it; see ``riseq.engine.rules.new_information``.
    """
    pairs = zip(scores_BWE, drafts, strict=True)
    return [_decide_row(scores_WE[: len(draft.cuts)], draft, shift, sureness) for scores_WE, draft in pairs]


def _decide_row(scores_WE: ScoreArray, draft: Draft, shift: float, sureness: float) -> Ops:
    if draft.protect:
        scores_WE = scores_WE.copy()
        neighbours.bar_protected(scores_WE, draft.barred[: len(scores_WE)])
    words = draft.words[: len(scores_WE)]
    ops: Ops = scores_WE.argmax(-1).tolist()
    _fit_neighbours(scores_WE, ops, draft, words)
    if shift > 0:
        neighbours.undo_weak_runs(scores_WE, ops, shift)
    elif shift < 0:
        ops = _strengthen(scores_WE, ops, draft, words, shift)
    if sureness > 0 and draft.dialogue.has_answers and draft.condition is not Condition.GROUNDED:
        keep_new_information(scores_WE, ops, words, draft.dialogue, sureness)
    return ops


def _fit_neighbours(scores_WE: ScoreArray, ops: Ops, draft: Draft, words: Sequence[str]) -> None:
    """Make, in place, the operations of neighbours fit each other."""
    if Op.SUBSTITUTE in ops:
        neighbours.complete_names(scores_WE, ops, draft.names)
    neighbours.unite_blocks(scores_WE, ops, words)
    neighbours.substitute_subject(ops, words)


def _strengthen(scores_WE: ScoreArray, plain: Ops, draft: Draft, words: Sequence[str], shift: float) -> Ops:
    """Return the operations under a ``shift`` below 0; ``plain`` are those of none."""
    shifted_WE = scores_WE.copy()
    # INSERT keeps its word too: what asks for less must not get more words put in instead.
    shifted = [index for index, word in enumerate(words) if index and is_word(word)]
    shifted_WE[shifted] += np.float32(shift) * _KEEPS_WORD
    strong: Ops = shifted_WE.argmax(-1).tolist()
    neighbours.undo_scraps(strong, plain, words)
    _fit_neighbours(shifted_WE, strong, draft, words)
    return strong if neighbours.leaves_word(strong, draft.words) else plain


def choose_phrases(
    batch: Batch,
    scores: BatchScores,
    phrases: PhraseVocabulary,
    layers: Sequence[Sequence[Ops]],
    drafts: Sequence[Draft] = (),
) -> list[list[Choice]]:
    """Return for each layer of operations the edits of each row with their best phrases.

    Phrases are scored once for all layers, and not at all where none is wanted. Of the ``drafts`` that are grounded
    what nobody said stays, and the name of one of two candidates.
    """
    spans_L = [[span for row, ops in enumerate(rows) for span in find_row_spans(batch, row, ops)] for rows in layers]
    best = _find_best_phrases(scores, [span for spans in spans_L for span in spans])
    counts = batch.words_B.tolist()
    scores_B = [scores_WE[:count].tolist() for scores_WE, count in zip(scores.edits_BWE, counts, strict=True)]
    chosen = []
    for rows, spans in zip(layers, spans_L, strict=True):
        best_RW = {(row, word): best[row, start, end] for row, word, start, end in spans}
        new = {key: phrases[phrase] for key, (phrase, _) in best_RW.items()}
        pairs = enumerate(zip(rows, drafts, strict=False))
        kept = [_keep_grounded(ops, draft, row, new) for row, (ops, draft) in pairs]
        chosen.append(_choose_layer(scores_B, phrases, kept or rows, best_RW))
    return chosen


def _keep_grounded(ops: Ops, draft: Draft, row: int, new: Mapping[tuple[int, int], tuple[str, ...]]) -> Ops:
    """Return the operations without those that a grounded draft must not have, by what is ``new`` at row and word."""
    words = draft.words[: len(ops)]
    if draft.condition is not Condition.GROUNDED or not any(ops):
        return ops
    kept = list(ops)
    phrases = [new.get((row, word), ()) if op != Op.KEEP else () for word, op in enumerate(ops)]
    keep_unsaid(kept, words, phrases, draft.names, draft.question_words, draft.dialogue)
    keep_candidates(kept, words, phrases, draft.dialogue)
    undo_broken_runs(kept, words, phrases, draft.names, draft.fixed)
    return kept


def find_row_spans(batch: Batch, row: int, ops: Ops) -> Iterator[Span]:
    """Yield the spans of one row's edits: those of ``inputs.find_spans``, for a few rows in a tenth of its time."""
    if Op.INSERT not in ops and Op.SUBSTITUTE not in ops:
        return
    firsts = batch.firsts_BW[row].tolist()
    for run in find_runs(ops, (Op.INSERT, Op.SUBSTITUTE), alike=True):
        if ops[run.start] == Op.SUBSTITUTE:
            yield row, run.start, firsts[run.start], firsts[run.stop]
            continue
        for word in range(run.start, run.stop):
            # The neighbour of the last word is the last [SEP].
            yield row, word, firsts[word], firsts[word + 2] if word + 2 <= len(ops) else int(batch.lengths_B[row])


def _find_best_phrases(scores: BatchScores, spans: Iterable[Span]) -> dict[tuple[int, int, int], BestPhrase]:
    """Return the best phrase of each span, by its row and pieces; a span of several layers is scored once."""
    wanted = {(row, start, end): word for row, word, start, end in spans}
    if not wanted:
        return {}
    row_N, start_N, end_N = np.array(list(wanted), dtype=np.int64).T
    scores_NP = scores.score_phrases(SpanBatch(row_N, np.array(list(wanted.values())), start_N, end_N))
    found = zip(wanted, scores_NP.argmax(-1).tolist(), scores_NP, strict=True)
    return {key: (phrase, math.exp(scores_P[phrase])) for key, phrase, scores_P in found}


def _choose_layer(
    scores_B: Sequence[Sequence[Sequence[float]]],
    phrases: PhraseVocabulary,
    rows: Sequence[Ops],
    best: Mapping[tuple[int, int], BestPhrase],
) -> list[Choice]:
    """Return the choice of each row, by the scores of its words and the ``best`` phrase at each row and word.

    Where an edit has a phrase, the phrase's probability counts too, all along its run.
    """
    choices = []
    for row, (scores_WE, ops) in enumerate(zip(scores_B, rows, strict=True)):
        logs = [scores_E[op] for scores_E, op in zip(scores_WE, ops, strict=True)]
        best_W = [best.get((row, word)) if op != Op.KEEP else None for word, op in enumerate(ops)]
        log_of_phrases = sum(float(np.log(one[1])) for one in best_W if one is not None)
        edits: list[Edit] = []
        joint: list[float] = []
        of_phrase = 1.0
        for op, log, phrase in zip(ops, logs, best_W, strict=True):
            of_phrase = of_phrase if phrase is None else phrase[1]
            edits.append(_WITHOUT_PHRASE[op] if phrase is None else Edit(Op(op), phrases[phrase[0]]))
            joint.append(math.exp(log) * of_phrase if op in (Op.INSERT, Op.SUBSTITUTE) else math.exp(log))
        features = measure_pass(scores_WE, ops, log_of_phrases)
        choices.append(Choice(edits, joint, sum(logs) + log_of_phrases, features))
    return choices
