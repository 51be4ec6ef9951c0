"""Outputs that were written down, as a system."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from riseq.systems.registry import load_system
from riseq.systems.saved import list_passes, read_outputs, trim
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
