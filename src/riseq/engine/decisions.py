"""From a network's scores to edits: scores, decisions at each word, rules in their order, and the phrases."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riseq.controls import NEUTRAL
from riseq.core.edits import DELETE, KEEP, Edit, Op, Ops, find_run, find_runs, set_run
from riseq.engine.backends import BatchScores, QueuedScores, ScoreArray
from riseq.engine.confidence import measure_passes, take_scores
from riseq.engine.drafts import Choice, Draft
from riseq.engine.phrasing import BestPhrase, Phrasing
from riseq.engine.rules import neighbours
from riseq.engine.rules.broken_english import undo_broken_runs
from riseq.engine.rules.new_information import keep_new_information, keep_unsaid
from riseq.engine.rules.own_verbs import keep_own_verb
from riseq.engine.rules.possessives import find_unnamed
from riseq.engine.rules.two_candidates import keep_candidates
from riseq.model.inputs import Batch, Condition, IntArray, SpanBatch
from riseq.text.lexicon import is_word

Span = tuple[int, int, int, int]
"""A phrase is wanted here: the row, the first word, and the pieces from the first to past the last."""
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
    likeliest = scores_BWE.argmax(-1).tolist()
    rows = zip(scores_BWE, likeliest, drafts, strict=True)
    return [_decide_row(scores_WE, ops[: len(draft.cuts)], draft, shift, sureness) for scores_WE, ops, draft in rows]


def _decide_row(scores_WE: ScoreArray, ops: Ops, draft: Draft, shift: float, sureness: float) -> Ops:
    """Return the operations of one row, of which ``ops`` are the likeliest."""
    scores_WE = scores_WE[: len(ops)]
    if draft.protect:
        scores_WE = scores_WE.copy()
        neighbours.bar_protected(scores_WE, draft.barred[: len(scores_WE)])
        ops = scores_WE.argmax(-1).tolist()
    if draft.direction == "resolve":
        return _decide_back(scores_WE, shift)
    if shift >= 0 and not any(ops):
        return ops  # no rule edits what the network keeps
    words = draft.words[: len(scores_WE)]
    _fit_neighbours(scores_WE, ops, draft, words)
    if shift > 0:
        neighbours.undo_weak_runs(scores_WE, ops, shift)
    elif shift < 0:
        ops = _strengthen(scores_WE, ops, draft, words, shift)
    if sureness > 0 and draft.dialogue.has_answers and draft.condition is not Condition.GROUNDED:
        keep_new_information(scores_WE, ops, words, draft.dialogue, sureness)
    return ops


def _decide_back(scores_WE: ScoreArray, shift: float) -> Ops:
    """Return the operations of a question that is resolved: the network's own, for the rules are those of simplifying.

    A shift above 0 undoes runs of edits as it does there; below 0 more is put in and replaced.
    """
    shifted_WE = scores_WE.copy()
    shifted_WE[:, Op.KEEP] += min(shift, 0.0)
    ops: Ops = shifted_WE.argmax(-1).tolist()
    if shift > 0:
        neighbours.undo_weak_runs(scores_WE, ops, shift)
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


@dataclass(frozen=True, slots=True)
class WantedPhrases:
    """Where the operations of each layer want phrases, whose scores may be under way."""

    spans_L: list[list[Span]]
    places: list[tuple[int, int, int]]
    """Row and pieces of each span that is scored: one of several layers is so once."""
    read: Callable[[], ScoreArray]


def start_phrases(batch: Batch, scores: BatchScores, layers: Sequence[Sequence[Ops]]) -> WantedPhrases:
    """Return which phrases the ``layers`` of operations want; where the backend can, they are being scored then."""
    spans_L = [[span for row, ops in enumerate(rows) for span in find_row_spans(batch, row, ops)] for rows in layers]
    wanted = {(row, start, end): word for spans in spans_L for row, word, start, end in spans}
    if not wanted:
        return WantedPhrases(spans_L, [], lambda: np.zeros((0, 0), dtype=np.float32))
    row_N, start_N, end_N = np.array(list(wanted), dtype=np.int64).T
    spans_N = SpanBatch(row_N, np.array(list(wanted.values())), start_N, end_N)
    read = scores.start_phrases(spans_N) if isinstance(scores, QueuedScores) else lambda: scores.score_phrases(spans_N)
    return WantedPhrases(spans_L, list(wanted), read)


def choose_phrases(
    batch: Batch,
    scores: BatchScores,
    phrasing: Phrasing,
    layers: Sequence[Sequence[Ops]],
    drafts: Sequence[Draft] = (),
    wanted: WantedPhrases | None = None,
) -> list[list[Choice]]:
    """Return for each layer of operations the edits of each row with their best phrases.

    Phrases are scored once for all layers, and not at all where none is wanted. Of the ``drafts`` that are grounded
    what nobody said stays, and the name of one of two candidates. Phrases are copied from what the drafts read.
    ``wanted`` is what ``start_phrases`` returned for the same layers, where it was called before.
    """
    wanted = wanted or start_phrases(batch, scores, layers)
    best = _find_best_phrases(wanted, phrasing, drafts)
    chosen = []
    for rows, spans in zip(layers, wanted.spans_L, strict=True):
        best_R: dict[int, dict[int, BestPhrase]] = {}
        for row, word, start, end in spans:
            best_R.setdefault(row, {})[word] = best[row, start, end]
        pairs = enumerate(zip(rows, drafts, strict=False))
        kept = [_correct_ops(ops, draft, best_R.get(row, {})) for row, (ops, draft) in pairs]
        chosen.append(_choose_layer(scores.edits_BWE, batch.words_B, kept or rows, best_R))
    return chosen


def _correct_ops(ops: Ops, draft: Draft, new: dict[int, BestPhrase]) -> Ops:
    """Return the operations as the rules have them that go by what is ``new`` at which word."""
    return _name_owners(ops, draft, new) if draft.direction == "resolve" else _keep_grounded(ops, draft, new)


def _keep_grounded(ops: Ops, draft: Draft, new: dict[int, BestPhrase]) -> Ops:
    """Return the operations without those that a grounded draft must not have, by what is ``new`` at which word.

    What replaces somebody and a verb gets that verb, in place.
    """
    if draft.condition is not Condition.GROUNDED or not any(ops):
        return ops
    kept, words = list(ops), draft.words[: len(ops)]
    for word, one in new.items():
        if ops[word] == Op.SUBSTITUTE:
            run = find_run(ops, word, (Op.SUBSTITUTE,))
            new[word] = one._replace(words=keep_own_verb(words, run, one.words))
    phrases = [new[word].words if word in new and op != Op.KEEP else () for word, op in enumerate(ops)]
    keep_unsaid(kept, words, phrases, draft.names, draft.question_words, draft.dialogue)
    keep_candidates(kept, words, phrases, draft.dialogue)
    undo_broken_runs(kept, words, phrases, draft.names, draft.fixed)
    return kept


def _name_owners(ops: Ops, draft: Draft, new: dict[int, BestPhrase]) -> Ops:
    """Return the operations of a resolved question without those that lose whose something is.

    Where the network knows somebody, ``new`` gets the name, in place; else the possessive stays.
    """
    kept = list(ops)
    phrases = {word: one.words for word, one in new.items() if ops[word] != Op.KEEP}
    for word in find_unnamed(draft.words, ops, phrases):
        if (owner := new[word].owner) is not None:
            new[word] = owner
        else:
            set_run(kept, find_run(ops, word, (Op.SUBSTITUTE,)), Op.KEEP)
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


def _find_best_phrases(
    wanted: WantedPhrases, phrasing: Phrasing, drafts: Sequence[Draft]
) -> dict[tuple[int, int, int], BestPhrase]:
    """Return the best phrase of each span, by its row and pieces."""
    if not wanted.places:
        return {}
    rows = dict.fromkeys(row for row, *_ in wanted.places)
    read = {row: drafts[row].read_words if phrasing.copies else [] for row in rows}
    best = phrasing.find_best(wanted.read(), [read[row] for row, *_ in wanted.places])
    return dict(zip(wanted.places, best, strict=True))


def _choose_layer(
    scores_BWE: ScoreArray,
    words_B: IntArray,
    rows: Sequence[Ops],
    best_R: Mapping[int, Mapping[int, BestPhrase]],
) -> list[Choice]:
    """Return the choice of each row, by the scores of its words and the ``best`` phrase at each row and word.

    Where an edit has a phrase, the phrase's probability counts too, all along its run.
    """
    width = scores_BWE.shape[1]
    ops_BW = np.array([ops + [0] * (width - len(ops)) for ops in rows])
    logs_BW = take_scores(scores_BWE, ops_BW)
    best = [
        {at: one for at, one in best_R[row].items() if ops[at]} if row in best_R else {} for row, ops in enumerate(rows)
    ]
    logs_of_phrases = [sum(float(np.log(one.probability)) for one in phrases.values()) for phrases in best]
    features = measure_passes(logs_BW, scores_BWE[:, :, Op.KEEP], ops_BW, words_B, logs_of_phrases)
    choices = []
    for ops, logs, phrases, log_of_phrases, measured in zip(
        rows, logs_BW.tolist(), best, logs_of_phrases, features, strict=True
    ):
        edits = [_WITHOUT_PHRASE[op] for op in ops] if any(ops) else [KEEP] * len(ops)
        joint = list(map(math.exp, logs[: len(ops)]))
        copied = {}
        of_phrase = 1.0
        for word in range(min(phrases), len(ops)) if phrases else ():
            if (phrase := phrases.get(word)) is not None:
                of_phrase = phrase.probability
                edits[word] = Edit(Op(ops[word]), phrase.words)
                if phrase.copied is not None:
                    copied[word] = phrase.copied
            if ops[word] in (Op.INSERT, Op.SUBSTITUTE):
                joint[word] *= of_phrase
        choices.append(Choice(edits, joint, sum(logs[: len(ops)]) + log_of_phrases, measured, copied))
    return choices
