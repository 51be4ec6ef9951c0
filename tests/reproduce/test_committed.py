"""The committed predictions and the committed copy of the report, against the paper's data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.dataset import load_dataset
from riseq.reproduce.document import render_markdown
from riseq.reproduce.plan import GROUNDED_SETS, PREDICTIONS, SAVED_SETS, SETS, TEST, UNSEEN
from riseq.reproduce.predict import PredictionJob
from riseq.reproduce.report import build_report
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.archive import ARCHIVE, read_archive
from riseq.systems.saved import Store

LARGEST = 1_500_000


@pytest.fixture(scope="module")
def store(root: Path) -> Store:
    folder = root / PREDICTIONS
    if not folder.is_dir():
        pytest.skip(f"there are no saved predictions at {folder}")
    return Store(folder)


def test_they_hold_outputs_and_nothing_of_the_sets(store: Store) -> None:
    assert not list(store.folder.glob("*/*.jsonl*")), "python benchmarks/archive_predictions.py moves them"
    assert sum(path.stat().st_size for path in store.folder.rglob("*") if path.is_file()) < LARGEST
    archives = sorted(store.folder.rglob(ARCHIVE))
    assert archives
    for name, content in (file for archive in archives for file in read_archive(archive).items()):
        assert {key for line in content.splitlines() for key in json.loads(line)} == {"id", "passes"}, name


def test_manifests_tell_of_the_files_beside_them(store: Store, root: Path) -> None:
    for name in store.names():
        manifest = store.read_manifest(name)
        assert manifest is not None
        assert manifest.name == name
        there = {dataset for dataset in (*SAVED_SETS, *GROUNDED_SETS) if store.find(name, dataset)}
        assert there == set(manifest.sets)
        text = (store.folder / name / "manifest.json").read_text(encoding="utf-8")
        assert not any(start in text for start in ('"/', " /", "=/")), "a path of one machine"


BEFORE_ROUNDING = "da64f4f65873eaa7"
"""The graphs of large whose outputs are saved, as its manifest's note says."""


@pytest.mark.parametrize(("name", "model"), [("rise-large", "large"), ("rise-small", "default")])
def test_outputs_are_of_the_model_that_ships(store: Store, data_dir: Path, name: str, model: str) -> None:
    manifest = store.read_manifest(name)
    assert manifest is not None
    for dataset, facts in manifest.sets.items():
        job = PredictionJob(name, "rise", facts.command, Path(model), first_turns=facts.first_turns)
        known = {"model": BEFORE_ROUNDING} if model == "large" and "positions" in manifest.note else {}
        assert {**job.fingerprint(dataset), **known} == facts.fingerprint, f"make them again with: {facts.command}"


def test_every_example_has_an_output(store: Store, data_dir: Path) -> None:
    for dataset in SETS:
        ids = {example.id for example in load_dataset(dataset, root=data_dir)}
        for name in store.names():
            outputs = store.read(name, dataset)
            assert outputs is None or set(outputs) == ids, (name, dataset)


def test_the_copy_in_docs_has_the_numbers_of_the_predictions(store: Store, data_dir: Path, root: Path) -> None:
    board = Scoreboard(store, load=lambda name: load_dataset(name, root=data_dir))
    table = render_markdown(build_report(board, ["table1", "table2", "first-turns", "answers", "training", "speed"]))
    copy = (root / "docs" / "report.md").read_text(encoding="utf-8")
    rows = [line for line in table.splitlines() if line.startswith("|")]
    stale = [row for row in rows if row not in copy]
    assert not stale, "make it again with: riseq reproduce --compact docs"
    origin = board.scores("origin", TEST), board.scores("origin", UNSEEN)
    measured = [[round(one.score(metric), 1) for metric in ("bleu1", "bleu4", "rougeL")] for one in origin if one]
    assert measured == [[54.7, 35.3, 70.9], [76.0, 57.6, 85.0]]
