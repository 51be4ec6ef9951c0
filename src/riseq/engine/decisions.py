"""From a network's scores to edits: an edit at each word, the best phrase at each span."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from riseq.controls import NEUTRAL
from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.core.phrases import PhraseVocabulary
from riseq.engine.backends import Reading, Scores
from riseq.engine.drafts import Choice, Draft
from riseq.engine.pass_features import read_signs
from riseq.engine.rules.new_information import hold_back
from riseq.engine.rules.stranded_words import AUXILIARIES, DETERMINERS, PREPOSITIONS
from riseq.model.inputs import Batch, SpanBatch
from riseq.text.spacing import is_word

Ops = list[int]
"""The edit at each word of one row, the marker's first; a row is short, and a list the quicker for it."""
Said = tuple[int, float]
"""A phrase's id and its probability."""
Span = tuple[int, int, int, int]
"""Where a phrase is wanted: its row, its first word, and its pieces, from the first to past the last."""
SURE_OF_NAME = 3.0
"""By how much, in log-odds, keeping the rest of a name has to be more probable than replacing it; chosen on dev."""
_EDITED = (Op.DELETE, Op.INSERT, Op.SUBSTITUTE)
_GONE = (Op.DELETE, Op.SUBSTITUTE)
_SAYING = (Op.INSERT, Op.SUBSTITUTE)
_SILENT = (KEEP, DELETE, Edit(Op.INSERT), Edit(Op.SUBSTITUTE))
"""The edits without a phrase, each at the place of its ``Op``."""
_KEEPS = np.array([op in (Op.KEEP, Op.INSERT) for op in Op], dtype=np.float32)
_VERBS = frozenset({"be", "been", "become", "get", "have"})

# On CANARD's dev set the log-odds of an edit against KEEP lie between -7 and 7, half of them beyond 5. At +7 hardly any
# edit is left; at -2 what the network was in two minds about goes and what it is sure of stays.
_MILDEST, _STRONGEST = 7.0, -2.0


def find_shift(strength: float) -> float:
    """Return what ``strength`` adds to the log-probability of KEEP: linear on both sides of ``NEUTRAL``."""
    share = 1 - strength / NEUTRAL
    return share * _MILDEST if share > 0 else -share * _STRONGEST


def decide(scores_BWE: Scores, drafts: Sequence[Draft], shift: float = 0.0, sureness: float = 0.0) -> list[Ops]:
    """Return the edit at each word, when ``shift`` is added to the log-probability of keeping it.

    Neighbours that go are deleted together or replaced together, as ``unite`` says, and a name is replaced whole. A run
    of neighbours that would be edited is undone as one, where a shift above 0 outweighs its edits on average: half a
    name is no milder form. A lower shift never keeps a word that a higher one takes, unless no word would be left of
    the question: then it has the edits of no shift. A shift below 0 leaves marks alone, for a question is no
    stronger without its "?", and deletes no scraps of phrases. Protected words are kept, nothing is put inside them,
    and what would have gone with them stays: "the" of "the Eiffel Tower". With a ``sureness`` above 0 what only the
    question says stays too; see ``riseq.engine.rules.new_information``.
    """
    return [
        _decide_row(scores_WE[: len(draft.cuts)], draft, shift, sureness)
        for scores_WE, draft in zip(scores_BWE, drafts, strict=True)
    ]


def choose(
    batch: Batch, reading: Reading, phrases: PhraseVocabulary, layers: Sequence[Sequence[Ops]]
) -> list[list[Choice]]:
    """Return for each layer of edits the choice of each row; the phrase graph runs once, if a phrase is wanted."""
    spans_L = [[span for row, ops in enumerate(rows) for span in find_spans(batch, row, ops)] for rows in layers]
    said = _say(reading, [span for spans in spans_L for span in spans])
    counts = batch.words_B.tolist()
    scores = [scores_WE[:count].tolist() for scores_WE, count in zip(reading.edits_BWE, counts, strict=True)]
    return [
        _choose_layer(scores, phrases, rows, {(row, word): said[row, start, end] for row, word, start, end in spans})
        for rows, spans in zip(layers, spans_L, strict=True)
    ]


def unite(scores_WE: Scores, ops: Ops, words: Sequence[str]) -> None:
    """Make, in place, neighbours that go, some deleted and some replaced, all go the more probable way.

    A block of the kind the network learned from is all DELETE or all SUBSTITUTE (``riseq.core.edits.merge``), so one of
    both kinds is its doubt between the two: "the album [Abbey: DELETE] [Road: it]" would be read as "the album it".
    Where it begins to replace a noun phrase at its article the whole is replaced: "What were [the: they] [pilots:
    DELETE] called?" needs its subject.
    """
    if not (Op.DELETE in ops and Op.SUBSTITUTE in ops):
        return
    for run in find_runs(ops, _GONE):
        if len(set(ops[run])) > 1:
            of_all = scores_WE[run].sum(0)
            head = words[run.start] in DETERMINERS and ops[run.start] == Op.SUBSTITUTE
            deleted = of_all[Op.DELETE] > of_all[Op.SUBSTITUTE] and not head
            _set(ops, run, Op.DELETE if deleted else Op.SUBSTITUTE)


def say_subject(ops: Ops, words: Sequence[str]) -> None:
    """Replace, in place, a subject that would be deleted between two verbs: "Can [type 2 diabetes] be reversed?".

    Only where the second is surely a verb: of "Did [Richard] Nixon travel?" the subject is still there.
    """
    if Op.DELETE not in ops:
        return
    first = next((place for place, word in enumerate(words) if word in AUXILIARIES), len(words))
    end = start = first + 1
    while end < len(words) and ops[end] == Op.DELETE:
        end += 1
    if start < end < len(words) and words[end] in _VERBS and ops[first] == ops[end] == Op.KEEP:
        _set(ops, slice(start, end), Op.SUBSTITUTE)


def find_runs(ops: Ops, among: Sequence[Op] = _EDITED) -> list[slice]:
    """Return where neighbouring words have edits ``among`` these: without them, where they are not kept as they are."""
    runs = []
    start = 0
    for place, op in enumerate([*ops, Op.KEEP]):
        if op in among:
            continue
        if start < place:
            runs.append(slice(start, place))
        start = place + 1
    return runs


def find_spans(batch: Batch, row: int, ops: Ops) -> Iterator[Span]:
    """Yield the spans of a row's edits, as ``riseq.model.inputs.find_spans`` does for rows in an array."""
    if Op.INSERT not in ops and Op.SUBSTITUTE not in ops:
        return
    firsts = batch.firsts_BW[row].tolist()
    for place, op in enumerate(ops):
        if op == Op.INSERT:
            end = place + 2
        elif op == Op.SUBSTITUTE and (place == 0 or ops[place - 1] != Op.SUBSTITUTE):
            end = place + 1
            while end < len(ops) and ops[end] == Op.SUBSTITUTE:
                end += 1
        else:
            continue
        # The neighbour of the last word is the last [SEP].
        yield row, place, firsts[place], firsts[end] if end <= len(ops) else int(batch.lengths_B[row])


def _decide_row(scores_WE: Scores, draft: Draft, shift: float, sureness: float) -> Ops:
    if draft.protect:
        scores_WE = scores_WE.copy()
        _bar_protected(scores_WE, draft)
    words = draft.words[: len(scores_WE)]
    ops = _shift(scores_WE, draft, words, shift)
    if sureness > 0 and draft.said.has_answers:
        hold_back(scores_WE, ops, words, draft.said, sureness)
    return ops


def _shift(scores_WE: Scores, draft: Draft, words: Sequence[str], shift: float) -> Ops:
    plain: Ops = scores_WE.argmax(-1).tolist()
    _settle(scores_WE, plain, draft, words)
    if shift == 0:
        return plain
    if shift > 0:
        _undo_runs(scores_WE, plain, shift)
        return plain
    # INSERT keeps its word too: what asks for less must not get more words put in instead.
    scores_WE = scores_WE.copy()
    scores_WE[[place for place, word in enumerate(words) if place and is_word(word)]] += np.float32(shift) * _KEEPS
    strong: Ops = scores_WE.argmax(-1).tolist()
    _refuse_scraps(strong, plain, words)
    _settle(scores_WE, strong, draft, words)
    return strong if _leaves_word(draft, strong) else plain


def _settle(scores_WE: Scores, ops: Ops, draft: Draft, words: Sequence[str]) -> None:
    """Make, in place, the edits of neighbours fit each other."""
    _complete_name(scores_WE, ops, draft)
    unite(scores_WE, ops, words)
    say_subject(ops, words)


def _set(ops: Ops, run: slice, op: Op) -> None:
    ops[run] = [op] * (run.stop - run.start)


def _bar_protected(scores_WE: Scores, draft: Draft) -> None:
    """Rule out, in place, the edits that touch protected words, and all others of a run that has such edits."""
    barred_WE = draft.barred[: len(scores_WE)]
    for run in find_runs(scores_WE.argmax(-1).tolist()):
        if barred_WE[run, Op.DELETE].any():
            barred_WE[run, Op.DELETE :] = True
    scores_WE[barred_WE] = -np.inf


def _complete_name(scores_WE: Scores, ops: Ops, draft: Draft) -> None:
    """Replace, in place, the rest of a name of which a part is replaced: "Did [Richard] he Nixon travel?".

    A word of it is kept all the same where the network is sure that it stays.
    """
    if Op.SUBSTITUTE not in ops:
        return
    names = draft.names
    for place in [place for place, op in enumerate(ops) if op == Op.SUBSTITUTE and names[place]]:
        for side in (range(place - 1, 1, -1), range(place + 1, len(ops))):
            for other in side:
                likely = scores_WE[other, Op.SUBSTITUTE] - scores_WE[other, Op.KEEP] > -SURE_OF_NAME
                if not names[other] or (ops[other] == Op.KEEP and not likely):
                    break
                ops[other] = Op.SUBSTITUTE


def _refuse_scraps(strong: Ops, plain: Ops, words: Sequence[str]) -> None:
    """Undo, in place, deletions that only a higher strength wants, but for whole phrases with a preposition.

    What the network would keep it rarely deletes rightly: without its subject "Can type 2 diabetes be reversed?" is no
    question, "in Berlin" can go. A phrase ends before the next preposition, a mark, or what goes at any strength; as
    none of that depends on the strength, a higher one still never keeps more.
    """
    new = [now != Op.KEEP and before == Op.KEEP for now, before in zip(strong, plain, strict=True)]
    start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and new[start] and new[end] and words[end] not in PREPOSITIONS:
            end += 1
        if new[start]:
            closed = end == len(words) or words[end] in PREPOSITIONS or not is_word(words[end]) or plain[end] != Op.KEEP
            replaced = Op.SUBSTITUTE in strong[start:end]
            if not replaced and not (closed and words[start] in PREPOSITIONS):
                _set(strong, slice(start, end), Op.KEEP)
        start = end


def _undo_runs(scores_WE: Scores, ops: Ops, shift: float) -> None:
    """Keep, in place, the runs of neighbours whose edits are less than ``shift`` better than keeping them."""
    for run in find_runs(ops):
        better = scores_WE[range(run.start, run.stop), ops[run]] - scores_WE[run, Op.KEEP]
        if better.mean() < shift:
            _set(ops, run, Op.KEEP)


def _leaves_word(draft: Draft, ops: Ops) -> bool:
    """Return whether a word is kept or said; a mark alone is no question."""
    if Op.INSERT in ops or Op.SUBSTITUTE in ops:
        return True
    seen = len(ops)
    kept = [word for word, op in zip(draft.words[1:seen], ops[1:], strict=True) if op == Op.KEEP]
    return any(map(is_word, (*kept, *draft.words[seen:])))


def _say(reading: Reading, spans: Iterable[Span]) -> dict[tuple[int, int, int], Said]:
    """Return the best phrase of each span, by its row and pieces; a span of several layers is scored once."""
    wanted = {(row, start, end): word for row, word, start, end in spans}
    if not wanted:
        return {}
    row_N, start_N, end_N = np.array(list(wanted), dtype=np.int64).T
    scores_NP = reading.score_phrases(SpanBatch(row_N, np.array(list(wanted.values())), start_N, end_N))
    best = scores_NP.argmax(-1).tolist()
    return {
        key: (phrase, math.exp(scores_P[phrase])) for key, phrase, scores_P in zip(wanted, best, scores_NP, strict=True)
    }


def _choose_layer(
    scores: Sequence[Sequence[Sequence[float]]],
    phrases: PhraseVocabulary,
    rows: Sequence[Ops],
    said: Mapping[tuple[int, int], Said],
) -> list[Choice]:
    """Return the choice of each row, by the scores of its words and what is said at which of them."""
    choices = []
    for row, (scores_WE, ops) in enumerate(zip(scores, rows, strict=True)):
        logs = [scores_E[op] for scores_E, op in zip(scores_WE, ops, strict=True)]
        phrases_said = [said.get((row, word)) for word in range(len(ops))]
        of_phrases = sum(float(np.log(one[1])) for one in phrases_said if one is not None)
        edits, joint = _combine(ops, [math.exp(log) for log in logs], phrases_said, phrases)
        signs = read_signs(scores_WE, ops, of_phrases)
        choices.append(Choice(edits, joint, sum(logs) + of_phrases, signs))
    return choices


def _combine(
    ops: Sequence[int], probabilities: Sequence[float], said: Sequence[Said | None], phrases: PhraseVocabulary
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
            edits.append(_SILENT[op])
        joint.append(probability * of_phrase if op in _SAYING else probability)
    return edits, joint
