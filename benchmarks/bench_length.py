"""What a question costs by the length of its dialogue, one question at a time.

    python benchmarks/bench_length.py [--model MODEL] [--threads N] [--repeat 15]

The dialogue is one exchange said again and again, so that only its length changes; times are medians, and beside each
stands its ratio to the shortest.
"""

from __future__ import annotations

import argparse
import statistics
import time

from riseq import Simplifier
from riseq.text.words import forms

EXCHANGE = (
    "Who was Marie Curie?",
    "She was a physicist and chemist who did pioneering work on radioactivity in Paris, won two Nobel Prizes, raised"
    " two daughters and ran a laboratory.",
)
QUESTION = "Where did Marie Curie study physics?"
EXCHANGES = (1, 2, 4, 8, 12, 16)


def measure(model: Simplifier, exchanges: int, repeat: int) -> float:
    """Return the median milliseconds of the question after so many exchanges."""
    context, taken = EXCHANGE * exchanges, []
    model(QUESTION, context=context)
    for _ in range(repeat):
        began = time.perf_counter()
        model(QUESTION, context=context)
        taken.append(1_000 * (time.perf_counter() - began))
    return statistics.median(taken)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeat", type=int, default=15)
    asked = parser.parse_args()
    model = Simplifier.load(asked.model, threads=asked.threads)
    print(f"{model!r}\n\n| utterances | words | ms | times the shortest | all of it read |\n|---|---|---|---|---|")
    shortest = None
    for exchanges in EXCHANGES:
        found = measure(model, exchanges, asked.repeat)
        shortest = shortest or found
        words = exchanges * sum(len(forms(text)) for text in EXCHANGE)
        read = "no" if model(QUESTION, context=EXCHANGE * exchanges).truncated else "yes"
        print(f"| {2 * exchanges} | {words} | {found:.1f} | {found / shortest:.1f} | {read} |")


if __name__ == "__main__":
    main()
