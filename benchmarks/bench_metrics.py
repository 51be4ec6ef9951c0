"""Print how much faster the metrics are than pycocoevalcap, on CANARD's test questions, in one run.

Run it from the repository's root: ``python benchmarks/bench_metrics.py``, with RISEQ_DATA.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from results import find_data
from riseq.metrics.coco import bleu_of_parts, bleu_parts, cider, rouge_l
from riseq.metrics.ngrams import count_ngrams
from riseq.metrics.scores import score
from riseq.text.pieces import scoring_form
from riseq.text.words import split

REPEATS = 3


def measure(action: Callable[[], object]) -> float:
    """Return the seconds of the fastest of a few runs."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    path = find_data() / "canard" / "test.qonly.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    questions, rewrites = [row["question"] for row in rows], [row["target"] for row in rows]
    predictions, targets = [scoring_form(text) for text in questions], [scoring_form(text) for text in rewrites]
    gold = {number: [text] for number, text in enumerate(targets)}
    ours = {number: [text] for number, text in enumerate(predictions)}

    pairs: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        (
            "BLEU-1..4",
            lambda: bleu_of_parts(bleu_parts(count_ngrams(predictions, targets)).sum(axis=0)),
            lambda: Bleu(4).compute_score(gold, ours, verbose=0),
        ),
        ("ROUGE-L", lambda: rouge_l(predictions, targets), lambda: Rouge().compute_score(gold, ours)),
        ("CIDEr", lambda: cider(count_ngrams(predictions, targets)), lambda: Cider().compute_score(gold, ours)),
    ]
    print(f"{len(rows)} questions, best of {REPEATS} runs")
    print(f"{'':10} {'riseq':>10} {'COCO':>10} {'ratio':>7}")
    for name, mine, theirs in pairs:
        fast, slow = measure(mine), measure(theirs)
        print(f"{name:10} {1000 * fast:7.1f} ms {1000 * slow:7.1f} ms {slow / fast:6.1f}x")
    print(f"score(), everything from raw strings: {1000 * measure(lambda: score(questions, rewrites)):.0f} ms")
    print(f"split(): {len(rows) / measure(lambda: [split(text) for text in questions]):,.0f} questions a second")


if __name__ == "__main__":
    main()
