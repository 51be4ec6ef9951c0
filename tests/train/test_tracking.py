"""What a run leaves in its folder."""

from __future__ import annotations

import csv
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from riseq.train.task import StepMeans, Task
from riseq.train.tracking import COLUMNS, Tracker, write_card

SCORES = {"bleu4": 70.0, "rougeL": 80.0, "cider": 6.5, "exact": 40.0}


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def report(tracker: Tracker, steps: range, epoch: int = 0) -> None:
    tracker.start_epoch(epoch, 3, 10)
    for step in steps:
        means = StepMeans(loss=2.0 / step, states=32, reward=0.5, edited=0.1, sampling_s=0.25)
        tracker.step(step, means, float(step - steps.start + 1))


def test_steps_and_scores_are_rows_and_events(tmp_path: Path) -> None:
    tracker = Tracker(tmp_path / "run")
    report(tracker, range(1, 3))
    tracker.scores(1, {"a, set": SCORES})
    tracker.close()
    rows = read(tmp_path / "run" / "log.csv")
    assert tuple(rows[0]) == COLUMNS
    assert [(row["step"], row["epoch"], row["loss"]) for row in rows] == [
        ("1", "1", "2.000000"),
        ("2", "1", "1.000000"),
    ]
    assert (rows[1]["states_per_s"], rows[1]["sampling_share"]) == ("32", "0.2500")
    (scores,) = read(tmp_path / "run" / "scores.csv")
    assert scores == {"epoch": "1", "data": "a, set", **{k: f"{v:.4f}" for k, v in SCORES.items()}}
    assert list((tmp_path / "run" / "tensorboard").iterdir())


def test_a_resumed_run_forgets_what_it_will_tell_again(tmp_path: Path) -> None:
    first = Tracker(tmp_path)
    report(first, range(1, 6))
    first.scores(1, {"a, set": SCORES})
    first.scores(2, {"a, set": SCORES})
    first.close()
    with (tmp_path / "log.csv").open("a", encoding="utf-8") as f:
        f.write("6,1,0.3")  # killed while it wrote
    second = Tracker(tmp_path)
    second.rewind(step=3, epoch=1)
    report(second, range(4, 5))
    second.close()
    assert [row["step"] for row in read(tmp_path / "log.csv")] == ["1", "2", "3", "4"]
    assert [(row["epoch"], row["data"]) for row in read(tmp_path / "scores.csv")] == [("1", "a, set")]
    third = Tracker(tmp_path)
    third.rewind(step=0, epoch=0)
    assert read(tmp_path / "log.csv") == []


def test_a_quiet_tracker_writes_nothing(tmp_path: Path) -> None:
    tracker = Tracker(tmp_path / "run", quiet=True)
    report(tracker, range(1, 3))
    tracker.scores(1, {"a": SCORES})
    tracker.rewind(0, 0)
    tracker.close()
    assert not (tmp_path / "run").exists()


PLAIN = {"train": ["a.jsonl"], "dev": ["b.jsonl"], "seed": 1, "epochs": 2}
GROUNDED = {
    "train": ["canard/train.qonly", "qrecc/extra_train.qa"],
    "dev": ["canard/dev.qonly"],
    "everyday": ["data/everyday/dialogues.jsonl"],
    "with_truth": ["canard/train.answers.qa"],
    "seed": 8,
    "epochs": 2,
}


@pytest.mark.parametrize(
    ("settings", "said", "unsaid"),
    [
        (PLAIN, ["those of the named files."], ["synthetic", "shared alike"]),
        (
            GROUNDED,
            [
                "The everyday dialogues are synthetic",
                "everyday dialogues (synthetic), CC BY 4.0",
                "CANARD, CC BY-SA 4.0; QReCC, CC BY-SA 3.0",
                "The model is shared alike: CC BY-SA 4.0.",
                "`canard/train.answers.qa`, `data/everyday/dialogues.jsonl`",
            ],
            ["those of the named files"],
        ),
        ({**PLAIN, "train": ["data/everyday/dialogues.jsonl"]}, ["CC BY 4.0"], ["shared alike"]),
    ],
    ids=["files of one's own", "what ships", "no share-alike data"],
)
def test_a_card_names_data_and_licences(settings: dict[str, Any], said: list[str], unsaid: list[str]) -> None:
    task = cast("Task", SimpleNamespace(title="A model", about="It edits.", made_from="gte-small"))
    card = write_card(task, {"settings": settings, "scores": {}, "parameters": 10, "epoch": 1, "system": "rise"})
    assert [part for part in said if part not in card] == []
    assert [part for part in unsaid if part in card] == []
