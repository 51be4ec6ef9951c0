"""A trained baseline's outputs and scores on sets, all sets by one loaded model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from riseq.data.dataset import load_dataset
from riseq.data.rows import prediction_row
from riseq.data.tables import write_rows
from riseq.metrics.scores import score
from riseq.systems.registry import load_system


def predict_sets(system: str, model: str | Path, names: Sequence[str], out: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the scores on each named set, its predictions beside their targets being a JSON Lines file in ``out``."""
    loaded = load_system(system, model)
    Path(out).mkdir(parents=True, exist_ok=True)
    for name in names:
        examples = load_dataset(name, need_target=True)
        began = time.perf_counter()
        results = list(loaded.simplify(examples))
        seconds = time.perf_counter() - began
        rows = (prediction_row(example, result) for example, result in zip(examples, results, strict=True))
        stem = name.strip("./").replace("/", ".").removesuffix(".jsonl")
        write_rows(Path(out) / f"{stem}.jsonl", rows)
        scores = score([result.text for result in results], [example.target or "" for example in examples])
        yield {"system": system, "data": name, **scores.as_dict(), "questions_per_s": round(len(examples) / seconds, 1)}
