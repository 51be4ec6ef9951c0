"""What models make of everyday cases, judged from their saved answers: parts of README, docs and cards."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from riseq.metrics.behaviour import ALL, load_cases, measure_behaviour
from riseq.model.folder import read_json
from riseq.reproduce.plan import ANSWERS, GROUNDED_SUFFIX, SHIPPED, TEST, UNSEEN
from riseq.reproduce.score_tables import TITLES
from riseq.reproduce.scoreboard import Scoreboard
from riseq.terminal.results import score_digits

SAVED_ANSWERS = "everyday.json"
"""Beside the systems' folders: the answers of models to everyday cases (``benchmarks/judge_everyday.py --save``)."""
SHARES_BEGIN = "<!-- shares of everyday cases, made by riseq reproduce; do not edit -->"
WAYS_BEGIN = "<!-- scores of both ways of asking, made by riseq reproduce; do not edit -->"
FEWEST = 6
"""A share of fewer cases says nothing of a phenomenon."""
PARTS = ("kept", "clean", "right", "exact")


@dataclass(frozen=True, slots=True)
class Suite:
    """A file of everyday cases, and what was decided by it."""

    file: str
    title: str
    in_readme: bool = False


SUITES = {
    "suite": Suite("data/everyday/suite.jsonl", "the suite, by which models and rules were chosen", True),
    "held_out": Suite(
        "data/everyday/held_out.jsonl", "cases once held out, by which `default`'s last step was chosen too", True
    ),
    "fresh": Suite("data/everyday/fresh.jsonl", "cases after whose reading rules were written"),
    "later": Suite("data/everyday/later.jsonl", "more such cases"),
    "reading": Suite("examples/reading.jsonl", "dialogues by which no model was chosen", True),
}
"""By the names that saved answers go by."""
Shares = Mapping[str, Mapping[str, float]]
"""The shares of a suite's cases by phenomenon, and of all."""


def measure_answers(folder: Path, root: Path | None) -> dict[str, dict[str, Shares]]:
    """Return by suite and model the shares of the answers saved in ``folder`` to cases of the project in ``root``.

    Nothing where there is no such project or nothing is saved.
    """
    path = folder / SAVED_ANSWERS
    if root is None or not path.is_file():
        return {}
    saved, found = read_json(path), dict[str, dict[str, Shares]]()
    for name, suite in SUITES.items():
        models = sorted(model for model in saved if name in saved[model])
        if models:
            cases = load_cases(root / suite.file)
            texts = {model: [saved[model][name][case.example.id] for case in cases] for model in models}
            found[name] = {model: measure_behaviour(cases, texts[model]) for model in models}
    return found


def write_list(folder: Path, root: Path | None) -> list[str]:
    """Return README's lines about everyday cases; none where no answers are saved."""
    found = {name: each for name, each in measure_answers(folder, root).items() if SUITES[name].in_readme}
    lines = [
        f"- {SUITES[name].title} (`{SUITES[name].file}`, {_count(each)}): "
        f"{', '.join(f'`{model}` {_write_shares(shares)}' for model, shares in each.items())}"
        for name, each in found.items()
    ]
    return (
        ["", f"Of everyday cases, percent {', '.join(PARTS)}, grounded, as people get it:", "", *lines] if lines else []
    )


def build_shares(folder: Path, root: Path | None) -> str:
    """Return a table of the shares of every suite, a column a model."""
    found = measure_answers(folder, root)
    models = sorted({model for each in found.values() for model in each})
    heads = ["cases", "n", *(f"{', '.join(PARTS)} of `{model}`" for model in models)]
    rows = [
        [f"`{SUITES[name].file}`: {SUITES[name].title}", _count(each)]
        + [_write_shares(each[model]) if model in each else "not saved" for model in models]
        for name, each in found.items()
    ]
    return _write_table(heads, rows)


def build_card(folder: Path, root: Path | None, model: str) -> str:
    """Return a table of one model's shares of every suite, with the phenomenon that is right least often."""
    rows = []
    for name, each in measure_answers(folder, root).items():
        if model in each:
            known = {kind: one["right"] for kind, one in each[model].items() if kind != ALL and one["n"] >= FEWEST}
            least = min(known.values(), default=0.0)
            worst = " and ".join(kind.replace("-", " ") for kind, share in known.items() if share == least)
            file = f"`{SUITES[name].file}`: {SUITES[name].title}"
            rows.append([file, _count(each), _write_shares(each[model]), f"{worst} {least:.1f}" if worst else "-"])
    return _write_table(["everyday cases", "n", ", ".join(PARTS), f"right least often of {FEWEST} cases or more"], rows)


def build_ways(board: Scoreboard) -> str:
    """Return the last three scores of the shipped models on the test sets, asked both ways, where they are saved."""
    ways = (("grounded", GROUNDED_SUFFIX), ("the benchmark's way", ""))
    heads = ["", *(f"`{model}`, {way}" for model in SHIPPED for way, _ in ways)]
    rows = []
    for title, name in (("CAsT-19", UNSEEN), ("CANARD, questions alone", TEST), ("CANARD, with answers", ANSWERS)):
        found = (board.scores(system, f"{name}{suffix}") for system in SHIPPED.values() for _, suffix in ways)
        cells = [
            " ".join(f"{one.score(key):{score_digits(key)}}" for key in [*TITLES][3:]) if one else "not saved"
            for one in found
        ]
        rows.append([title, *cells])
    return _write_table(heads, rows)


def _count(each: Mapping[str, Shares]) -> str:
    return f"{next(iter(each.values()))[ALL]['n']:.0f}"


def _write_shares(shares: Shares) -> str:
    return " ".join(f"{shares[ALL][part]:.1f}" for part in PARTS)


def _write_table(heads: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, ["---"] * len(heads), *rows))
