"""The case study: which examples it shows, by rule and not by taste, with every pass as a diff."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from typing import Literal

import numpy as np

from riseq.core.edits import MARKER, Op
from riseq.core.levenshtein import align, distance
from riseq.metrics.ngrams import Floats
from riseq.reproduce.document import Case, CaseLine, Piece
from riseq.reproduce.plan import SAVED_PASSES, TEST, PlannedSystem, read_paper
from riseq.reproduce.scoreboard import Scoreboard
from riseq.text.words import split

CaseRule = Literal["best gain", "worst loss", "largest disagreement"]
WANTED: dict[CaseRule, int] = {"best gain": 4, "worst loss": 3, "largest disagreement": 3}


def diff_words(before: str, after: str) -> list[Piece]:
    """Return ``before`` and ``after`` as one diff of words; words that differ only in case are the same.

    Side by side, what went stands before what came. A piece has the spacing of the text it is from.
    """
    old, new = split(before), split(after)
    path = align([MARKER, *(word.form for word in old)], [MARKER, *(word.form for word in new)])
    pieces: list[Piece] = []
    for kept, run in groupby(path, key=lambda move: move.op is Op.KEEP):
        moves = list(run)
        gone = [] if kept else [old[move.i - 1] for move in moves if move.op is not Op.INSERT]
        came = [new[move.j - 1] for move in moves if move.op is not Op.DELETE]
        if gone:
            pieces.append(Piece("old", before[gone[0].start : gone[-1].end]))
        if came:
            pieces.append(Piece("same" if kept else "new", after[came[0].start : came[-1].end]))
    return pieces


@dataclass(frozen=True, slots=True)
class ChosenCase:
    """An example by its index in the set, the rule that chose it and the number it was chosen by."""

    index: int
    rule: CaseRule
    by: float


def choose_cases(
    questions: Sequence[str],
    targets: Sequence[str],
    texts: Sequence[str],
    others: Sequence[Sequence[str]],
    wanted: Mapping[CaseRule, int] = WANTED,
) -> list[ChosenCase]:
    """Return the cases of a system's ``texts``; all in the scoring form, ties go to the earlier example.

    A gain is the words of Levenshtein distance to the target that the system took away, a loss those it added. The
    disagreement of all systems is the mean distance of each two of their outputs. No example is chosen twice.
    """
    before = np.array([distance(q.split(), t.split()) for q, t in zip(questions, targets, strict=True)])
    after = np.array([distance(y.split(), t.split()) for y, t in zip(texts, targets, strict=True)])
    gains = (before - after).astype(np.float64)
    rankings = {"best gain": gains, "worst loss": -gains, "largest disagreement": _disagree([texts, *others])}
    chosen: list[ChosenCase] = []
    for rule, count in wanted.items():
        values = rankings[rule]
        taken = {case.index for case in chosen}
        order = np.argsort(-values, kind="stable").tolist()
        left = [index for index in order if index not in taken and values[index] > 0]
        chosen += [ChosenCase(index, rule, float(values[index])) for index in left[:count]]
    return chosen


def _disagree(systems: Sequence[Sequence[str]]) -> Floats:
    """Return the mean distance of each two of the systems' texts, for each example."""
    pairs = list(combinations([[text.split() for text in texts] for texts in systems], 2))
    distances = [[distance(a, b) for a, b in zip(first, second, strict=True)] for first, second in pairs]
    return np.mean(distances, axis=0) if pairs else np.zeros(len(systems[0]))


def build_cases(board: Scoreboard) -> list[Case]:
    """Return the cases of the main system on CANARD test, if it was run; in brief the paper's and each rule's first."""
    planned = board.main_system()
    scores = board.scores(planned.name, TEST) if planned else None
    if planned is None or scores is None:
        return []
    indices = {one.id: index for index, one in enumerate(board.examples(TEST))}
    cases = []
    for number, (example_id, rewrites) in enumerate(read_paper()["cases"].items(), 1):
        if example_id in indices:
            lines = [_line(f"paper, rewrite {k}", text) for k, text in enumerate(rewrites, 1)]
            why = f"{planned.title}; from the paper, whose contexts have answers too"
            shown = _list_lines(board, planned, indices[example_id], lines)
            cases.append(Case(f"The paper's example {number}", why, shown, brief=True))
    compared = [one for one in board.systems("baseline", "rise") if one != planned]
    others = [found.texts for one in compared if (found := board.scores(one.name, TEST)) is not None]
    seen: set[str] = set()
    for case in choose_cases(board.questions(TEST), board.targets(TEST), scores.texts, others):
        title = f"{case.rule.capitalize()}: {board.examples(TEST)[case.index].id}"
        shown = _list_lines(board, planned, case.index, [])
        why = f"the systems' outputs are {case.by:.1f} words apart in the mean"
        if case.rule != "largest disagreement":
            where = "nearer to" if case.rule == "best gain" else "further from"
            why = f"{case.by:.0f} words {where} the target than the question was"
        cases.append(Case(title, f"{planned.title}; {why}", shown, brief=case.rule not in seen))
        seen.add(case.rule)
    return cases


def _list_lines(
    board: Scoreboard, planned: PlannedSystem, index: int, printed: Sequence[CaseLine]
) -> tuple[CaseLine, ...]:
    """Return an example's dialogue, every pass as a diff, the target, what the paper ``printed``, and other outputs."""
    example = board.examples(TEST)[index]
    lines = [_line(f"context {number}", text) for number, text in enumerate(example.context[-3:], 1)]
    lines.append(_line("question", example.question))
    made = (board.passes(planned.name, TEST) or [])[index]
    counted = board.counted(planned.name) or SAVED_PASSES
    for number, (before, text) in enumerate(pairwise([example.question, *made]), 1):
        label = f"pass {number}" if number <= counted else f"pass {number}, past the limit"
        lines.append(CaseLine(label, tuple(diff_words(before, text))))
    if not made:
        lines.append(_line("pass 1", "changes nothing"))
    lines.append(_line("output", (board.texts(planned.name, TEST) or [])[index]))
    lines += [_line("target", example.target or ""), *printed]
    for other in board.systems("baseline", "rise"):
        texts = board.texts(other.name, TEST)
        if texts is not None and other != planned and other.system != "origin":
            lines.append(_line(other.title, texts[index]))
    return tuple(lines)


def _line(label: str, text: str) -> CaseLine:
    return CaseLine(label, (Piece("same", text),))
