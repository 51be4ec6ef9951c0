"""Outputs written down, in one go or several."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from riseq.reproduce import predict as keeping
from riseq.reproduce.predict import Wanted, keep, note_training, take_outputs
from riseq.reproduce.store import Store
from riseq.types import Example, InputError, Simplification
from tiny_report import DEV, ROWS, TEST, write_data


class Shortener:
    """Drops the first word; breaks down after ``breath`` questions."""

    name = "short"

    def __init__(self, breath: int | None = None) -> None:
        self.breath, self.asked = breath, 0

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        for example in examples:
            if self.breath is not None and self.asked >= self.breath:
                raise KeyboardInterrupt
            self.asked += 1
            yield Simplification(example.question, example.question.partition(" ")[2])


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_data(tmp_path / "data")
    monkeypatch.setenv("RISEQ_DATA", str(folder))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


ORIGIN = Wanted("origin", "origin", "riseq predict --system origin")


def test_outputs_and_manifest_are_written_without_the_sets_texts(root: Path, store: Store) -> None:
    assert keep(store, ORIGIN, [TEST, DEV]) == [TEST, DEV]
    assert store.read("origin", DEV) == {f"{DEV}-{k}": () for k in range(len(ROWS))}
    manifest = store.read_manifest("origin")
    assert manifest is not None
    assert (manifest.title, manifest.parameters, manifest.counted_passes) == ("Origin", None, None)
    assert manifest.sets[DEV].rows == len(ROWS)
    assert manifest.sets[DEV].command == ORIGIN.command
    assert sorted(path.name for path in (store.folder / "origin").iterdir()) == [
        "canard.dev.qonly.jsonl.gz",
        "canard.test.qonly.jsonl.gz",
        "manifest.json",
    ]


def test_what_is_there_is_not_run_again_unless_asked(root: Path, store: Store) -> None:
    keep(store, ORIGIN, [DEV])
    assert keep(store, ORIGIN, [DEV, TEST]) == [TEST]
    assert keep(store, ORIGIN, [DEV], again=True) == [DEV]
    other = Wanted("origin", "origin", "riseq predict --system origin --limit 2", limit=2)
    assert keep(store, other, [DEV]) == [DEV]
    assert len(store.read("origin", DEV) or {}) == 2


def test_a_stopped_run_goes_on_with_the_row_it_stopped_at(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = Wanted("short", "short", "riseq predict --system short")
    first, second = Shortener(breath=2), Shortener()
    systems = iter((first, second))
    monkeypatch.setattr(keeping, "open_system", lambda wanted: next(systems))
    with pytest.raises(KeyboardInterrupt):
        keep(store, wanted, [DEV])
    assert store.read("short", DEV) is None
    assert keep(store, wanted, [DEV]) == [DEV]
    assert (first.asked, second.asked) == (2, len(ROWS) - 2)
    outputs = store.read("short", DEV)
    assert outputs is not None
    assert list(outputs) == [f"{DEV}-{k}" for k in range(len(ROWS))]
    assert outputs[f"{DEV}-0"] == ("was Alien released?",)


def test_what_another_command_left_is_not_gone_on_with(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Shortener(breath=2), Shortener()
    systems = iter((first, second))
    monkeypatch.setattr(keeping, "open_system", lambda wanted: next(systems))
    with pytest.raises(KeyboardInterrupt):
        keep(store, Wanted("short", "short", "one"), [DEV])
    keep(store, Wanted("short", "short", "another"), [DEV])
    assert second.asked == len(ROWS)


def test_an_editing_systems_passes_are_all_saved_and_three_count(root: Path, store: Store) -> None:
    wanted = Wanted("rise-small", "rise", "riseq predict --system rise", limit=3)
    keep(store, wanted, [DEV])
    manifest = store.read_manifest("rise-small")
    assert manifest is not None
    assert manifest.counted_passes == 3
    assert manifest.parameters is not None
    assert manifest.parameters > 30e6
    outputs = store.read("rise-small", DEV)
    assert outputs is not None
    assert outputs[f"{DEV}-0"] == ("When was it released?",)


def test_outputs_from_elsewhere_are_taken_without_their_repetitions(root: Path, store: Store, tmp_path: Path) -> None:
    rows = [{"id": f"{DEV}-{k}", "passes": [question.lower()] * 2} for k, (_, question, _) in enumerate(ROWS)]
    rows[0]["passes"] = ["when was it released ?"] * 3
    (tmp_path / "canard.dev.qonly.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert take_outputs(store, Wanted("origin", "origin", "elsewhere"), tmp_path) == [DEV]
    outputs = store.read("origin", DEV)
    assert outputs is not None
    assert outputs[f"{DEV}-0"] == ("when was it released ?",)
    assert outputs[f"{DEV}-1"] == ()


def test_outputs_from_elsewhere_have_to_be_whole(root: Path, store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no outputs, expected some of canard.test.qonly.jsonl"):
        take_outputs(store, Wanted("origin", "origin", "elsewhere"), tmp_path)
    (tmp_path / "canard.dev.qonly.jsonl").write_text('{"id": "x", "passes": []}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"has no output for the example .canard/dev\.qonly-0."):
        take_outputs(store, Wanted("origin", "origin", "elsewhere"), tmp_path)


def test_training_is_noted_in_the_manifest(root: Path, store: Store) -> None:
    with pytest.raises(InputError, match="no saved predictions to note"):
        note_training(store, "origin", "one H200", 1.5)
    keep(store, ORIGIN, [DEV])
    note_training(store, "origin", "one H200", 1.5)
    note_training(store, "origin", None, 2.5)
    manifest = store.read_manifest("origin")
    assert manifest is not None
    assert manifest.training is not None
    assert (manifest.training.hardware, manifest.training.hours) == ("one H200", 2.5)
