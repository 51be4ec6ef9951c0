"""Outputs that were written down: their files, and as a system."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from riseq.systems.registry import load_system
from riseq.systems.saved import Manifest, SetFacts, Store, Training, file_stem, list_passes, read_outputs, trim
from riseq.types import Example, InputError, Simplification, Step

FILM = Example("film", ("Who directed Alien?",), "When was Alien released?", "When was it out?")
CAT = Example("cat", ("What are cats?",), "What do cats eat?", "What do they eat?")


def write(path: Path, rows: Sequence[object]) -> Path:
    path.write_text(
        "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_each_example_gets_its_saved_passes_whatever_their_order(tmp_path: Path) -> None:
    rows = [{"id": "cat", "passes": []}, {"id": "film", "passes": ["When was it released?", "When was it out?"]}]
    system = load_system("saved", write(tmp_path / "out.jsonl", rows))
    film, cat = system.simplify([FILM, CAT])
    assert (film.text, [step.text for step in film.steps]) == ("When was it out?", rows[1]["passes"])
    assert (cat.text, cat.steps) == ("What do cats eat?", ())


def test_the_manifest_beside_it_says_how_many_passes_count(tmp_path: Path) -> None:
    path = write(tmp_path / "out.jsonl", [{"id": "film", "passes": ["When was it released?", "When was it out?"]}])
    (tmp_path / "manifest.json").write_text(json.dumps({"counted_passes": 1}), encoding="utf-8")
    (film,) = load_system("saved", path).simplify([FILM])
    assert film.text == "When was it released?"


def test_passes_that_change_no_word_are_left_out() -> None:
    passes = ["when was alien released ?", "when was it released ?", "When was it released?", "when ?"]
    assert trim(FILM.question, passes) == ["when was it released ?", "when ?"]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Simplification("Why now?", "Why now?"), []),
        (Simplification("Why now?", "Why?"), ["Why?"]),
        (Simplification("Why just now?", "Why?", (Step("Why now?"), Step("Why?"))), ["Why now?", "Why?"]),
        (Simplification("Why just now?", "Why?", (Step("Why now?"),)), ["Why now?", "Why?"]),
    ],
    ids=["unchanged", "written in one go", "in passes", "ends elsewhere than its last pass"],
)
def test_the_passes_of_a_result(result: Simplification, expected: list[str]) -> None:
    assert list_passes(result) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("nope", "not JSON"),
        ({"passes": []}, "id: expected a string"),
        ({"id": "a", "passes": "Why?"}, "passes: expected a list of strings"),
        ({"id": "a"}, "passes: expected a list of strings"),
        ({"id": "first", "passes": []}, "'first' is there twice"),
    ],
)
def test_a_bad_row_is_told_with_its_place(tmp_path: Path, row: object, message: str) -> None:
    path = write(tmp_path / "out.jsonl", [{"id": "first", "passes": []}, row])
    with pytest.raises(InputError, match=message) as told:
        read_outputs(path)
    assert "out.jsonl:2: " in str(told.value)


def test_an_example_of_another_set_is_a_users_error(tmp_path: Path) -> None:
    system = load_system("saved", write(tmp_path / "out.jsonl", [{"id": "cat", "passes": []}]))
    with pytest.raises(InputError, match="has no output for the example 'film'"):
        list(system.simplify([FILM]))
    with pytest.raises(InputError, match="needs a file of outputs"):
        load_system("saved")


def test_predictions_beside_their_targets_are_one_pass(tmp_path: Path) -> None:
    path = tmp_path / "outputs.jsonl"
    path.write_text('{"id": "1", "question": "Who is Ann?", "target": "Who?", "prediction": "Who is she?"}\n')
    assert read_outputs(path) == {"1": ("Who is she?",)}


LARGE = Manifest(
    "rise-large",
    "RISE, large",
    "rise",
    counted_passes=3,
    parameters=110,
    seed=4,
    trained_on=("canard/train.qonly",),
    training=Training("riseq train large.yaml", 0.3, "one H200", 0.12),
    sets={"canard/test.qonly": SetFacts(2, "riseq predict", 1.5, "2 cores")},
)


def test_a_manifest_comes_back_as_it_went(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.names() == []
    assert store.read_manifest("rise-large") is None
    store.write_manifest(LARGE)
    assert store.names() == ["rise-large"]
    assert store.read_manifest("rise-large") == LARGE


def test_a_set_is_added_to_those_that_are_there() -> None:
    more = LARGE.with_set("canard/dev.qonly", SetFacts(1, "riseq predict"))
    assert list(more.sets) == ["canard/dev.qonly", "canard/test.qonly"]


def test_outputs_are_packed_and_found_by_the_sets_name(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.read("rule", "cast19/test.qonly") is None
    path = store.write("rule", "cast19/test.qonly", {"31_2": ["Why?"]})
    assert path == tmp_path / "rule" / "cast19.test.qonly.jsonl.gz"
    assert json.loads(gzip.decompress(path.read_bytes())) == {"id": "31_2", "passes": ["Why?"]}
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ("Why?",)}


def test_outputs_that_are_not_packed_are_read_too_and_replaced_by_packed_ones(tmp_path: Path) -> None:
    plain = tmp_path / "rule" / "cast19.test.qonly.jsonl"
    plain.parent.mkdir()
    plain.write_text('{"id": "31_2", "passes": []}\n', encoding="utf-8")
    store = Store(tmp_path)
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ()}
    store.write("rule", "cast19/test.qonly", {"31_2": ["Why?"]})
    assert not plain.exists()


def test_outputs_in_the_archive_are_found_by_the_same_names(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name, text in (("rule", "Why?"), ("mine", "How?"), ("gone", "Who?")):
        store.write_manifest(Manifest(name, name, "rule", sets={"cast19/test.qonly": SetFacts(1, "riseq predict")}))
        store.write(name, "cast19/test.qonly", {"31_2": [text]})
    archive = store.archive()
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == [*["manifest.json"] * 3, archive.name]
    path = store.find("rule", "cast19/test.qonly")
    assert path == tmp_path / "rule" / "cast19.test.qonly.jsonl"
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ("Why?",)}
    assert store.find("rule", "canard/test.qonly") is None
    example = Example("31_2", ("What are cats?",), "Why are cats liked?")
    assert [one.text for one in load_system("saved", path).simplify([example])] == ["Why?"]
    store.write("rule", "cast19/test.qonly", {"31_2": ["Why so?"]})
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ("Why so?",)}, "a file goes before the archive's"
    (tmp_path / "gone" / "manifest.json").unlink()
    first = store.archive().read_bytes()
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ("Why so?",)}
    assert store.read("mine", "cast19/test.qonly") == {"31_2": ("How?",)}
    assert store.read("gone", "cast19/test.qonly") is None, "it has no manifest any more"
    assert store.archive().read_bytes() == first, "the same outputs are the same bytes"
    archive.write_bytes(first[: len(first) // 2])
    with pytest.raises(InputError, match=r"outputs\.tar\.xz: cannot be read: .*expected an archive of outputs"):
        store.read("mine", "cast19/test.qonly")


def test_a_system_may_have_an_archive_of_its_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for name in ("rule", "mine"):
        store.write_manifest(Manifest(name, name, "rule", sets={"cast19/test.qonly": SetFacts(1, "riseq predict")}))
        store.write(name, "cast19/test.qonly", {"31_2": ["Why?"]})
    shared = store.archive()
    before = shared.read_bytes()
    store.write("mine", "cast19/test.qonly", {"31_2": ["How?"]})
    own = store.archive("mine")
    assert own == tmp_path / "mine" / shared.name
    assert shared.read_bytes() == before, "the others' bytes stay"
    assert store.read("mine", "cast19/test.qonly") == {"31_2": ("How?",)}, "its own goes before the store's"
    assert store.read("rule", "cast19/test.qonly") == {"31_2": ("Why?",)}
    store.archive()
    assert not own.exists()
    assert store.read("mine", "cast19/test.qonly") == {"31_2": ("How?",)}


def test_the_same_outputs_are_the_same_bytes(tmp_path: Path) -> None:
    rows = {str(k): ["Why?"] for k in range(50)}
    first = Store(tmp_path / "a").write("x", "s/t", rows).read_bytes()
    assert Store(tmp_path / "b").write("x", "s/t", rows).read_bytes() == first


@pytest.mark.parametrize("text", ["nope", "[]", '{"name": "x"}', '{"surprise": 1}'])
def test_a_file_that_is_no_manifest_is_a_users_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no manifest of saved predictions"):
        Store(tmp_path).read_manifest("x")


def test_a_sets_file_has_no_slashes() -> None:
    assert file_stem("canard/test.qonly") == "canard.test.qonly"
