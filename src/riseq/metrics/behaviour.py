"""Whether a person would accept an output: judged case by case, and counted by phenomenon."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from riseq.data.cases import Case
from riseq.text.words import forms

ALL = "all"


class Verdict(NamedTuple):
    """What is right about an output: nothing new is lost, nothing is said twice, no word is wrong, all three, as gold.

    Where nothing is to be left out, "shortened" is one of the gold forms, but for case, spaces and end marks.
    """

    kept: bool
    shortened: bool
    clean: bool
    right: bool
    exact: bool


def judge(case: Case, text: str) -> Verdict:
    """Return the verdict on ``text``; in a set of targets only the target is right."""

    def has(phrase: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", text.lower()) is not None

    kept, clean = all(map(has, case.keep)), not any(map(has, case.bad))
    exact = _normalise(text) in map(_normalise, case.gold)
    shortened = not any(map(has, case.gone)) if case.gone else exact
    return Verdict(kept, shortened, clean, kept and shortened and clean, exact)


def measure_behaviour(cases: Sequence[Case], texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return by phenomenon, and for ``ALL`` last, the number of cases and the percentage of each part of a verdict."""
    groups: dict[str, list[Verdict]] = {name: [] for name in (*sorted({case.phenomenon for case in cases}), ALL)}
    for case, text in zip(cases, texts, strict=True):
        for name in (case.phenomenon, ALL):
            groups[name].append(judge(case, text))
    return {
        name: {"n": len(of)} | {part: 100 * sum(getattr(one, part) for one in of) / len(of) for part in Verdict._fields}
        for name, of in groups.items()
    }


def _normalise(text: str) -> str:
    return " ".join(forms(text.replace("’", "'"))).strip(" ?.!")
