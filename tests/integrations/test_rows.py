"""Rows are edited as the engine edits questions, with one engine a process."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from riseq.controls import Controls
from riseq.integrations import RowEditor, load_engine
from riseq.types import InputError

FORK = """
import os, sys
from riseq.integrations import RowEditor, load_engine

own = load_engine(sys.argv[1], 1, os.getpid())
child = os.fork()
if child == 0:
    another = "the parent's" if load_engine(sys.argv[1], 1, os.getpid()) is own else "another"
    works = RowEditor(sys.argv[1]).edit(["Is it?"], [["Who?"]]) != [None]
    print(f"child: {another}, {'works' if works else 'fails'}", flush=True)
    os._exit(0)
os.waitpid(child, 0)
print("parent: the same" if load_engine(sys.argv[1], 1, os.getpid()) is own else "parent: another")
"""
Rows = list[tuple[str, list[str]]]


def test_rows_become_what_the_engine_makes_of_them(model: Path, rows: Rows, texts: list[str]) -> None:
    questions, contexts = zip(*rows, strict=True)
    assert RowEditor(model).edit(questions, contexts) == texts
    assert RowEditor(model, strength=0.0).edit(questions, contexts) == list(questions)
    assert RowEditor(model, controls=Controls(strength=0.0)).edit(questions, contexts) == list(questions)


def test_missing_questions_stay_missing_and_a_missing_context_is_empty(model: Path) -> None:
    assert RowEditor(model).edit([None, "Is it?"], [["Who?"], None]) == [None, "Is it?"]


def test_a_bad_row_is_told_or_left_out(model: Path, rows: Rows, texts: list[str]) -> None:
    questions, contexts = [rows[0][0], "Why?", rows[1][0]], [rows[0][1], [{"rôle": "user"}], rows[1][1]]
    with pytest.raises(InputError, match=r"^row 1 of the batch: context\[0\] has the keys"):
        RowEditor(model).edit(questions, contexts)
    assert RowEditor(model, skip_bad=True).edit(questions, contexts) == [texts[0], None, texts[1]]


def test_wrong_settings_are_told_at_once() -> None:
    with pytest.raises(InputError, match="strength is 2"):
        RowEditor(strength=2)
    with pytest.raises(InputError, match="threads is 0"):
        RowEditor(threads=0)


def test_the_engine_is_loaded_once_a_process(model: Path) -> None:
    assert load_engine(model, 1, os.getpid()) is load_engine(model, 1, os.getpid())
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(model)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == ["child: another, works", "parent: the same"]


def test_an_editor_travels_without_its_engine(model: Path) -> None:
    editor = RowEditor(model)
    editor.edit(["Is it?"], [["Who?"]])
    assert vars(pickle.loads(pickle.dumps(editor))) == vars(editor)
    assert len(pickle.dumps(editor)) < 1_000
