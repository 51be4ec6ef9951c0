"""The case study: which examples it shows, by rule and not by taste, with every pass as a diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from riseq.core.levenshtein import distance
from riseq.reproduce import paper
from riseq.reproduce.document import Case, CaseLine, Piece, diff_words
from riseq.reproduce.evidence import Evidence
from riseq.reproduce.plan import SAVED_PASSES, TEST, Planned

CaseRule = Literal["best gain", "worst loss", "largest disagreement"]
WANTED: dict[CaseRule, int] = {"best gain": 4, "worst loss": 3, "largest disagreement": 3}


@dataclass(frozen=True, slots=True)
class Chosen:
    """An example by its place in the set, the rule that chose it and the number it was chosen by."""

    place: int
    rule: CaseRule
    by: float


def choose_cases(
    questions: Sequence[str],
    targets: Sequence[str],
    texts: Sequence[str],
    others: Mapping[str, Sequence[str]],
    wanted: Mapping[CaseRule, int] = WANTED,
) -> list[Chosen]:
    """Return the cases of a system's ``texts``; all in the scoring form, ties go to the earlier example.

    A gain is the words of Levenshtein distance to the target that the system took away, a loss those it added. The
    disagreement of all systems is the mean distance of each two of their outputs. No example is chosen twice.
    """
    before = np.array([distance(q.split(), t.split()) for q, t in zip(questions, targets, strict=True)])
    after = np.array([distance(y.split(), t.split()) for y, t in zip(texts, targets, strict=True)])
    gains = (before - after).astype(np.float64)
    rankings = {"best gain": gains, "worst loss": -gains, "largest disagreement": _disagree([texts, *others.values()])}
    chosen: list[Chosen] = []
    for rule, count in wanted.items():
        values = rankings[rule]
        taken = {case.place for case in chosen}
        order = [int(place) for place in np.argsort(-values, kind="stable") if place not in taken and values[place] > 0]
        chosen += [Chosen(place, rule, float(values[place])) for place in order[:count]]
    return chosen


def _disagree(systems: Sequence[Sequence[str]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    rows = list(zip(*systems, strict=True))
    means = np.zeros(len(rows))
    for place, texts in enumerate(rows):
        pairs = list(combinations(texts, 2))
        if pairs and len(set(texts)) > 1:
            means[place] = sum(distance(a.split(), b.split()) for a, b in pairs) / len(pairs)
    return means


BRIEF = 3
"""How many of the chosen cases the compact copy shows: the first of each rule."""


def build_cases(evidence: Evidence) -> list[Case]:
    """Return the cases of the main system on CANARD test; none where it was not run."""
    planned = evidence.main_system()
    measured = evidence.measured(planned.name, TEST) if planned else None
    if planned is None or measured is None:
        return []
    places = {one.id: place for place, one in enumerate(evidence.examples(TEST))}
    cases = []
    for number, printed in enumerate(paper.CASES, 1):
        if printed.id in places:
            title = f"The paper's example {number}"
            lines = [_line(f"paper, rewrite {k}", text) for k, text in enumerate(printed.rewrites, 1)]
            cases.append(
                _build_case(
                    evidence,
                    planned,
                    places[printed.id],
                    title,
                    "from the paper, whose contexts have answers too",
                    True,
                    lines,
                )
            )
    others = {
        one.name: found.texts
        for one in evidence.systems("baseline", "rise")
        if one != planned and (found := evidence.measured(one.name, TEST)) is not None
    }
    chosen = choose_cases(evidence.questions(TEST), evidence.targets(TEST), measured.texts, others)
    seen: set[str] = set()
    for case in chosen:
        brief = case.rule not in seen
        seen.add(case.rule)
        title = f"{case.rule.capitalize()}: {evidence.examples(TEST)[case.place].id}"
        cases.append(_build_case(evidence, planned, case.place, title, _explain(case), brief))
    return cases


def _build_case(
    evidence: Evidence,
    planned: Planned,
    place: int,
    title: str,
    why: str,
    brief: bool,
    printed: list[CaseLine] | None = None,
) -> Case:
    example = evidence.examples(TEST)[place]
    lines = [_line(f"context {number}", text) for number, text in enumerate(example.context[-3:], 1)]
    lines.append(_line("question", example.question))
    made = (evidence.passes(planned.name, TEST) or [])[place]
    counted = evidence.counted(planned.name) or SAVED_PASSES
    before = example.question
    for number, text in enumerate(made, 1):
        label = f"pass {number}" if number <= counted else f"pass {number}, past the limit"
        lines.append(CaseLine(label, tuple(diff_words(before, text))))
        before = text
    if not made:
        lines.append(_line("pass 1", "changes nothing"))
    lines.append(_line("output", (evidence.texts(planned.name, TEST) or [])[place]))
    lines.append(_line("target", example.target or ""))
    lines += printed or []
    for other in evidence.systems("baseline", "rise"):
        texts = evidence.texts(other.name, TEST) if other != planned and other.name in evidence.manifests else None
        if texts is not None and other.system != "origin":
            lines.append(_line(other.title, texts[place]))
    return Case(title, f"{planned.title}; {why}", tuple(lines), brief)


def _line(label: str, text: str) -> CaseLine:
    return CaseLine(label, (Piece("same", text),))


def _explain(case: Chosen) -> str:
    if case.rule == "largest disagreement":
        return f"the systems' outputs are {case.by:.1f} words apart in the mean"
    where = "nearer to" if case.rule == "best gain" else "further from"
    return f"{case.by:.0f} words {where} the target than the question was"
