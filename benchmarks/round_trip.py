"""Measure the round trip: how much of a question each system's outputs give back, and what a guard by it is worth.

    python benchmarks/round_trip.py --resolver MODEL [--part PART ...] [--row ROW ...] [--save FILE] [--page PAGE]

Outputs that are saved in benchmarks/predictions are resolved in the contexts they were made in; those of the everyday
suites are made here. A part is a set of ``SYSTEMS``, or ``guard SUITE``; without ``--part`` all are measured, one after
the other. What was measured is kept in ``--save`` beside the other parts, and ``--page`` writes the tables of all of it
into docs/round-trip.md. Without a resolver nothing is measured, and the tables are printed again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from results import ROOT, format_table, replace_section
from riseq.cli import take_evenly
from riseq.engine.resolver import Resolver
from riseq.engine.round_trip import FORMS, pick_whole
from riseq.engine.simplifier import Simplifier
from riseq.files import write_text
from riseq.metrics.behaviour import ALL, Case, judge, load_cases, measure_behaviour
from riseq.metrics.round_trip import measure_cases
from riseq.systems import Gold, System
from riseq.systems.registry import load_system
from riseq.systems.saved import Saved, Store

STORE = Store(ROOT / "benchmarks" / "predictions")
MEASURED = ROOT / "benchmarks" / "round_trip.json"
PAGE = ROOT / "docs" / "round-trip.md"
SYSTEMS: Mapping[str, Mapping[str, tuple[str, str | None, bool]]] = {
    "canard/test.qonly": {
        "Origin": ("saved", "origin", False),
        "Rule": ("saved", "rule", False),
        "Trans++": ("saved", "trans++", False),
        "QGDiv": ("saved", "qgdiv", False),
        "QuerySim": ("saved", "querysim", False),
        "RISE on CANARD alone": ("saved", "ablation-rise-1", False),
        "default, the benchmark's way": ("saved", "rise-small", False),
        "large, the benchmark's way": ("saved", "rise-large", False),
        "gold": ("gold", None, False),
    },
    "canard/test.qa": {
        "Origin": ("saved", "origin", False),
        "Rule": ("saved", "rule", False),
        "Trans++": ("saved", "trans++", False),
        "QGDiv": ("saved", "qgdiv", False),
        "QuerySim": ("saved", "querysim", False),
        "RISE on CANARD alone": ("saved", "ablation-rise-1", False),
        "default, the benchmark's way": ("saved", "rise-small", False),
        "large, the benchmark's way": ("saved", "rise-large", False),
        "default": ("rise", "default", True),
        "large": ("rise", "large", True),
        "gold": ("gold", None, False),
    },
    "everyday/suite": {
        "Origin": ("origin", None, False),
        "Rule": ("rule", None, False),
        "default, the benchmark's way": ("rise", "default", False),
        "default": ("rise", "default", True),
        "large": ("rise", "large", True),
        "gold": ("gold", None, False),
    },
}
"""By set and row of the table: the system, its model or the folder of its saved outputs, and whether it is grounded."""
SUITES = ("suite", "held_out", "fresh", "later")
TIMED = 40
"""How many questions are asked one by one for the time a question takes."""
SHARES = ("dropped", "back", "restored", "whole", "exact")
TABLE, GUARD = "What comes back", "The guard in numbers"
"""The headings of the page that are written here."""


def open_row(dataset: str, system: str, model: str | None, grounded: bool) -> System:
    """Return the system of a row of the table."""
    if system == "gold":
        return Gold()
    if system == "saved":
        path = STORE.find(str(model), dataset)
        if path is None:
            raise SystemExit(f"{model}: no outputs are saved on {dataset}")
        return Saved(path)
    return load_system(system, model, threads=1, grounded=grounded) if model else load_system(system)


def load_sample(dataset: str, sample: int) -> list[Case]:
    """Return the cases of a suite, or ``sample`` questions of a set that have a dialogue, at even distances."""
    cases = load_cases(ROOT / "data" / f"{dataset}.jsonl" if dataset.startswith("everyday/") else dataset)
    if cases[0].phenomenon:
        return cases
    found = {case.example.id: case for case in cases if case.example.context}
    return [found[one.id] for one in take_evenly([case.example for case in found.values()], sample)]


def measure_set(dataset: str, resolver: Resolver, sample: int, titles: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the round trips of each system of ``titles`` on a set, by phenomenon and for all."""
    cases = load_sample(dataset, sample)
    examples = [case.example for case in cases]
    for title in titles:
        row = SYSTEMS[dataset][title]
        texts = [one.text for one in open_row(dataset, *row).simplify(examples)]
        asked = [(text, one.context) for text, one in zip(texts, examples, strict=True)]
        resolved = [one.text for one in resolver.resolve_many(asked)]
        found = {name: one.as_dict() for name, one in measure_cases(cases, texts, resolved).items()}
        print(dataset, title, found[ALL], flush=True)
        yield title, found


def measure_guard(suite: str, resolver: Resolver, simplifier: Simplifier) -> dict[str, Any]:
    """Return what the judge says of a suite with and without the guard, grounded and not."""
    cases, rows = load_cases(ROOT / "data" / "everyday" / f"{suite}.jsonl"), {}
    asked = [(case.example.question, case.example.context) for case in cases]
    for way, grounded in (("default", True), ("default, the benchmark's way", False)):
        results = list(simplifier.batch(asked, grounded=grounded, n_best=FORMS))
        texts = [
            (one.text, said) for result, (_, said) in zip(results, asked, strict=True) for one in result.alternatives
        ]
        found = iter(resolver.resolve_many(texts))
        backs = [{one.text: next(found).text for one in result.alternatives} for result in results]
        chosen = {
            way: [one.text for one in results],
            f"{way}, require": [pick_whole(*pair, "require").text for pair in zip(results, backs, strict=True)],
            f"{way}, prefer": [pick_whole(*pair, "prefer").text for pair in zip(results, backs, strict=True)],
        }
        plain = [judge(case, one.text).right for case, one in zip(cases, results, strict=True)]
        for name, answers in chosen.items():
            others = sum(one != result.text for one, result in zip(answers, results, strict=True))
            right = [judge(case, text).right for case, text in zip(cases, answers, strict=True)]
            better = sum(now and not was for was, now in zip(plain, right, strict=True))
            worse = sum(was and not now for was, now in zip(plain, right, strict=True))
            counts = {"other": others, "better": better, "worse": worse}
            rows[name] = {**measure_behaviour(cases, answers)[ALL], **counts}
            print(suite, name, rows[name], flush=True)
    return rows


def measure_time(simplifier: Simplifier, resolver: Resolver, suite: str = SUITES[0]) -> dict[str, float]:
    """Return the milliseconds a question takes alone, without and with the guard."""
    cases = load_cases(ROOT / "data" / "everyday" / f"{suite}.jsonl")[:TIMED]
    times = {}
    for name, engine in (("plain", simplifier), ("guarded", simplifier.with_round_trip(resolver))):
        began = time.perf_counter()
        for case in cases:
            engine(case.example.question, case.example.context)
        times[name] = 1000 * (time.perf_counter() - began) / len(cases)
    print("ms a question", times, flush=True)
    return times


def write_tables(measured: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of each section that is written here, by its heading."""
    sections = {}
    found = {name: measured[name] for name in SYSTEMS if name in measured}
    if found:
        parts = []
        for dataset, rows in found.items():
            cells = [[title, *(f"{of[ALL][share]:.1f}" for share in SHARES)] for title, of in rows.items()]
            count = next(iter(rows.values()))[ALL]["n"]
            parts.append(format_table((f"`{dataset}`, {count} questions", *SHARES), cells))
        kinds = found.get("canard/test.qonly", {})
        if kinds:
            names = [name for name in kinds["gold"] if name != ALL and not name.startswith("none")]
            titles = [f"{name} ({kinds['gold'][name]['n']})" for name in names]
            cells = [[title, *(f"{of[name]['restored']:.1f}" for name in names)] for title, of in kinds.items()]
            said = "Restored by what the target does to its question, as the report counts it (and how many there are):"
            parts.append(f"{said}\n\n{format_table(('`canard/test.qonly`', *titles), cells)}")
        if suite := found.get("everyday/suite"):
            kinds = sorted(name for name in suite["gold"] if name != ALL and suite["gold"][name]["dropped"])
            cells = [[name, *(f"{of[name]['restored']:.1f}" for of in suite.values())] for name in kinds]
            parts.append(f"Restored by phenomenon:\n\n{format_table(('`everyday/suite`', *suite), cells)}")
        sections[TABLE] = "\n\n".join(parts)
    if guarded := {suite: measured[f"guard {suite}"] for suite in SUITES if f"guard {suite}" in measured}:
        verdict = ("kept", "shortened", "clean", "right", "exact")
        parts = []
        for suite, rows in guarded.items():
            cells = [
                [name, *(f"{of[one]:.1f}" for one in verdict), f"{of['other']}, {of['better']}, {of['worse']}"]
                for name, of in rows.items()
            ]
            parts.append(format_table((f"`data/everyday/{suite}.jsonl`", *verdict, "other, better, worse"), cells))
        if times := measured.get("time"):
            plain, guard = (f"{times[name]:.0f}" for name in ("plain", "guarded"))
            parts.append(f"A question alone takes {plain} ms without the guard and {guard} ms with it, on one core.")
        sections[GUARD] = "\n\n".join(parts)
    return sections


def write_page(page: Path, measured: Mapping[str, Any]) -> None:
    """Put the tables below their headings of ``page``."""
    text = page.read_text(encoding="utf-8")
    for title, section in write_tables(measured).items():
        text = replace_section(text, title, section)
    write_text(page, text)


def arrange(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was measured in the order of the tables, however it was measured."""
    parts = {name: measured[name] for name in sorted(measured)}
    return {name: {title: of[title] for title in SYSTEMS.get(name, of) if title in of} for name, of in parts.items()}


def save(path: Path, measured: Mapping[str, Any]) -> None:
    """Write what was measured."""
    write_text(path, json.dumps(arrange(measured), indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parts = (*SYSTEMS, *(f"guard {suite}" for suite in SUITES), "time")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resolver", help="a model that resolves: resolve, or a folder")
    parser.add_argument("--part", action="append", choices=parts, help="what to measure; repeat it for more")
    parser.add_argument("--row", action="append", help="of a set, measure this row alone; repeat it for more")
    parser.add_argument("--sample", type=int, default=300, help="how many questions of a set")
    parser.add_argument("--save", type=Path, default=MEASURED)
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    asked = parser.parse_args(arguments)
    measured = json.loads(asked.save.read_text(encoding="utf-8")) if asked.save.exists() else {}
    if asked.resolver:
        resolver = Resolver.load(asked.resolver, threads=1)
        for part in asked.part or parts:
            if part in SYSTEMS:
                for title, row in measure_set(part, resolver, asked.sample, asked.row or list(SYSTEMS[part])):
                    measured.setdefault(part, {})[title] = row
                    save(asked.save, measured)
            elif part == "time":
                measured[part] = measure_time(Simplifier.load(threads=1), resolver)
            else:
                measured[part] = measure_guard(part.removeprefix("guard "), resolver, Simplifier.load(threads=1))
            save(asked.save, measured)
    arranged = arrange(measured)
    if asked.page:
        write_page(asked.page, arranged)
    for title, section in write_tables(arranged).items():
        print(f"\n{title}\n\n{section}")


if __name__ == "__main__":
    main()
