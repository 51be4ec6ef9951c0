"""datasets.map, in this process and in others."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import datasets
import pytest

from riseq.integrations.datasets import SimplifyBatch
from riseq.types import InputError

Rows = list[tuple[str, list[str]]]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.fixture
def dataset(rows: Rows) -> datasets.Dataset:
    return datasets.Dataset.from_list([{"question": question, "context": context} for question, context in rows])


def test_map_gives_what_the_engine_gives(dataset: datasets.Dataset, model: Path, texts: list[str]) -> None:
    assert dataset.map(SimplifyBatch(model), batched=True, batch_size=7)["text"][:] == texts
    assert dataset.map(SimplifyBatch(model), batched=True, num_proc=2)["text"][:] == texts
    streamed = dataset.to_iterable_dataset().map(SimplifyBatch(model), batched=True, batch_size=7)
    assert [row["text"] for row in streamed] == texts
    split = datasets.DatasetDict({"train": dataset}).map(SimplifyBatch(model, output="said"), batched=True)
    assert split["train"]["said"][:] == texts


def test_messages_and_missing_questions(model: Path, rows: Rows, texts: list[str]) -> None:
    said = [{"asked": row[0], "history": [{"role": "user", "content": text} for text in row[1]]} for row in rows[:5]]
    dataset = datasets.Dataset.from_list([*said, {"asked": None, "history": []}])
    batch = SimplifyBatch(model, question="asked", context="history")
    assert dataset.map(batch, batched=True)["text"][:] == [*texts[:5], None]


def test_kept_results_are_of_the_same_settings_and_model(
    dataset: datasets.Dataset, model: Path, tmp_path: Path
) -> None:
    def fingerprint(folder: Path, **settings: float) -> str:
        mapped = dataset.map(SimplifyBatch(folder, **settings), batched=True)  # type: ignore[arg-type]
        return str(mapped._fingerprint)

    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    first = fingerprint(folder)
    assert fingerprint(folder) == first
    assert fingerprint(folder, strength=0.2) != first
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, "another": "model"}), encoding="utf-8")
    assert fingerprint(folder) != first


def test_mistakes_are_told(dataset: datasets.Dataset, model: Path) -> None:
    with pytest.raises(InputError, match="no column 'asked', expected one of: question, context"):
        dataset.map(SimplifyBatch(model, question="asked"), batched=True)
    with pytest.raises(InputError, match="no such folder"):
        SimplifyBatch("nowhere at all")
    with pytest.raises(InputError, match="protect"):
        SimplifyBatch(model, protect="word")
