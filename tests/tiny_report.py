"""A made-up data root and store, with an editing system that makes passes, for tests of the report."""

from __future__ import annotations

import json
from pathlib import Path

from riseq.data.dataset import load_dataset
from riseq.reproduce.plan import DEV, SAVED_SETS, SETS, TEST, UNSEEN
from riseq.systems.saved import Manifest, SetFacts, Store, Training
from riseq.types import Example

PAPER_CASE = "canard-test-d495-5"
ROWS = [
    (["Who directed Alien?"], "When was Alien released?", "When was it released?"),
    (["Who directed Alien?", "When was it released?"], "Did Alien win any awards in 1979?", "Did it win any awards?"),
    (["What is throat cancer?"], "What are the symptoms of throat cancer?", "What are the symptoms?"),
    (["Who was Ira Hayes?"], "Did Ira Hayes have a wife after the war?", "Did he have a wife?"),
    (["Is Prague old?"], "Why is the sky blue?", "Why is the sky blue?"),
    (["Who was Ada Lovelace?"], "What is Ada Lovelace best known for?", "What is she known for?"),
]


def write_data(root: Path) -> Path:
    """Write the sets that outputs are saved on below ``root`` and return it."""
    for name in SAVED_SETS:
        path = root / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [
            {"id": f"{name}-{k}", "context": context, "question": question, "target": target}
            for k, (context, question, target) in enumerate(ROWS)
        ]
        if name == TEST:
            clift = "Did Montgomery Clift win any awards for any of his films?"
            said = ["When did Montgomery Clift start a film career?"]
            rows.append(
                {
                    "id": PAPER_CASE,
                    "context": said,
                    "question": clift,
                    "target": clift.replace("Montgomery Clift", "he"),
                }
            )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return root


def save_outputs(store: Store, name: str, system: str, root: Path, skill: int, **facts: object) -> None:
    """Write outputs whose first ``skill`` rows of a set reach the target in two passes; the rest is unchanged."""
    manifest = Manifest(name, name.title(), system, **facts)  # type: ignore[arg-type]
    for dataset in SETS:
        examples = load_dataset(dataset, root=root)
        store.write(name, dataset, {one.id: _make(one) if k < skill else [] for k, one in enumerate(examples)})
        manifest = manifest.with_set(dataset, SetFacts(len(examples), f"riseq predict --system {system}"))
    store.write_manifest(manifest)


def _make(example: Example) -> list[str]:
    return [f"So, {example.target}", str(example.target)]


def make_store(folder: Path, root: Path) -> Store:
    """Return a store with two baselines, the small RISE, an own system, and seeds 1 and 2 of two ablations."""
    store = Store(folder)
    save_outputs(store, "origin", "origin", root, 0)
    save_outputs(store, "rule", "rule", root, 2)
    save_outputs(store, "rise-small", "rise", root, 6, counted_passes=3, parameters=38_000_000, seed=5)
    save_outputs(store, "mine", "mine.py:Mine", root, 4)
    for seed in (1, 2):
        training = Training("riseq train recipes/x.yaml", hours=0.5, hardware="one H200", edited=0.1 * seed)
        save_outputs(store, f"ablation-dps-{seed}", "rise", root, seed, counted_passes=3, training=training, seed=seed)
        save_outputs(store, f"ablation-rise-{seed}", "rise", root, 3 + seed, counted_passes=3, training=training)
    return store


__all__ = ["DEV", "PAPER_CASE", "ROWS", "TEST", "UNSEEN", "make_store", "save_outputs", "write_data"]
