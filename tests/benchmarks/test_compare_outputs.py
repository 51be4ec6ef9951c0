"""Two checkouts compared: this one with itself, and with one that says something else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compare_outputs import compare_files, find_differences

OTHER = """
from riseq.types import *
from riseq.types import Example, Simplification
class Simplifier:
    @classmethod
    def load(cls, threads=None): return cls()
    def __call__(self, question, context=()): return Simplification(question, "Other?")
    def batch(self, items, **options): return [self(one.question) for one in items]
"""


def test_every_field_is_compared() -> None:
    old = {"text": "a", "confidence": 0.5, "steps": [{"edits": [["KEEP", 0]]}]}
    assert list(find_differences(old, json.loads(json.dumps(old)))) == []
    new = {"text": "a", "confidence": 0.25, "steps": [{"edits": [["DELETE", 0]]}]}
    assert list(find_differences(old, new)) == [
        "confidence: 0.5, now 0.25",
        "steps[0].edits[0][0]: 'KEEP', now 'DELETE'",
    ]
    assert list(find_differences({"edits": [1]}, {"edits": []})) == ["edits: [1], now []"]
    assert list(find_differences(1, 1.0)) == [": 1, now 1.0"]


def test_files_differ_by_row_and_by_length(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text('{"text": "a"}\n{"text": "b"}\n')
    new.write_text('{"text": "a"}\n{"text": "c"}\n{"text": "d"}\n')
    assert compare_files("set", old, new) == ["set: 2 results, now 3", "set, row 2: text: 'b', now 'c'"]


@pytest.mark.parametrize("same", [True, False])
def test_the_exit_code_says_whether_they_are_the_same(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    for name in ("cast19/test.qonly", "canard/dev.qonly"):
        path = tmp_path / "data" / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text('{"context": ["Who directed Alien?"], "question": "When was Alien released?"}\n')
    monkeypatch.setenv("RISEQ_DATA", str(tmp_path / "data"))
    old = tmp_path / "old"
    if same:
        old.symlink_to(root)
    else:
        (old / "src" / "riseq").mkdir(parents=True)
        (old / "src" / "riseq" / "types.py").symlink_to(root / "src" / "riseq" / "types.py")
        (old / "src" / "riseq" / "core").symlink_to(root / "src" / "riseq" / "core")
        (old / "src" / "riseq" / "__init__.py").write_text(OTHER)
    command = [sys.executable, str(root / "benchmarks" / "compare_outputs.py"), str(old), "--rows", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == (0 if same else 1), done.stderr
    assert "cast19/test.qonly, default settings: 1 results" in done.stdout
    assert "text: 'Other?', now" in done.stdout or same
    assert "time of the new by the old: one question " in done.stdout
