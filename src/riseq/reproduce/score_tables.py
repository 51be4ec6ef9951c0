"""The paper's score tables: overall, ablation and validation, each with the paper's numbers below ours."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np

from riseq.metrics.first_turns import FirstTurns
from riseq.metrics.ngrams import Floats
from riseq.metrics.passes import share_edited
from riseq.metrics.scores import t_test
from riseq.reproduce.document import Cell, Column, Row, Table
from riseq.reproduce.plan import (
    ANSWERS,
    BY_NAME,
    COUNTED_PASSES,
    DEV,
    SET_TITLES,
    TEST,
    TEST_SETS,
    UNSEEN,
    PlannedSystem,
    read_paper,
    write_note,
)
from riseq.reproduce.scoreboard import Scoreboard
from riseq.terminal.results import SCORE_TITLES, score_digits

TITLES = {metric: title for metric, title in SCORE_TITLES.items() if metric != "exact"}
LEVEL = 0.01
"""The paper's level of significance."""
Baselines = Mapping[tuple[str, str], PlannedSystem | None]
"""The best baseline, by set and metric; None where none was run."""


def build_overall(board: Scoreboard) -> Table:
    """Return Table 1: every system on both test sets, stars against the best baseline."""
    baselines, ours = board.systems("baseline"), board.systems("rise")
    best = {key: _best_baseline(board, baselines, *key) for key in _keys(TEST_SETS)}
    rows: list[Row] = []
    for planned in baselines:
        rows += [_system_row(board, planned, TEST_SETS), *paper_rows(planned.paper, "overall", TEST_SETS)]
    if ours:
        rows.append(_variant_row(board, "RISE", TEST_SETS, "RISE on CANARD alone", best))
    for planned in ours:
        rows.append(_system_row(board, planned, TEST_SETS, best))
        if planned == [one for one in ours if one.paper][-1]:
            rows += paper_rows("RISE", "overall", TEST_SETS)
    titles = [one.title for one in baselines if one in best.values()]
    against = f"the best baseline that was run in each column ({', '.join(titles)})" if titles else "nothing yet"
    note = " ".join([write_note("overall", against=against, level=LEVEL), *list_own_notes(board)])
    return Table("overall", "Table 1. Overall performance", "Method", score_columns(TEST_SETS), mark_best(rows), note)


def list_own_notes(board: Scoreboard) -> list[str]:
    """Return what the manifests of systems outside the plan say of them, a sentence each."""
    own = (one for one in board.systems("baseline", "rise") if one.name not in BY_NAME)
    return [f"{one.title}: {note}." for one in own if (note := board.manifests[one.name].note)]


def build_validation(board: Scoreboard) -> Table:
    """Return the validation table: every system on CANARD's development set."""
    rows: list[Row] = []
    for planned in board.systems("baseline"):
        rows += [_system_row(board, planned, (DEV,)), *paper_rows(planned.paper, "validation", (DEV,))]
    for variant in ("-DPS", "-MLD"):
        rows += [_variant_row(board, variant, (DEV,)), *paper_rows(variant, "validation", (DEV,))]
    rows.append(_variant_row(board, "RISE", (DEV,), "RISE, as in the ablation"))
    rows += [_system_row(board, planned, (DEV,)) for planned in board.systems("rise")]
    rows += paper_rows("RISE", "validation", (DEV,))
    return Table("validation", "Validation", "Method", score_columns((DEV,)), mark_best(rows), write_note("validation"))


def build_ablation(board: Scoreboard) -> list[Table]:
    """Return Table 2, the tests between its rows, and the share of edits that are not Keep."""
    rows: list[Row] = []
    for variant in read_paper()["ablation"]:
        rows += [_variant_row(board, variant, TEST_SETS), *paper_rows(variant, "ablation", TEST_SETS)]
    note = write_note("ablation")
    scores = Table("ablation", "Table 2. Ablation", "Method", score_columns(TEST_SETS), mark_best(rows), note)
    return [scores, _test_variants(board, TEST_SETS), _build_edited(board)]


def score_columns(sets: Sequence[str]) -> tuple[Column, ...]:
    """Return the six metrics of each set."""
    return tuple(Column(TITLES[metric], SET_TITLES[name]) for name, metric in _keys(sets))


def paper_rows(title: str | None, table: str, sets: Sequence[str]) -> list[Row]:
    """Return the paper's own row of one of its tables, where it has one."""
    numbers = read_paper()[table]
    if title not in numbers:
        return []
    values = [value for name in sets for value in numbers[title][name]]
    cells = (
        Cell.number(value, form=score_digits(metric)) for (_, metric), value in zip(_keys(sets), values, strict=True)
    )
    return [Row(f"{title}, paper", tuple(cells), "paper")]


def mark_best(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows with the highest of ours in each column marked."""
    ours = [row for row in rows if row.kind == "ours"]
    if len(ours) < 2:
        return tuple(rows)
    columns = zip(*(row.cells for row in ours), strict=True)
    tops = [max((cell.value for cell in column if cell.value is not None), default=None) for column in columns]

    def mark(row: Row) -> Row:
        cells = zip(row.cells, tops, strict=True)
        return replace(row, cells=tuple(replace(c, best=c.value is not None and c.value == top) for c, top in cells))

    return tuple(mark(row) if row.kind == "ours" else row for row in rows)


def _keys(sets: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, metric) for name in sets for metric in TITLES]


def _best_baseline(
    board: Scoreboard, baselines: Sequence[PlannedSystem], dataset: str, metric: str
) -> PlannedSystem | None:
    means = [(fmean(found), one) for one in baselines if (found := _measure_row(board, one, dataset, metric))]
    return max(means, key=lambda pair: pair[0])[1] if means else None


def _measure_row(board: Scoreboard, planned: PlannedSystem, dataset: str, metric: str) -> list[float]:
    return [*_measure(board, board.repeats(planned), dataset, metric)[0].values()]


def _system_row(board: Scoreboard, planned: PlannedSystem, sets: Sequence[str], best: Baselines | None = None) -> Row:
    """Return a system's scores; of a baseline that was trained with several seeds their mean."""
    seeds = board.repeats(planned)
    cells = [_score_cell(board, seeds, *key, best[key] if best else None) for key in _keys(sets)]
    label = _count_seeds(board, planned.title, seeds, sets[0]) if len(seeds) > 1 else planned.title
    return Row.of_system(label, cells, board.made_by(planned.name, sets[0]), planned.make_command())


def _count_seeds(board: Scoreboard, title: str, seeds: Sequence[PlannedSystem], dataset: str) -> str:
    """Return the title with the number of seeds that were run; one run of what is no ablation is not told as a seed."""
    ran = sum(board.passes(one.name, dataset) is not None for one in seeds)
    if not ran or (ran == 1 and seeds[0].group != "ablation"):
        return title
    return f"{title} ({ran} {'seed' if ran == 1 else 'seeds'})"


def _variant_row(
    board: Scoreboard, variant: str, sets: Sequence[str], title: str | None = None, best: Baselines | None = None
) -> Row:
    """Return the mean of an ablation's seeds; where ``best`` names baselines, each question's mean is tested."""
    seeds = board.seeds(variant)
    cells = tuple(_score_cell(board, seeds, *key, best[key] if best else None) for key in _keys(sets))
    ran = any(board.passes(one.name, sets[0]) is not None for one in seeds)
    label = _count_seeds(board, title or variant, seeds, sets[0])
    return Row(label, cells, "ours" if ran else "missing", _make_all(seeds))


def _make_all(systems: Sequence[PlannedSystem]) -> str:
    return " && ".join(one.make_command() for one in systems)


def _measure(
    board: Scoreboard, systems: Sequence[PlannedSystem], dataset: str, metric: str, first_turns: FirstTurns = "kept"
) -> tuple[dict[str, float], Floats]:
    """Return the scores of those that were run, by name, and each question's mean over them."""
    every = {one.name: board.scores(one.name, dataset, None, first_turns) for one in systems}
    found = {name: scores for name, scores in every.items() if scores is not None}
    each = np.mean([scores.each[metric] for scores in found.values()], axis=0) if found else np.empty(0)
    return {name: scores.score(metric) for name, scores in found.items()}, each


def _score_cell(
    board: Scoreboard,
    systems: Sequence[PlannedSystem],
    dataset: str,
    metric: str,
    against: PlannedSystem | None = None,
    first_turns: FirstTurns = "kept",
) -> Cell:
    """Return the mean score of ``systems``, tested where a baseline to be ``against`` is given."""
    scores, each = _measure(board, systems, dataset, metric, first_turns)
    if not scores:
        if any(board.passes(one.name, dataset) is not None for one in systems):
            return Cell("not saved", None, f"{shlex.join(systems[0].predict_command())} --first-turns asked")
        return Cell.not_run(_make_all(systems))
    value = fmean(scores.values())
    spread = f" ± {stdev(scores.values()):{score_digits(metric)}}" if len(scores) > 1 else ""
    command = " && ".join(board.rescore_command(name, dataset, first_turns) for name in scores)
    cell = Cell(f"{value:{score_digits(metric)}}{spread}", value, command)
    if against is None or len(each) < 2:
        return cell
    others, other = _measure(board, board.repeats(against), dataset, metric)
    test = t_test(each, other)
    return replace(cell, star=test.p < LEVEL and value > fmean(others.values()) and test.difference > 0, p=test.p)


def list_rivals(board: Scoreboard) -> dict[str, list[PlannedSystem]]:
    """Return what RISE on CANARD alone is compared with, by title: its ablations and what else learnt from CANARD."""
    learned = {one.title: board.repeats(one) for one in board.systems("baseline") if one.recipe is not None}
    return {"-DPS": board.seeds("-DPS"), "-MLD": board.seeds("-MLD"), **learned}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A score of RISE on CANARD alone beside a rival's, each the mean of its seeds, and their paired t-test."""

    ours: float
    theirs: float
    p: float
    sure: bool
    """Whether p is below the level and the questions' mean points where the scores do."""


def compare(board: Scoreboard, rivals: Sequence[PlannedSystem], dataset: str, metric: str) -> Comparison | None:
    """Return RISE on CANARD alone beside the seeds ``rivals``; None where one of the two was not run."""
    ours, each = _measure(board, board.seeds("RISE"), dataset, metric)
    theirs, other = _measure(board, rivals, dataset, metric)
    if not ours or not theirs or len(each) < 2:
        return None
    means, test = (fmean(ours.values()), fmean(theirs.values())), t_test(each, other)
    sure = test.p < LEVEL and (test.difference > 0) == (means[0] > means[1])
    return Comparison(*means, test.p, sure)


def _test_variants(board: Scoreboard, sets: Sequence[str]) -> Table:
    """Return RISE's difference to each other row, with the p of a paired t-test over questions."""
    rows = []
    for title, rivals in list_rivals(board).items():
        cells = [_test_cell(board, rivals, *key) for key in _keys(sets)]
        rows.append(Row.of_system(f"RISE against {title}", cells, None, None))
    note, title = write_note("ablation-tests", level=LEVEL), "RISE on CANARD alone against the others"
    return Table("ablation-tests", title, "Pair", score_columns(sets), tuple(rows), note)


def _test_cell(board: Scoreboard, rivals: Sequence[PlannedSystem], dataset: str, metric: str) -> Cell:
    command = "riseq reproduce --only table2"
    found = compare(board, rivals, dataset, metric)
    if found is None:
        return Cell.not_run(command)
    difference = found.ours - found.theirs
    text = f"{'+' if difference >= 0 else '−'}{abs(difference):{score_digits(metric)}}"
    return Cell(text, difference, command, star=found.sure, p=found.p)


def build_first_turns(board: Scoreboard) -> Table:
    """Return every system on CAsT-19 in both forms: questions without a dialogue kept as they are, and asked."""
    forms: tuple[FirstTurns, ...] = ("kept", "asked")
    rows = []
    for title, systems in list_rows(board).items():
        cells = [_score_cell(board, systems, UNSEEN, metric, None, form) for form in forms for metric in TITLES]
        label = _count_seeds(board, title, systems, UNSEEN)
        rows.append(Row.of_system(label, cells, board.made_by(systems[0].name, UNSEEN), _make_all(systems)))
    columns = tuple(Column(title, f"first turns {form}") for form in forms for title in TITLES.values())
    count = sum(not one.context for one in board.examples(UNSEEN))
    note = write_note("first-turns", count=count, total=len(board.examples(UNSEEN)))
    return Table("first-turns", "Questions without a dialogue", "Method", columns, mark_best(rows), note)


def build_answers(board: Scoreboard) -> Table:
    """Return every system on CANARD test with the answers in the contexts."""
    rows = []
    for title, systems in list_rows(board).items():
        cells = [_score_cell(board, systems, *key) for key in _keys((ANSWERS,))]
        label = _count_seeds(board, title, systems, ANSWERS)
        rows.append(Row.of_system(label, cells, board.made_by(systems[0].name, ANSWERS), _make_all(systems)))
    columns, note = score_columns((ANSWERS,)), write_note("answers")
    return Table("answers", "With answers in the contexts", "Method", columns, mark_best(rows), note)


def list_rows(board: Scoreboard, ablations: Sequence[str] = ("-DPS", "-MLD")) -> dict[str, list[PlannedSystem]]:
    """Return the rows of a table of all systems, each with its seeds."""
    rows = {one.title: board.repeats(one) for one in board.systems("baseline")}
    rows |= {variant: board.seeds(variant) for variant in ablations}
    rows["RISE on CANARD alone"] = board.seeds("RISE")
    return {**rows, **{one.title: [one] for one in board.systems("rise")}}


def _build_edited(board: Scoreboard) -> Table:
    rows = []
    questions = [example.question for example in board.examples(TEST)]
    for variant in read_paper()["ablation"]:
        tested, sampled = [], []
        for one in board.seeds(variant):
            passes = board.passes(one.name, TEST)
            if passes is None:
                continue
            tested.append(100 * share_edited(questions, passes, board.counted(one.name) or COUNTED_PASSES))
            training = board.manifests[one.name].training
            if training is not None and training.edited is not None:
                sampled.append(100 * training.edited)
        cells = (
            _share_cell(tested, "riseq reproduce --only table2"),
            _share_cell(sampled, "the column 'edited' of log.csv in the run's folder"),
            Cell.number(read_paper()["non_keep"].get(variant), form=".0f"),
        )
        rows.append(Row(variant, cells, "ours" if tested else "missing"))
    columns = (Column("at test"), Column("sampled, kept epoch"), Column("paper"))
    return Table("edited", "Edits that are not Keep", "Method", columns, tuple(rows), write_note("edited"))


def _share_cell(values: Sequence[float], command: str) -> Cell:
    return Cell.number(fmean(values), command) if values else Cell.not_run(command)
