"""Variants of a result, milder and stronger, from the scores that its own passes made anyway; the n best of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest

from riseq.core.edits import Op, Ops, find_runs
from riseq.core.levenshtein import distance
from riseq.engine.backends import BatchScores
from riseq.engine.confidence import Calibration
from riseq.engine.decisions import choose_phrases, decide, find_shift
from riseq.engine.drafts import Draft
from riseq.engine.phrasing import Phrasing
from riseq.model.inputs import Batch
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Simplification

LADDER = (0.15, 0.35, 0.5, 0.65, 0.8, 1.0)
"""The strengths that are tried beside the one asked for."""
LEAST_SHARE = 1e-3
"""A form this much less probable than the best is no form a person would use; the question itself always is one."""


def add_variants(
    batch: Batch,
    scores: BatchScores,
    phrasing: Phrasing,
    drafts: Sequence[Draft],
    chosen: Sequence[Ops],
    pieces: Pieces,
    calibration: Calibration | None = None,
) -> None:
    """Add to each draft the forms that edits other than ``chosen`` make of it in this pass; no batch is scored again.

    They are the pass at other strengths, without one of its edits, with only one of them, and no pass at all.
    """
    ladder = [decide(scores.edits_BWE, drafts, find_shift(rung)) for rung in LADDER]
    variants = [_find_others((*_thin_out(ops), *rungs), ops) for ops, *rungs in zip(chosen, *ladder, strict=True)]
    # A row with fewer variants than the others fills its layers with what was chosen, and leaves them unused.
    rows_L = list(zip_longest(*variants))
    layers = [[ops or plain for ops, plain in zip(rows, chosen, strict=True)] for rows in rows_L]
    for rows, choices in zip(rows_L, choose_phrases(batch, scores, phrasing, layers, drafts), strict=True):
        for draft, choice, ops in zip(drafts, choices, rows, strict=True):
            if ops is None:
                continue
            fork = replace(draft, steps=list(draft.steps), pass_features=list(draft.pass_features), variants=[])
            if fork.advance(choice, pieces) or not any(edit.op for edit in choice.edits):
                draft.variants.append(fork.finish(calibration))


def fall_back(chosen: Simplification, others: Iterable[Simplification], least: float) -> Simplification:
    """Return ``chosen``; where its confidence is below ``least``, the mildest form that reaches it, else the question.

    What has no confidence at all reaches none. The confidence of another form is made as that of the chosen one: from
    the features of the pass that would have made its edits.
    """

    def reaches(form: Simplification) -> bool:
        return form.confidence is not None and form.confidence >= least

    if reaches(chosen):
        return chosen
    for form in takewhile(lambda one: one is not chosen, sort_mildest((chosen, *others))):
        if form.changed and reaches(form):
            return replace(form, reason=f"below min_confidence {least:g}: a milder form")
    asked = Simplification(chosen.question, chosen.question, truncated=chosen.truncated)
    question = next((form for form in (chosen, *others) if not form.changed), asked)
    return replace(question, reason=chosen.reason or f"below min_confidence {least:g}: the question as it is")


def pick_n_best(chosen: Simplification, others: Iterable[Simplification], n_best: int) -> tuple[Simplification, ...]:
    """Return the ``n_best`` most probable forms of different texts, ``chosen`` always among them, the mildest first.

    A form is the milder the fewer words lie between it and the question. Where good ones run out there are fewer.
    """
    ranked = sorted(others, key=_probability, reverse=True)
    least = LEAST_SHARE * max(map(_probability, (chosen, *ranked)))
    best = {chosen.text: replace(chosen, reason=None)}
    for one in ranked:
        if len(best) == n_best:
            break
        if _probability(one) >= least or not one.changed:
            best.setdefault(one.text, one)
    return tuple(sort_mildest(best.values()))


def sort_mildest(found: Iterable[Simplification]) -> list[Simplification]:
    """Return the forms of one question, those with the fewest words between them and it first."""
    return sorted(found, key=lambda one: (distance(forms(one.question), forms(one.text)), -_probability(one)))


def _thin_out(ops: Ops) -> Iterator[Ops]:
    """Yield the edits with none, without one, and with only one of their runs."""
    kept: Ops = [Op.KEEP] * len(ops)
    yield kept
    runs = find_runs(ops)
    for run in runs if len(runs) > 1 else ():
        yield [*ops[: run.start], *kept[run], *ops[run.stop :]]
        yield [*kept[: run.start], *ops[run], *kept[run.stop :]]


def _find_others(variants: Iterable[Ops], chosen: Ops) -> list[Ops]:
    """Return the variants that differ from each other and from ``chosen``."""
    return [list(ops) for ops in dict.fromkeys(map(tuple, (chosen, *variants)))][1:]


def _probability(form: Simplification) -> float:
    return 0.0 if form.probability is None else form.probability
