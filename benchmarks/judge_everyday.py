"""Judge a model on the everyday suite: what is kept, shortened, clean, right and exact, by phenomenon.

    python benchmarks/judge_everyday.py [--model FOLDER] [--suite SUITE.jsonl|all] [--benchmark] [--show] [--save FILE]

What each word means is said in docs/everyday.md (``riseq.metrics.behaviour`` is the judge). The judge does not see
broken grammar: read what ``--show`` prints, every case that is not exact. ``--benchmark`` asks without the grounded
condition. ``--save`` puts the answers into a file with those of other models and suites: the shares in README, docs and
cards come from benchmarks/predictions/everyday.json, with those of ``SAVED`` (``--suite all``).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from riseq.files import write_text
from riseq.metrics.behaviour import Case, Verdict, judge, load_cases, measure_behaviour
from riseq.reproduce.everyday import SUITES

ROOT = Path(__file__).resolve().parent.parent
SUITE = ROOT / "data" / "everyday" / "suite.jsonl"
SAVED = [ROOT / suite.file for suite in SUITES.values()]
"""The files whose answers are saved."""


def write_table(cases: Sequence[Case], texts: Sequence[str]) -> str:
    """Return the percentages of each phenomenon and of all."""
    lines = [f"{'phenomenon':34}{'n':>4}" + "".join(f"{name:>11}" for name in Verdict._fields)]
    for name, shares in measure_behaviour(cases, texts).items():
        found = (shares[part] for part in Verdict._fields)
        lines.append(f"{name:34}{shares['n']:>4}" + "".join(f"{share:>11.1f}" for share in found))
    return "\n".join(lines)


def save_answers(path: Path, model: str, suite: str, answers: dict[str, str]) -> None:
    """Put a model's answers to a suite beside what the file has."""
    saved = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    saved.setdefault(model, {})[suite] = answers
    write_text(path, json.dumps(saved, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder or a name; else the model that ships")
    parser.add_argument("--suite", type=Path, default=SUITE, help="a file of cases; all: those whose answers are saved")
    parser.add_argument("--benchmark", action="store_true", help="ask the benchmark's way, not grounded")
    parser.add_argument("--show", action="store_true", help="print every case that is not exact")
    parser.add_argument("--save", type=Path, help="also write the answers here, under the model and the suite")
    arguments = parser.parse_args()
    from riseq import Simplifier

    simplifier = Simplifier.load(arguments.model)
    for suite in SAVED if str(arguments.suite) == "all" else [arguments.suite]:
        cases = load_cases(suite)
        asked = [(case.example.question, case.example.context) for case in cases]
        texts = [one.text for one in simplifier.batch(asked, grounded=not arguments.benchmark)]
        print(f"{suite.name}\n{write_table(cases, texts)}")
        for case, text in zip(cases, texts, strict=True):
            verdict = judge(case, text)
            if arguments.show and not verdict.exact:
                told = "right" if verdict.right else "wrong"
                print(f"\n{case.example.id} {case.phenomenon}: {told}\n  asked  {case.example.question}")
                print(f"  said   {text}\n  gold   {' / '.join(case.gold)}")
        if arguments.save is not None:
            answers = {case.example.id: text for case, text in zip(cases, texts, strict=True)}
            save_answers(arguments.save, arguments.model or "default", suite.stem, answers)


if __name__ == "__main__":
    main()
