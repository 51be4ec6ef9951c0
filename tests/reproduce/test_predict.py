"""Systems run over sets: scored, or their outputs written down, in one go or several."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from riseq.metrics.scores import score
from riseq.reproduce import predict
from riseq.reproduce.predict import PredictionJob, evaluate, import_outputs, note_training, save_outputs
from riseq.systems import Origin
from riseq.systems.saved import Store
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


ORIGIN = PredictionJob("origin", "origin", "riseq predict --system origin")


def test_outputs_and_manifest_are_written_without_the_sets_texts(root: Path, store: Store) -> None:
    assert save_outputs(store, ORIGIN, [TEST, DEV]) == [TEST, DEV]
    assert store.read("origin", DEV) == {f"{DEV}-{k}": () for k in range(len(ROWS))}
    manifest = store.read_manifest("origin")
    assert manifest is not None
    assert (manifest.title, manifest.parameters, manifest.counted_passes) == ("Origin", None, None)
    assert manifest.sets[DEV].rows == len(ROWS)
    assert manifest.sets[DEV].command == ORIGIN.command
    assert manifest.sets[DEV].fingerprint == ORIGIN.fingerprint(DEV)
    assert sorted(path.name for path in (store.folder / "origin").iterdir()) == [
        "canard.dev.qonly.jsonl.gz",
        "canard.test.qonly.jsonl.gz",
        "manifest.json",
    ]


def test_what_is_there_is_not_run_again_unless_asked(root: Path, store: Store) -> None:
    save_outputs(store, ORIGIN, [DEV])
    assert save_outputs(store, ORIGIN, [DEV, TEST]) == [TEST]
    assert save_outputs(store, ORIGIN, [DEV], again=True) == [DEV]
    other = PredictionJob("origin", "origin", "riseq predict --system origin --limit 2", limit=2)
    assert save_outputs(store, other, [DEV]) == [DEV]
    assert len(store.read("origin", DEV) or {}) == 2


def test_a_stopped_run_goes_on_with_the_row_it_stopped_at(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = PredictionJob("short", "short", "riseq predict --system short")
    first, second = Shortener(breath=2), Shortener()
    systems = iter((first, second))
    monkeypatch.setattr(predict, "open_system", lambda *_: next(systems))
    with pytest.raises(KeyboardInterrupt):
        save_outputs(store, job, [DEV])
    assert store.read("short", DEV) is None
    assert save_outputs(store, job, [DEV]) == [DEV]
    assert (first.asked, second.asked) == (2, len(ROWS) - 2)
    outputs = store.read("short", DEV)
    assert outputs is not None
    assert list(outputs) == [f"{DEV}-{k}" for k in range(len(ROWS))]
    assert outputs[f"{DEV}-0"] == ("was Alien released?",)


def make_model(folder: Path, content: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "weights.bin").write_text(content, encoding="utf-8")
    return folder


def test_a_model_trained_again_at_the_same_path_is_run_again(
    root: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = [Shortener(), Shortener()]
    waiting = iter(systems)
    monkeypatch.setattr(predict, "open_system", lambda *_: next(waiting))
    model = make_model(tmp_path / "model", "first")
    job = PredictionJob("short", "rise", "riseq predict --model model", model)
    assert save_outputs(store, job, [DEV]) == [DEV]
    elsewhere = PredictionJob("short", "rise", "another command, the same model", model)
    assert save_outputs(store, elsewhere, [DEV]) == []
    make_model(model, "second")
    assert save_outputs(store, job, [DEV]) == [DEV]
    assert [system.asked for system in systems] == [len(ROWS)] * 2


def test_what_another_model_left_is_not_gone_on_with(
    root: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Shortener(breath=2), Shortener()
    systems = iter((first, second))
    monkeypatch.setattr(predict, "open_system", lambda *_: next(systems))
    job = PredictionJob("short", "rise", "riseq predict --model model", make_model(tmp_path / "model", "first"))
    with pytest.raises(KeyboardInterrupt):
        save_outputs(store, job, [DEV])
    make_model(tmp_path / "model", "second")
    save_outputs(store, job, [DEV])
    assert second.asked == len(ROWS)
    assert not list(store.folder.rglob("*.part"))


def test_what_was_left_is_not_gone_on_with_where_all_is_asked_for_again(
    root: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Shortener(breath=2), Shortener()
    systems = iter((first, second))
    monkeypatch.setattr(predict, "open_system", lambda *_: next(systems))
    job = PredictionJob("short", "short", "riseq predict --system short")
    with pytest.raises(KeyboardInterrupt):
        save_outputs(store, job, [DEV])
    save_outputs(store, job, [DEV], again=True)
    assert second.asked == len(ROWS)


def test_other_data_of_the_same_name_are_run_again(root: Path, store: Store) -> None:
    assert save_outputs(store, ORIGIN, [DEV, TEST]) == [DEV, TEST]
    path = root / f"{DEV}.jsonl"
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[1:]), encoding="utf-8")
    assert save_outputs(store, ORIGIN, [DEV, TEST]) == [DEV]
    assert len(store.read("origin", DEV) or {}) == len(ROWS) - 1


def test_outputs_of_which_nobody_knows_how_they_were_made_are_read_and_made_again(root: Path, store: Store) -> None:
    save_outputs(store, ORIGIN, [DEV])
    path = store.folder / "origin" / "manifest.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    del fields["sets"][DEV]["fingerprint"]
    path.write_text(json.dumps(fields), encoding="utf-8")
    manifest = store.read_manifest("origin")
    assert manifest is not None
    assert manifest.sets[DEV].fingerprint is None
    assert "fingerprint" not in manifest.to_dict()["sets"][DEV], "nothing is made up"
    assert store.read("origin", DEV)
    assert save_outputs(store, ORIGIN, [DEV]) == [DEV]
    assert save_outputs(store, ORIGIN, [DEV]) == []


def test_an_editing_systems_passes_are_all_saved_and_three_count(root: Path, store: Store) -> None:
    job = PredictionJob("rise-small", "rise", "riseq predict --system rise", limit=3)
    save_outputs(store, job, [DEV])
    manifest = store.read_manifest("rise-small")
    assert manifest is not None
    assert manifest.counted_passes == 3
    assert manifest.parameters is not None
    assert manifest.parameters > 30e6
    outputs = store.read("rise-small", DEV)
    assert outputs is not None
    assert outputs[f"{DEV}-0"] == ("When was it released?",)


def test_outputs_as_people_get_them_are_a_set_of_their_own(root: Path, store: Store) -> None:
    sets = [f"{DEV}+grounded", DEV]
    job = PredictionJob("rise-small", "rise", "riseq predict --system rise", limit=3)
    assert sorted(save_outputs(store, job, sets)) == sorted(sets)
    assert job.fingerprint(sets[0]) != job.fingerprint(DEV)
    assert store.read("rise-small", sets[0]) is not None
    assert save_outputs(store, job, sets) == []
    with pytest.raises(InputError, match=r"\+grounded: the system 'origin' cannot be asked so"):
        save_outputs(store, ORIGIN, sets)


def test_outputs_from_elsewhere_are_taken_without_their_repetitions(root: Path, store: Store, tmp_path: Path) -> None:
    rows = [{"id": f"{DEV}-{k}", "passes": [question.lower()] * 2} for k, (_, question, _) in enumerate(ROWS)]
    rows[0]["passes"] = ["when was it released ?"] * 3
    (tmp_path / "canard.dev.qonly.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert import_outputs(store, PredictionJob("origin", "origin", "elsewhere"), tmp_path) == [DEV]
    outputs = store.read("origin", DEV)
    assert outputs is not None
    assert outputs[f"{DEV}-0"] == ("when was it released ?",)
    assert outputs[f"{DEV}-1"] == ()


def test_outputs_from_elsewhere_have_to_be_whole(root: Path, store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no outputs, expected some of canard.test.qonly.jsonl"):
        import_outputs(store, PredictionJob("origin", "origin", "elsewhere"), tmp_path)
    (tmp_path / "canard.dev.qonly.jsonl").write_text('{"id": "x", "passes": []}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"has no output for the example .canard/dev\.qonly-0."):
        import_outputs(store, PredictionJob("origin", "origin", "elsewhere"), tmp_path)


def test_training_is_noted_in_the_manifest(root: Path, store: Store) -> None:
    with pytest.raises(InputError, match="no saved predictions to note"):
        note_training(store, "origin", "one H200", 1.5)
    save_outputs(store, ORIGIN, [DEV])
    note_training(store, "origin", "one H200", 1.5)
    note_training(store, "origin", None, 2.5)
    manifest = store.read_manifest("origin")
    assert manifest is not None
    assert manifest.training is not None
    assert (manifest.training.hardware, manifest.training.hours) == ("one H200", 2.5)


EXAMPLES = [
    Example("1", (), "When was Alien released?", "When was it released?"),
    Example("2", (), "Why did it win?", "Why did it win?"),
]


class Forgetful:
    """A broken system: it leaves out the last example."""

    name = "forgetful"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        for example in list(examples)[:-1]:
            yield Simplification(example.question, example.question)


def test_scores_are_those_of_the_predictions() -> None:
    evaluation = evaluate(Origin(), EXAMPLES)
    assert [prediction.text for prediction in evaluation.predictions] == [example.question for example in EXAMPLES]
    targets = [str(example.target) for example in EXAMPLES]
    assert evaluation.scores == score([example.question for example in EXAMPLES], targets)
    assert evaluation.scores.exact == 50.0


def test_nothing_to_score_is_a_users_error() -> None:
    with pytest.raises(InputError, match="at least one example"):
        evaluate(Origin(), [])
    with pytest.raises(InputError, match="'3' has no target"):
        evaluate(Origin(), [*EXAMPLES, Example("3", (), "Why?")])


def test_a_system_that_loses_examples_is_found_out() -> None:
    with pytest.raises(ValueError, match="gave 1 results for 2 examples"):
        evaluate(Forgetful(), EXAMPLES)
