"""What several questions after one dialogue cost together, beside one by one.

    python benchmarks/bench_many.py [--model MODEL] [--threads N] [--repeat 9]

The questions are those of examples/pool.txt; the two take turns, and of each the best time counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from riseq import Simplifier
from riseq.engine.benchmark import time_turns

POOL = Path(__file__).resolve().parent.parent / "examples" / "pool.txt"
DIALOGUE = (
    "Who was Marie Curie?",
    "A physicist and chemist. She was the first woman to win a Nobel Prize.",
    "Where was she born?",
    "In Warsaw, in 1867.",
)
COUNTS = (3, 10, 30)
TOGETHER, APART = "together", "one by one"


def measure(model: Simplifier, questions: list[str], repeat: int) -> tuple[float, float]:
    """Return the best milliseconds for all ``questions``, together and one by one."""
    actions = [
        (TOGETHER, lambda: model.many(DIALOGUE, questions)),
        (APART, lambda: [model(question, DIALOGUE) for question in questions]),
    ]
    best = time_turns(actions, repeat)
    return 1_000 * best[TOGETHER][0], 1_000 * best[APART][0]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeat", type=int, default=9)
    asked = parser.parse_args()
    model = Simplifier.load(asked.model, threads=asked.threads)
    questions = POOL.read_text(encoding="utf-8").splitlines()
    print("| questions | together, ms | one by one, ms | times as fast |\n|---|---|---|---|")
    for count in COUNTS:
        together, apart = measure(model, questions[:count], asked.repeat)
        print(f"| {count} | {together:.1f} | {apart:.1f} | {apart / together:.2f} |")


if __name__ == "__main__":
    main()
