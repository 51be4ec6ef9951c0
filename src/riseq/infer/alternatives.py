"""Other forms of a question, milder and stronger, from the readings that its own passes made anyway."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from riseq.core.edits import Op
from riseq.core.levenshtein import distance
from riseq.core.phrases import PhraseVocabulary
from riseq.infer.backend import Reading
from riseq.infer.choices import Ops, choose, decide, find_runs
from riseq.infer.confidence import Calibration
from riseq.infer.controls import find_shift
from riseq.infer.drafts import Draft
from riseq.model.collate import Batch
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Simplification

LADDER = (0.15, 0.35, 0.5, 0.65, 0.8, 1.0)
"""The strengths that are tried beside the one asked for."""
LEAST_SHARE = 1e-3
"""A form this much less probable than the best is no form a person would use; the question itself always is one."""


def branch_off(
    batch: Batch,
    reading: Reading,
    phrases: PhraseVocabulary,
    drafts: Sequence[Draft],
    ops_BW: Ops,
    pieces: Pieces,
    calibration: Calibration | None = None,
) -> None:
    """Add to each draft the forms that other edits than ``ops_BW`` make of it in this pass; nothing is read again.

    They are the pass at other strengths, the pass without one of its edits, with only one of them, and no pass at all.
    """
    ladder_LBW = [decide(reading.edits_BWE, drafts, find_shift(rung)) for rung in LADDER]
    variants_B = [
        _unique([*_thin_out(ops_BW[row]), *(ops[row] for ops in ladder_LBW)], ops_BW[row], len(draft.cuts))
        for row, draft in enumerate(drafts)
    ]
    layers = max(map(len, variants_B))
    if not layers:
        return
    # A row with fewer variants than the others fills its layers with what was chosen, and leaves them unused.
    ops_LBW = [
        np.stack([rows[layer] if layer < len(rows) else ops_BW[row] for row, rows in enumerate(variants_B)])
        for layer in range(layers)
    ]
    for layer, choices in enumerate(choose(batch, reading, phrases, ops_LBW)):
        for row, (draft, choice) in enumerate(zip(drafts, choices, strict=True)):
            if layer >= len(variants_B[row]):
                continue
            fork = replace(draft, steps=list(draft.steps), signs=list(draft.signs), branches=[])
            if fork.advance(choice, pieces) or not any(edit.op for edit in choice.edits):
                draft.branches.append(fork.finish(calibration))


def pick(chosen: Simplification, others: Iterable[Simplification], n_best: int) -> tuple[Simplification, ...]:
    """Return the ``n_best`` most probable forms of different texts, ``chosen`` always among them, the mildest first.

    A form is the milder the fewer words lie between it and the question. Where good ones run out there are fewer.
    """
    ranked = sorted(others, key=_probability, reverse=True)
    least = LEAST_SHARE * max(map(_probability, (chosen, *ranked)))
    best = {chosen.text: chosen}
    for one in ranked:
        if len(best) == n_best:
            break
        if _probability(one) >= least or not one.changed:
            best.setdefault(one.text, one)
    question = forms(chosen.question)
    return tuple(sorted(best.values(), key=lambda one: (distance(question, forms(one.text)), -_probability(one))))


def _thin_out(ops: Ops) -> Iterator[Ops]:
    """Yield the edits with none, without one, and with only one of their runs."""
    yield np.full_like(ops, Op.KEEP)
    runs = find_runs(ops)
    if len(runs) < 2:
        return
    for run in runs:
        without, only = ops.copy(), np.full_like(ops, Op.KEEP)
        without[run], only[run] = Op.KEEP, ops[run]
        yield without
        yield only


def _unique(variants: Iterable[Ops], chosen: Ops, count: int) -> list[Ops]:
    """Return the variants that differ from each other and from ``chosen`` within the first ``count`` words."""
    found = {chosen[:count].tobytes(): chosen}
    for ops in variants:
        found.setdefault(ops[:count].tobytes(), ops)
    return list(found.values())[1:]


def _probability(form: Simplification) -> float:
    return 0.0 if form.probability is None else form.probability
