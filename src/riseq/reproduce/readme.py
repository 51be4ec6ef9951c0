"""README's results and the tables of everyday cases, made from saved outputs between two comments of a page."""

import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

from riseq.files import write_text
from riseq.metrics.first_turns import FirstTurns
from riseq.reproduce.blocks import find_root, write_blocks
from riseq.reproduce.everyday import SHARES_BEGIN, WAYS_BEGIN, build_shares, build_ways, write_list
from riseq.reproduce.plan import (
    ANSWERS,
    GROUNDED_SETS,
    SET_TITLES,
    SHIPPED,
    TEST,
    TEST_SETS,
    UNSEEN,
    PlannedSystem,
    read_paper,
)
from riseq.reproduce.report import read_speeds
from riseq.reproduce.score_tables import LEVEL, TITLES, compare, list_rivals
from riseq.reproduce.scoreboard import Scoreboard
from riseq.terminal.results import score_digits

BEGIN = "<!-- made by riseq reproduce --readme README.md; do not edit -->"
GROUNDED = "All rows of RISE are asked the benchmark's way. Grounded, as people get it, on CAsT-19"
_SHIPPED = {
    "rise-small": ("**RISE, ours, `default`", "int8", "**"),
    "rise-large": ("RISE, ours, `large`", "4 bits", ""),
}
_FORMS: tuple[tuple[str, FirstTurns], ...] = ((TEST, "kept"), (UNSEEN, "kept"), (UNSEEN, "asked"))
MOST_DIGITS = 6
ABLATIONS = {"-DPS": "epsilon-greedy draws", "-MLD": "maximum likelihood"}


def write_readme(board: Scoreboard, path: Path) -> Path:
    """Write the results into the page ``path``, wherever it has the comments for them, and return it."""
    write_blocks(path, list_builders(board, path))
    write_text(path, replace_speed(board, path.read_text(encoding="utf-8")))
    return path


def replace_speed(board: Scoreboard, text: str) -> str:
    """Return a page's ``text`` with the measured median of the default model in its sentence on milliseconds."""
    found = read_speeds(board.store)["systems"].get(SHIPPED["default"])
    if found is None:
        return text
    return re.sub(r"about \d+ milliseconds a question", f"about {found['median_ms']:.0f} milliseconds a question", text)


def list_builders(board: Scoreboard, path: Path) -> dict[str, Callable[[], str]]:
    """Return what builds each part of the page ``path``, by the comment that it begins with."""
    root = find_root(path)
    return {
        BEGIN: lambda: build_results(board, root),
        SHARES_BEGIN: lambda: build_shares(board.store.folder, root),
        WAYS_BEGIN: lambda: build_ways(board),
    }


def build_results(board: Scoreboard, root: Path | None = None) -> str:
    """Return README's table of all systems, and below it what follows from saved outputs.

    The everyday cases are those of the project in ``root``; without them nothing is said of them.
    """
    metrics = " ".join(TITLES.values())
    heads = (f"CANARD test: {metrics}", f"CAsT-19: {metrics}", "CAsT-19, first turns asked: B-4 R-L CIDEr")
    lines = [f"| | {' | '.join(heads)} |", f"|{'---|' * (len(heads) + 1)}"]
    for one in board.systems("baseline"):
        seeds = board.repeats(one)
        lines += [_write_row(board, _label(board, one.title, seeds), seeds), *_paper_row(one.paper or "", "")]
    lines += _paper_row("RISE", f" ({_millions(read_paper()['parameters']['RISE'])})")
    for variant, suffix in (("RISE", ""), *((one, f", {one}") for one in ABLATIONS)):
        seeds = board.seeds(variant)
        lines.append(_write_row(board, _label(board, f"RISE on CANARD alone{suffix}", seeds), seeds))
    ours = sorted(board.systems("rise"), key=lambda one: one.name in _SHIPPED)  # those of riseq come last
    lines += [_write_row(board, _label_shipped(board, one), [one]) for one in ours]
    return "\n".join([*lines, "", *_write_notes(board), *write_list(board.store.folder, root)]) + "\n"


def _write_notes(board: Scoreboard) -> list[str]:
    count = sum(not one.context for one in board.examples(UNSEEN))
    notes = [
        f"{count} questions of CAsT-19 have no dialogue before them. In its first column they stay as they are, for",
        "all systems alike (`--first-turns kept`); in the last column every system is asked, and a dash says that the",
        "saved outputs do not have it. Parameters are all weights of encoder, decoder and heads.",
    ]
    named = [(_SHIPPED[one.name][0].rpartition(" ")[2], one) for one in board.systems("rise") if one.name in _SHIPPED]
    for dataset, how in ((ANSWERS, f"With answers in the contexts (`{ANSWERS}`)"), (GROUNDED_SETS[0], GROUNDED)):
        found = [f"{name} has {text}" for name, one in named if (text := _write_scores(board, [one], dataset, "kept"))]
        if found:
            notes += ["", f"{how} {' and '.join(found)}."]
    return notes + _compare(board)


def _compare(board: Scoreboard) -> list[str]:
    """Return where RISE on CANARD alone is above the others that learnt from CANARD alone, and where an ablation is."""
    said, lines, count = [], list[str](), len(TEST_SETS) * len(TITLES)
    for title, rivals in list_rivals(board).items():
        every = {(name, key): compare(board, rivals, name, key) for name in TEST_SETS for key in TITLES}
        found = {key: one for key, one in every.items() if one is not None}
        if not found:
            continue
        above = [one for one in found.values() if one.ours > one.theirs]
        said.append(f"above {title} in {len(above)} (p < {LEVEL} in {sum(one.sure for one in above)})")
        for dataset in TEST_SETS if title in ABLATIONS else ():
            ahead = {key: one for (name, key), one in found.items() if name == dataset and one.theirs > one.ours}
            if ahead:
                sure = sum(one.sure for one in ahead.values())
                which = ", ".join(
                    f"{TITLES[key]} ({write_pair(one.theirs, one.ours, score_digits(key))})"
                    for key, one in ahead.items()
                )
                where = f"Its ablation {title} ({ABLATIONS[title]}) is ahead of it on {SET_TITLES[dataset]}"
                lines.append(f"{where} in {which}; p < {LEVEL} in {sure or 'none'}.")
    head = f"Of the {count} numbers in the first two columns, RISE on CANARD alone is {', '.join(said)}."
    return ["", head, *lines] if said else []


def write_pair(first: float, second: float, form: str) -> str:
    """Return two numbers in a ``form`` such as ``.1f``, with more digits where they differ and would look alike."""
    digits = int(form[1:-1])
    while digits < MOST_DIGITS and first != second and f"{first:.{digits}f}" == f"{second:.{digits}f}":
        digits += 1
    return f"{first:.{digits}f} to {second:.{digits}f}"


def _write_row(board: Scoreboard, label: str, systems: list[PlannedSystem]) -> str:
    cells = [_write_scores(board, systems, *form) or "-" for form in _FORMS]
    return f"| {label} | {' | '.join(cells)} |"


def _write_scores(board: Scoreboard, systems: list[PlannedSystem], dataset: str, form: FirstTurns) -> str:
    """Return the mean scores in a row; the form in which every question is asked has the last three alone."""
    every = [board.scores(one.name, dataset, None, form) for one in systems]
    ran = [scores for scores in every if scores is not None]
    metrics = [*TITLES][3:] if form == "asked" else [*TITLES]
    return " ".join(f"{fmean(one.score(key) for one in ran):{score_digits(key)}}" for key in metrics) if ran else ""


def _paper_row(title: str, size: str) -> list[str]:
    numbers = read_paper()["overall"].get(title)
    if numbers is None:
        return []
    cells = [
        " ".join(f"{value:{score_digits(key)}}" for key, value in zip(TITLES, numbers[dataset], strict=True))
        for dataset in TEST_SETS
    ]
    return [f"| {title}, paper{size} | {' | '.join(cells)} | - |"]


def _label_shipped(board: Scoreboard, planned: PlannedSystem) -> str:
    title, precision, mark = _SHIPPED.get(planned.name, (planned.title, "", ""))
    return f"{_label(board, title, [planned], precision)}{mark}"


def _label(board: Scoreboard, title: str, systems: list[PlannedSystem], precision: str = "") -> str:
    """Return the title with the parameters, and the precision or the number of seeds."""
    ran = [manifest for one in systems if (manifest := board.manifests.get(one.name))]
    sizes = [one.parameters for one in ran if one.parameters]
    facts = (_millions(fmean(sizes)) if sizes else "", precision, f"{len(ran)} seeds" if len(ran) > 1 else "")
    return f"{title} ({', '.join(filter(None, facts))})" if any(facts) else title


def _millions(parameters: float) -> str:
    return f"{parameters / 1e6:.0f}M"
