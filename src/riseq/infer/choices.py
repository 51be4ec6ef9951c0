"""From a network's scores to edits: an edit at each word, the best phrase at each span."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.core.phrases import PhraseVocabulary
from riseq.infer.backend import Reading, Scores
from riseq.infer.drafts import Choice, Draft
from riseq.infer.guard import hold_back
from riseq.infer.mending import AUXILIARIES, DETERMINERS, PREPOSITIONS
from riseq.infer.signs import read_signs
from riseq.model.collate import Batch, SpanBatch, find_spans
from riseq.text.spacing import is_word

Ops = NDArray[np.integer]
_KEEPS = np.array([op in (Op.KEEP, Op.INSERT) for op in Op], dtype=np.float32)
SURE_OF_NAME = 3.0
"""By how much, in log-odds, keeping the rest of a name has to be more probable than replacing it; chosen on dev."""
_VERBS = frozenset({"be", "been", "become", "get", "have"})
Said = tuple[int, float]
"""A phrase's id and its probability."""


def decide(scores_BWE: Scores, drafts: Sequence[Draft], shift: float = 0.0, sureness: float = 0.0) -> Ops:
    """Return the edit at each word, when ``shift`` is added to the log-probability of keeping it.

    Neighbours that go are deleted together or replaced together, as ``unite`` says, and a name is replaced whole. A run
    of neighbours that would be edited is undone as one, where a shift above 0 outweighs its edits on average: half a
    name is no milder form. A lower shift never keeps a word that a higher one takes, unless no word would be left of
    the question: then its row has the edits of no shift. A shift below 0 leaves marks alone, for a question is no
    stronger without its "?", and deletes no scraps of phrases. Protected words are kept, nothing is put inside them,
    and what would have gone with them stays: "the" of "the Eiffel Tower". With a ``sureness`` above 0 what only the
    question says stays too; see ``riseq.infer.guard``.
    """
    if any(draft.protect for draft in drafts):
        scores_BWE = scores_BWE.copy()
        for scores_WE, draft in zip(scores_BWE, drafts, strict=True):
            _bar_protected(scores_WE[: len(draft.cuts)], draft)
    ops_BW = _shift(scores_BWE, drafts, shift)
    if sureness > 0:
        for scores_WE, ops_W, draft in zip(scores_BWE, ops_BW, drafts, strict=True):
            if draft.said.has_answers:
                hold_back(scores_WE, ops_W, draft.words[: len(draft.cuts)], draft.said, sureness)
    return ops_BW


def _shift(scores_BWE: Scores, drafts: Sequence[Draft], shift: float) -> Ops:
    counts = [len(draft.cuts) for draft in drafts]
    plain_BW = _find_best(scores_BWE, counts)
    _complete_names(scores_BWE, plain_BW, drafts)
    words_B = [draft.words[:count] for draft, count in zip(drafts, counts, strict=True)]
    plain_BW = unite(scores_BWE, plain_BW, words_B)
    for ops_W, words_W in zip(plain_BW, words_B, strict=True):
        say_subject(ops_W, words_W)
    if shift > 0:
        return np.stack([_undo_runs(scores, ops, shift) for scores, ops in zip(scores_BWE, plain_BW, strict=True)])
    if shift == 0:
        return plain_BW
    # INSERT keeps its word too: what asks for less must not get more words put in instead.
    scores_BWE = scores_BWE.copy()
    for row, draft in enumerate(drafts):
        words = [place for place, word in enumerate(draft.words[: len(draft.cuts)]) if place and is_word(word)]
        scores_BWE[row, words] += np.float32(shift) * _KEEPS
    strong_BW: Ops = scores_BWE.argmax(-1)
    for row in range(len(drafts)):
        _refuse_scraps(strong_BW[row], plain_BW[row], words_B[row])
    _complete_names(scores_BWE, strong_BW, drafts)
    ops_BW = unite(scores_BWE, strong_BW, words_B)
    for row, draft in enumerate(drafts):
        say_subject(ops_BW[row], words_B[row])
        if not _leaves_word(draft, ops_BW[row].tolist()):
            ops_BW[row] = plain_BW[row]
    return ops_BW


def choose(batch: Batch, reading: Reading, phrases: PhraseVocabulary, ops_LBW: Sequence[Ops]) -> list[list[Choice]]:
    """Return for each layer of edits the choice of each row; the phrase graph runs once, if a phrase is wanted."""
    spans_L = [find_spans(batch, ops_BW) for ops_BW in ops_LBW]
    said = _say(reading, spans_L)
    return [
        _choose_layer(batch, reading, phrases, ops_BW, spans, said)
        for ops_BW, spans in zip(ops_LBW, spans_L, strict=True)
    ]


def unite(scores_BWE: Scores, ops_BW: Ops, words_B: Sequence[Sequence[str]]) -> Ops:
    """Return the edits where neighbours that go, some deleted and some replaced, all go the more probable way.

    A block of the kind the network learned from is all DELETE or all SUBSTITUTE (``riseq.core.edits.merge``), so one of
    both kinds is its doubt between the two: "the album [Abbey: DELETE] [Road: it]" would be read as "the album it".
    Where it begins to replace a noun phrase at its article the whole is replaced: "What were [the: they] [pilots:
    DELETE] called?" needs its subject.
    """
    gone_BW = (ops_BW == Op.DELETE) | (ops_BW == Op.SUBSTITUTE)
    mixed_B = (gone_BW[:, 1:] & gone_BW[:, :-1] & (ops_BW[:, 1:] != ops_BW[:, :-1])).any(-1)
    if not mixed_B.any():
        return ops_BW
    united_BW = ops_BW.copy()
    for row in np.flatnonzero(mixed_B).tolist():
        edges = np.flatnonzero(np.diff(gone_BW[row], prepend=False, append=False))
        for start, end in edges.reshape(-1, 2).tolist():
            of_all = scores_BWE[row, start:end].sum(0)
            head = words_B[row][start] in DETERMINERS and ops_BW[row, start] == Op.SUBSTITUTE
            if len(np.unique(ops_BW[row, start:end])) > 1:
                deleted = of_all[Op.DELETE] > of_all[Op.SUBSTITUTE] and not head
                united_BW[row, start:end] = Op.DELETE if deleted else Op.SUBSTITUTE
    return united_BW


def say_subject(ops_W: Ops, words: Sequence[str]) -> None:
    """Replace, in place, a subject that would be deleted between two verbs: "Can [type 2 diabetes] be reversed?".

    Only where the second is surely a verb: of "Did [Richard] Nixon travel?" the subject is still there.
    """
    first = next((place for place, word in enumerate(words) if word in AUXILIARIES), len(words))
    end = start = first + 1
    while end < len(words) and ops_W[end] == Op.DELETE:
        end += 1
    if start < end < len(words) and words[end] in _VERBS and ops_W[first] == ops_W[end] == Op.KEEP:
        ops_W[start:end] = Op.SUBSTITUTE


def _find_best(scores_BWE: Scores, counts: Sequence[int]) -> Ops:
    """Return the best edits of rows with so many words; what stands past them is kept, and joins no run of theirs."""
    best_BW: Ops = scores_BWE.argmax(-1)
    best_BW[np.arange(best_BW.shape[1])[None, :] >= np.array(counts)[:, None]] = Op.KEEP
    return best_BW


def _bar_protected(scores_WE: Scores, draft: Draft) -> None:
    """Rule out, in place, the edits that touch protected words, and all others of a run that has such edits."""
    barred_WE = draft.barred[: len(scores_WE)]
    for run in find_runs(scores_WE.argmax(-1)):
        if barred_WE[run, Op.DELETE].any():
            barred_WE[run, Op.DELETE :] = True
    scores_WE[barred_WE] = -np.inf


def _complete_names(scores_BWE: Scores, ops_BW: Ops, drafts: Sequence[Draft]) -> None:
    """Replace, in place, the rest of a name of which a part is replaced: "Did [Richard] he Nixon travel?".

    A word of it is kept all the same where the network is sure that it stays.
    """
    for row in np.flatnonzero((ops_BW == Op.SUBSTITUTE).any(-1)).tolist():
        draft, ops_W = drafts[row], ops_BW[row]
        names = draft.names[: len(draft.cuts)]
        likely_W = scores_BWE[row, :, Op.SUBSTITUTE] - scores_BWE[row, :, Op.KEEP] > -SURE_OF_NAME
        for place in np.flatnonzero(ops_W == Op.SUBSTITUTE).tolist():
            for side in (range(place - 1, 1, -1), range(place + 1, len(names))):
                for other in side:
                    if not (names[place] and names[other]) or (ops_W[other] == Op.KEEP and not likely_W[other]):
                        break
                    ops_W[other] = Op.SUBSTITUTE


def _refuse_scraps(strong_W: Ops, plain_W: Ops, words: Sequence[str]) -> None:
    """Undo, in place, deletions that only a higher strength wants, but for whole phrases with a preposition.

    What the network would keep it rarely deletes rightly: without its subject "Can type 2 diabetes be reversed?" is no
    question, "in Berlin" can go. A phrase ends before the next preposition, a mark, or what goes at any strength; as
    none of that depends on the strength, a higher one still never keeps more.
    """
    strong_W[len(words) :] = Op.KEEP
    new = [
        now != Op.KEEP and before == Op.KEEP for now, before in zip(strong_W.tolist(), plain_W.tolist(), strict=True)
    ]
    start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and new[start] and new[end] and words[end] not in PREPOSITIONS:
            end += 1
        if new[start]:
            closed = (
                end == len(words) or words[end] in PREPOSITIONS or not is_word(words[end]) or plain_W[end] != Op.KEEP
            )
            replaced = (strong_W[start:end] == Op.SUBSTITUTE).any()
            if not replaced and not (closed and words[start] in PREPOSITIONS):
                strong_W[start:end] = Op.KEEP
        start = end


def _undo_runs(scores_WE: Scores, ops_W: Ops, shift: float) -> Ops:
    """Return the edits without the runs of neighbours that are less than ``shift`` better than keeping them."""
    better_W = np.take_along_axis(scores_WE, ops_W[:, None], -1)[:, 0] - scores_WE[:, Op.KEEP]
    kept_W = ops_W.copy()
    for run in find_runs(ops_W):
        if better_W[run].mean() < shift:
            kept_W[run] = Op.KEEP
    return kept_W


def find_runs(ops_W: Ops) -> list[slice]:
    """Return where neighbouring words are not kept as they are."""
    edges = np.flatnonzero(np.diff(ops_W != Op.KEEP, prepend=False, append=False))
    return [slice(start, end) for start, end in edges.reshape(-1, 2).tolist()]


def _leaves_word(draft: Draft, ops: list[int]) -> bool:
    """Return whether a word is kept or said; a mark alone is no question."""
    seen = len(draft.cuts)
    if any(op in (Op.INSERT, Op.SUBSTITUTE) for op in ops[:seen]):
        return True
    kept = [word for word, op in zip(draft.words[1:seen], ops[1:seen], strict=True) if op == Op.KEEP]
    return any(is_word(word) for word in (*kept, *draft.words[seen:]))


def _say(reading: Reading, spans_L: Sequence[SpanBatch]) -> dict[tuple[int, int, int], Said]:
    """Return the best phrase of each span, by its row and pieces; a span of several layers is scored once."""
    wanted = list(dict.fromkeys(key for spans in spans_L for key in _keys(spans)))
    if not wanted:
        return {}
    row_N, start_N, end_N = np.array(wanted, dtype=np.int64).T
    scores_NP = reading.score_phrases(SpanBatch(row_N, _first_words(spans_L, wanted), start_N, end_N))
    best_N = scores_NP.argmax(-1)
    likely_N = np.exp(scores_NP[np.arange(len(best_N)), best_N].astype(np.float64))
    return dict(zip(wanted, zip(best_N.tolist(), likely_N.tolist(), strict=True), strict=True))


def _keys(spans: SpanBatch) -> list[tuple[int, int, int]]:
    return list(zip(spans.row_N.tolist(), spans.start_N.tolist(), spans.end_N.tolist(), strict=True))


def _first_words(spans_L: Sequence[SpanBatch], wanted: Sequence[tuple[int, int, int]]) -> NDArray[np.int64]:
    words = {key: word for spans in spans_L for key, word in zip(_keys(spans), spans.word_N.tolist(), strict=True)}
    return np.array([words[key] for key in wanted], dtype=np.int64)


def _choose_layer(
    batch: Batch,
    reading: Reading,
    phrases: PhraseVocabulary,
    ops_BW: Ops,
    spans: SpanBatch,
    said: dict[tuple[int, int, int], Said],
) -> list[Choice]:
    logs_BW = np.take_along_axis(reading.edits_BWE, ops_BW[:, :, None], -1)[:, :, 0].astype(np.float64)
    places = zip(spans.row_N.tolist(), spans.word_N.tolist(), strict=True)
    at = {place: said[key] for place, key in zip(places, _keys(spans), strict=True)}
    choices = []
    for row, count in enumerate(batch.words_B.tolist()):
        ops, logs = ops_BW[row, :count].tolist(), logs_BW[row, :count]
        phrases_said = [at.get((row, word)) for word in range(count)]
        of_phrases = sum(float(np.log(one[1])) for one in phrases_said if one is not None)
        edits, joint = _combine(ops, np.exp(logs).tolist(), phrases_said, phrases)
        signs = read_signs(reading.edits_BWE[row, :count], ops, of_phrases)
        choices.append(Choice(edits, joint, float(logs.sum()) + of_phrases, signs))
    return choices


def _combine(
    ops: list[int], probabilities: list[float], said: list[Said | None], phrases: PhraseVocabulary
) -> tuple[list[Edit], list[float]]:
    """Return the edits with their phrases; where a phrase is said, its probability counts too, all along its run."""
    edits: list[Edit] = []
    joint: list[float] = []
    of_phrase = 1.0
    for op, probability, phrase in zip(ops, probabilities, said, strict=True):
        if phrase is not None:
            edits.append(Edit(Op(op), phrases[phrase[0]]))
            of_phrase = phrase[1]
        else:
            edits.append(KEEP if op == Op.KEEP else DELETE if op == Op.DELETE else Edit(Op(op)))
        joint.append(probability * of_phrase if op in (Op.INSERT, Op.SUBSTITUTE) else probability)
    return edits, joint
