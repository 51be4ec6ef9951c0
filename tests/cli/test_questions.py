"""A question is told from a file's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.cli import make_example, names_file
from riseq.types import InputError


@pytest.mark.parametrize(
    "source",
    [
        "Why?",
        "Why",
        "What is in data.csv?",
        "Is and/or a word?",
        "and/or?",
        "and/or",
        "/etc?",
        "Node.js?",
        "",
        "  ",
        "Who? " * 2000,
        "a\0b",
        "U.S.",
    ],
)
def test_questions(source: str) -> None:
    assert not names_file(source)


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "who is it"
    file.touch()
    assert names_file(str(file))
    assert names_file("-")


@pytest.mark.parametrize(
    "source",
    ["missing.jsonl", "my missing file.csv", "MISSING.JSONL.GZ", "missing.txt", "no/such.csv", "./no/such", "/no/such"],
)
def test_missing_files_are_no_questions(source: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        names_file(source)


def test_a_folder_is_neither(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        names_file(str(tmp_path))


def test_ask_checks_every_text() -> None:
    assert make_example("Why?", ["Who?", "When?"]).context == ("Who?", "When?")
    with pytest.raises(InputError, match="the question is empty"):
        make_example(" ")
    with pytest.raises(InputError, match="context 2 is empty"):
        make_example("Why?", ["Who?", ""])
    with pytest.raises(InputError, match="not Unicode"):
        make_example("Why\udcff?")
