"""From a network's scores to edits: the best edit at each word, the best phrase at each span."""

from __future__ import annotations

import numpy as np

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.core.phrases import PhraseVocabulary
from riseq.infer.backend import Reading
from riseq.infer.drafts import Choice
from riseq.model.collate import Batch, find_spans


def choose_best(batch: Batch, reading: Reading, phrases: PhraseVocabulary) -> list[Choice]:
    """Return the greedy choice for each row of ``batch``; the phrase graph runs only where a phrase is wanted."""
    scores_BWE = reading.edits_BWE
    ops_BW = scores_BWE.argmax(-1)
    probabilities_BW = np.exp(np.take_along_axis(scores_BWE, ops_BW[:, :, None], -1)[:, :, 0].astype(np.float64))
    chosen: dict[tuple[int, int], tuple[int, float]] = {}
    spans = find_spans(batch, ops_BW)
    if len(spans.row_N):
        scores_NP = reading.score_phrases(spans)
        best_N = scores_NP.argmax(-1)
        likely_N = np.exp(scores_NP[np.arange(len(best_N)), best_N].astype(np.float64))
        places = zip(spans.row_N.tolist(), spans.word_N.tolist(), strict=True)
        chosen = dict(zip(places, zip(best_N.tolist(), likely_N.tolist(), strict=True), strict=True))
    choices = []
    for row, count in enumerate(batch.words_B.tolist()):
        ops, probabilities = ops_BW[row, :count].tolist(), probabilities_BW[row, :count].tolist()
        said = [chosen.get((row, word)) for word in range(count)]
        choices.append(_combine(ops, probabilities, said, phrases))
    return choices


def _combine(
    ops: list[int], probabilities: list[float], said: list[tuple[int, float] | None], phrases: PhraseVocabulary
) -> Choice:
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
    return Choice(edits, joint)
