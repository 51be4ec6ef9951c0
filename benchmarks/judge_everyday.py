"""Judge a model on the everyday suite: what is kept, shortened, clean, right and exact, by phenomenon.

    python benchmarks/judge_everyday.py [--model FOLDER] [--suite SUITE.jsonl] [--benchmark] [--show]

A case is right where nothing of ``keep`` is lost, no word of ``bad`` appears and nothing of ``gone`` is left; where
there is nothing to shorten, where the text is one of ``gold``. It is exact where the text is one of ``gold``. The judge
does not see broken grammar: read what ``--show`` prints, every case that is not exact. ``--benchmark`` asks without
the grounded condition.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

SUITE = Path(__file__).resolve().parent.parent / "data" / "everyday" / "suite.jsonl"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is true of a text in its case."""

    kept: bool
    shortened: bool
    clean: bool
    right: bool
    exact: bool


COLUMNS = tuple(one.name for one in fields(Judgement))


def judge(case: Mapping[str, Any], text: str) -> Judgement:
    """Return what is true of ``text`` as the answer to ``case``."""
    kept = all(has_phrase(text, part) for part in case["keep"])
    clean = not any(has_phrase(text, part) for part in case["bad"])
    exact = any(level(text) == level(gold) for gold in case["gold"])
    shortened = not any(has_phrase(text, part) for part in case["gone"]) if case["gone"] else exact
    return Judgement(kept, shortened, clean, kept and clean and shortened, exact)


def has_phrase(text: str, phrase: str) -> bool:
    """Return whether ``phrase`` stands in ``text`` as whole words, whatever their case."""
    return re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", text.lower()) is not None


def level(text: str) -> str:
    """Return the text without what two right answers may differ in: case, spaces, the last mark."""
    return re.sub(r"\s+", " ", text.lower().replace("’", "'").strip(" ?.!"))


def write_table(cases: Sequence[Mapping[str, Any]], judged: Sequence[Judgement]) -> str:
    """Return the percentages of each phenomenon and of all."""
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for case, one in zip(cases, judged, strict=True):
        groups[case["phenomenon"]].append(one)
    lines = [f"{'phenomenon':34}{'n':>4}" + "".join(f"{name:>11}" for name in COLUMNS)]
    for name, group in [*sorted(groups.items()), ("all", list(judged))]:
        shares = [100 * sum(column) / len(group) for column in zip(*map(astuple, group), strict=True)]
        lines.append(f"{name:34}{len(group):>4}" + "".join(f"{share:>11.1f}" for share in shares))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a folder; else the model that ships")
    parser.add_argument("--suite", type=Path, default=SUITE)
    parser.add_argument("--benchmark", action="store_true", help="ask the benchmark's way, not grounded")
    parser.add_argument("--show", action="store_true", help="print every case that is not exact")
    arguments = parser.parse_args()
    from riseq import Simplifier

    cases = [json.loads(line) for line in arguments.suite.read_text(encoding="utf-8").splitlines()]
    simplifier = Simplifier.load(arguments.model)
    asked = [(case["question"], case["context"]) for case in cases]
    texts = [one.text for one in simplifier.batch(asked, grounded=not arguments.benchmark)]
    judged = [judge(case, text) for case, text in zip(cases, texts, strict=True)]
    print(write_table(cases, judged))
    for case, text, one in zip(cases, texts, judged, strict=True):
        if arguments.show and not one.exact:
            verdict = "right" if one.right else "wrong"
            print(f"\n{case['id']} {case['phenomenon']}: {verdict}\n  asked  {case['question']}\n  said   {text}")
            print(f"  gold   {' / '.join(case['gold'])}")


if __name__ == "__main__":
    main()
