"""The round trip as a guard: of the forms of a question, the shortest that gives its content words back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from riseq.controls import Controls
from riseq.data.dialogue import Asked
from riseq.engine.variants import pick_n_best
from riseq.metrics.round_trip import find_lost
from riseq.text.words import forms
from riseq.types import RoundTripMode, Simplification

if TYPE_CHECKING:
    from riseq.engine.resolver import Resolver

FORMS = 8
"""How many of a question's forms are tried at most; there are seldom more than three that anybody would say."""


def check_round_trips(
    results: Sequence[Simplification],
    asked: Sequence[Asked],
    resolver: Resolver,
    mode: RoundTripMode,
    controls: Controls,
) -> list[Simplification]:
    """Return for each result, which has its alternatives, the one that ``pick_whole`` picks of them.

    All forms of all results are resolved in one batch. Alternatives are left where ``controls`` want several.
    """
    forms_of = [{one.text: one for one in (*result.alternatives, result) if one.changed} for result in results]
    said = [context for _, context in asked]
    items = [(text, context) for known, context in zip(forms_of, said, strict=True) for text in known]
    resolved = iter(resolver.resolve_many(items))
    picked = []
    for result, known in zip(results, forms_of, strict=True):
        back = {text: next(resolved).text for text in known}
        picked.append(_finish(pick_whole(result, back, mode, controls.min_confidence), result, controls))
    return picked


def pick_whole(
    result: Simplification, back: Mapping[str, str], mode: RoundTripMode, least: float = 0.0
) -> Simplification:
    """Return the shortest form of ``result`` with every content word of the question in its text's entry of ``back``.

    Where there is none, the question itself is returned, which needs no way back, if that is required; else the result
    as it was. A form with a confidence below ``least`` is passed over.
    """
    known = {one.text: one for one in (*result.alternatives, result)}
    whole = [
        one
        for text, one in known.items()
        if one.changed
        and not find_lost(result.question, back[text])
        and (not least or (one.confidence is not None and one.confidence >= least))
    ]
    if whole:
        return min(whole, key=lambda one: (len(forms(one.text)), len(one.text), one.text != result.text))
    if mode == "prefer":
        return result
    asked = Simplification(result.question, result.question, truncated=result.truncated)
    return known.get(result.question, asked)


def _finish(picked: Simplification, own: Simplification, controls: Controls) -> Simplification:
    """Return what was picked, with the reason where it is not the network's own choice."""
    reason = own.reason
    if picked.text != own.text:
        shorter = len(picked.text) < len(own.text)
        other = "a shorter form comes back whole" if shorter else "a milder form comes back whole"
        reason = f"round trip: {other if picked.changed else 'no form comes back whole'}"
    picked = replace(picked, reason=reason, alternatives=())
    if controls.n_best == 1:
        return picked
    return replace(picked, alternatives=pick_n_best(picked, own.alternatives, controls.n_best))
