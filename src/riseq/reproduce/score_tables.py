"""The paper's score tables: overall, ablation and validation, each with the paper's numbers below ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np

from riseq.metrics.passes import share_edited
from riseq.metrics.scores import t_test
from riseq.reproduce import paper
from riseq.reproduce.document import Cell, Column, Row, Table
from riseq.reproduce.evidence import Evidence
from riseq.reproduce.plan import COUNTED_PASSES, DEV, SET_TITLES, TEST, UNSEEN, Planned

TITLES = {"bleu1": "B-1", "bleu2": "B-2", "bleu3": "B-3", "bleu4": "B-4", "rougeL": "R-L", "cider": "CIDEr"}
LEVEL = 0.01
"""The paper's level of significance."""
Scored = Mapping[tuple[str, str], Cell]


def format_score(metric: str, value: float) -> str:
    """Return a score with the paper's digits."""
    return f"{value:.3f}" if metric == "cider" else f"{value:.1f}"


def build_overall(evidence: Evidence) -> Table:
    """Return Table 1: every system on both test sets, stars against the best baseline."""
    sets = (TEST, UNSEEN)
    baselines, ours = evidence.systems("baseline"), evidence.systems("rise")
    best = {key: _best_baseline(evidence, baselines, *key) for key in _keys(sets)}
    rows: list[Row] = []
    for planned in (*baselines, *ours):
        if ours and planned == ours[0]:
            rows.append(_variant_row(evidence, "RISE", sets, "RISE on CANARD alone", best))
        tested = best if planned.group == "rise" else {}
        rows.append(_score_row(evidence, planned, sets, tested))
        last = planned.group == "baseline" or planned == [one for one in ours if one.paper][-1]
        if planned.paper and last:
            rows.append(paper_row(planned.paper, paper.OVERALL, sets))
    names = sorted({name for name in best.values() if name}, key=[one.name for one in baselines].index)
    titles = [one.title for one in baselines if one.name in names]
    against = f"the best baseline that was run in each column ({', '.join(titles)})" if titles else "nothing yet"
    note = (
        f"* significantly above {against}: paired t-test on the scores of each question, p < {LEVEL}. Bold: the best"
        " of ours. RISE on CANARD alone is the ablation's, the mean of its seeds: by the recipes it has the "
        "training pairs of the learned baselines, and the encoder of Trans++ and QGDiv. Contexts are earlier "
        "questions only; CIDEr is not in percent."
    )
    return Table("overall", "Table 1. Overall performance", "Method", score_columns(sets), mark_best(rows), note)


def build_validation(evidence: Evidence) -> Table:
    """Return the validation table: every system on CANARD's development set."""
    rows: list[Row] = []
    for planned in evidence.systems("baseline"):
        rows.append(_score_row(evidence, planned, (DEV,), {}))
        if planned.paper in paper.VALIDATION:
            rows.append(paper_row(planned.paper, paper.VALIDATION, (DEV,)))
    for variant in ("-DPS", "-MLD"):
        rows.append(_variant_row(evidence, variant, (DEV,)))
        rows.append(paper_row(variant, paper.VALIDATION, (DEV,)))
    rows.append(_variant_row(evidence, "RISE", (DEV,), "RISE, as in the ablation"))
    rows += [_score_row(evidence, planned, (DEV,), {}) for planned in evidence.systems("rise")]
    rows.append(paper_row("RISE", paper.VALIDATION, (DEV,)))
    note = "The set that chose each checkpoint. -DPS, -MLD and RISE as in the ablation are means over the seeds run."
    return Table("validation", "Validation", "Method", score_columns((DEV,)), mark_best(rows), note)


def build_ablation(evidence: Evidence) -> list[Table]:
    """Return Table 2, the tests between its rows, and the share of edits that are not Keep."""
    sets = (TEST, UNSEEN)
    rows: list[Row] = []
    for variant in paper.ABLATION:
        rows.append(_variant_row(evidence, variant, sets))
        rows.append(paper_row(variant, paper.ABLATION, sets))
    note = (
        "Mean over the seeds run, ± their standard deviation. The three have one encoder, one set of training pairs "
        "and one budget, and differ in the method alone."
    )
    scores = Table("ablation", "Table 2. Ablation", "Method", score_columns(sets), mark_best(rows), note)
    return [scores, _test_variants(evidence, sets), _build_edited(evidence)]


def score_columns(sets: Sequence[str]) -> tuple[Column, ...]:
    """Return the six metrics of each set."""
    return tuple(Column(TITLES[metric], SET_TITLES[name]) for name in sets for metric in paper.METRICS)


def paper_row(title: str, numbers: Mapping[str, Mapping[str, paper.Numbers]], sets: Sequence[str]) -> Row:
    """Return the paper's own row."""
    cells = tuple(
        Cell(format_score(metric, value), value)
        for name in sets
        for metric, value in zip(paper.METRICS, numbers[title][name], strict=True)
    )
    return Row(f"{title}, paper", cells, "paper")


def missing_row(planned: Planned, width: int) -> Row:
    """Return the row of a system that was not run, with the command that would make it."""
    command = planned.make_command()
    return Row(planned.title, tuple(Cell("not run", None, command) for _ in range(width)), "missing", command)


def mark_best(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows with the highest of ours in each column marked."""
    ours = [row for row in rows if row.kind == "ours"]
    if len(ours) < 2:
        return tuple(rows)
    tops = [
        max((c.value for c in column if c.value is not None), default=None)
        for column in zip(*(r.cells for r in ours), strict=True)
    ]
    return tuple(
        row
        if row.kind != "ours"
        else replace(
            row,
            cells=tuple(
                replace(cell, best=cell.value is not None and cell.value == top)
                for cell, top in zip(row.cells, tops, strict=True)
            ),
        )
        for row in rows
    )


def variants(evidence: Evidence, title: str, dataset: str) -> list[Planned]:
    """Return the seeds of an ablation's row that were run on a set."""
    planned = [one for one in evidence.systems("ablation") if one.variant == title]
    return [one for one in planned if evidence.passes(one.name, dataset) is not None]


def _keys(sets: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, metric) for name in sets for metric in paper.METRICS]


def _best_baseline(evidence: Evidence, baselines: Sequence[Planned], dataset: str, metric: str) -> str | None:
    scores = {
        one.name: found.score(metric)
        for one in baselines
        if (found := evidence.measured(one.name, dataset)) is not None
    }
    return max(scores, key=scores.__getitem__) if scores else None


def _score_row(
    evidence: Evidence, planned: Planned, sets: Sequence[str], best: Mapping[tuple[str, str], str | None]
) -> Row:
    keys = _keys(sets)
    if all(evidence.passes(planned.name, name) is None for name in sets):
        return missing_row(planned, len(keys))
    cells = tuple(_score_cell(evidence, planned, *key, best.get(key)) for key in keys)
    return Row(planned.title, cells, command=evidence.made_by(planned.name, sets[0]))


def _score_cell(evidence: Evidence, planned: Planned, dataset: str, metric: str, against: str | None) -> Cell:
    measured = evidence.measured(planned.name, dataset)
    if measured is None:
        return Cell("not run", None, planned.make_command())
    value = measured.score(metric)
    command = evidence.rescore_command(planned.name, dataset)
    other = evidence.measured(against, dataset) if against else None
    if other is None or len(measured) < 2:
        return Cell(format_score(metric, value), value, command)
    test = t_test(measured.each(metric), other.each(metric))
    star = test.p < LEVEL and value > other.score(metric) and test.difference > 0
    return Cell(format_score(metric, value), value, command, star=star, p=test.p)


def _variant_row(
    evidence: Evidence,
    variant: str,
    sets: Sequence[str],
    title: str | None = None,
    best: Mapping[tuple[str, str], str | None] | None = None,
) -> Row:
    """Return the mean of an ablation's seeds; where ``best`` names baselines, each question's mean is tested."""
    planned = [one for one in evidence.systems("ablation") if one.variant == variant]
    cells = []
    for dataset, metric in _keys(sets):
        seeds = variants(evidence, variant, dataset)
        values = [found.score(metric) for one in seeds if (found := evidence.measured(one.name, dataset))]
        command = " && ".join(evidence.rescore_command(one.name, dataset) for one in seeds)
        cell = _mean_cell(metric, values, command or _make_all(planned))
        against = evidence.measured(name, dataset) if best and (name := best[dataset, metric]) else None
        each = _mean_each(evidence, variant, dataset, metric)
        if against is not None and each is not None and cell.value is not None:
            test = t_test(each, against.each(metric))
            star = test.p < LEVEL and cell.value > against.score(metric) and test.difference > 0
            cell = replace(cell, star=star, p=test.p)
        cells.append(cell)
    ran = len(variants(evidence, variant, sets[0]))
    shown = title or variant
    if not ran:
        return Row(shown, tuple(cells), "missing", _make_all(planned))
    return Row(f"{shown} ({ran} {'seed' if ran == 1 else 'seeds'})", tuple(cells), command=_make_all(planned))


def _make_all(planned: Sequence[Planned]) -> str:
    return " && ".join(one.make_command() for one in planned)


def _mean_cell(metric: str, values: Sequence[float], command: str) -> Cell:
    if not values:
        return Cell("not run", None, command)
    mean = fmean(values)
    spread = f" ± {format_score(metric, stdev(values))}" if len(values) > 1 else ""
    return Cell(f"{format_score(metric, mean)}{spread}", mean, command)


def _test_variants(evidence: Evidence, sets: Sequence[str]) -> Table:
    """Return RISE's difference to each other row, with the p of a paired t-test over questions."""
    rows = []
    for variant in ("-DPS", "-MLD"):
        cells = [_test_cell(evidence, variant, *key) for key in _keys(sets)]
        ran = any(cell.value is not None for cell in cells)
        rows.append(Row(f"RISE against {variant}", tuple(cells), "ours" if ran else "missing"))
    note = (
        f"RISE's mean minus the other's. * p < {LEVEL} either way: paired t-test over questions, each question's "
        "score being its mean over the seeds; for BLEU the score of each question alone. It says how sure the "
        "difference of these trained models is, not how another set of seeds would differ."
    )
    return Table("ablation-tests", "RISE against its ablations", "Pair", score_columns(sets), tuple(rows), note)


def _test_cell(evidence: Evidence, variant: str, dataset: str, metric: str) -> Cell:
    command = "riseq reproduce --only table2"
    ours, theirs = (_mean_each(evidence, name, dataset, metric) for name in ("RISE", variant))
    if ours is None or theirs is None:
        return Cell("not run", None, command)
    means = [_mean_score(evidence, name, dataset, metric) for name in ("RISE", variant)]
    difference = means[0] - means[1]
    test = t_test(ours, theirs)
    sign = "+" if difference >= 0 else "−"
    return Cell(f"{sign}{format_score(metric, abs(difference))}", difference, command, star=test.p < LEVEL, p=test.p)


def _mean_each(
    evidence: Evidence, variant: str, dataset: str, metric: str
) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    found = [evidence.measured(one.name, dataset) for one in variants(evidence, variant, dataset)]
    each = [one.each(metric) for one in found if one is not None and len(one) > 1]
    return np.mean(each, axis=0) if each else None


def _mean_score(evidence: Evidence, variant: str, dataset: str, metric: str) -> float:
    found = [evidence.measured(one.name, dataset) for one in variants(evidence, variant, dataset)]
    return fmean(one.score(metric) for one in found if one is not None)


def _build_edited(evidence: Evidence) -> Table:
    command = "riseq reproduce --only table2"
    rows = []
    for variant in paper.ABLATION:
        seeds = variants(evidence, variant, TEST)
        tested, sampled = [], []
        for one in seeds:
            passes = evidence.passes(one.name, TEST)
            questions = [example.question for example in evidence.examples(TEST)]
            limit = evidence.counted(one.name) or COUNTED_PASSES
            tested.append(100 * share_edited(questions, passes or [], limit))
            training = evidence.manifests[one.name].training
            if training is not None and training.edited is not None:
                sampled.append(100 * training.edited)
        printed = paper.NON_KEEP.get(variant)
        cells = (
            _share_cell(tested, command),
            _share_cell(sampled, "the column 'edited' of log.csv in the run's folder"),
            Cell("not told" if printed is None else f"{printed:.0f}", printed),
        )
        rows.append(Row(variant, cells, "ours" if seeds else "missing"))
    columns = (Column("at test"), Column("sampled, last epoch"), Column("paper"))
    note = (
        "Percent of positions, mean over the seeds run, on CANARD test. At test: over all passes made, the one that "
        "changes nothing counted too; edits are read from the texts before and after a pass. Sampled: as the "
        "training log tells it. The paper speaks of sampled edits."
    )
    return Table("edited", "Edits that are not Keep", "Method", columns, tuple(rows), note)


def _share_cell(values: Sequence[float], command: str) -> Cell:
    return Cell(f"{fmean(values):.1f}", fmean(values), command) if values else Cell("not run", None, command)
