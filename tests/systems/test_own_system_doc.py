"""docs/own-system.md: its file, its commands and its entry, run as they stand."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import riseq.systems
from riseq.systems.registry import SYSTEMS, Entry, load_system
from riseq.types import Example

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def fences(root: Path) -> list[tuple[str, str]]:
    text = (root / "docs" / "own-system.md").read_text(encoding="utf-8")
    return [(match[1], match[2]) for match in FENCE.finditer(text)]


@pytest.fixture
def file(fences: list[tuple[str, str]], tmp_path: Path) -> Path:
    (code,) = (code for language, code in fences if language == "python")
    path = tmp_path / "forgetful.py"
    path.write_text(code, encoding="utf-8")
    return path


def test_the_file_is_a_system_whose_commands_print_what_is_said(
    fences: list[tuple[str, str]], file: Path, tmp_path: Path
) -> None:
    place = next(number for number, (language, _) in enumerate(fences) if language == "bash")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    environment = {**os.environ, "PATH": path}
    environment.pop("FORCE_COLOR", None)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", fences[place][1]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    assert printed == [line.rstrip() for line in fences[place + 1][1].splitlines()]


def test_its_entry_gives_it_a_short_name(
    fences: list[tuple[str, str]], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = next(text for _, text in fences if "Entry(" in text)
    name, entry = ast.literal_eval(re.sub(r'^("\w+"): Entry(\(.*\)),\s*$', r"(\1, \2)", line.strip()))
    monkeypatch.setattr(riseq.systems, "__path__", [*riseq.systems.__path__, str(file.parent)])
    monkeypatch.setitem(SYSTEMS, name, Entry(*entry))
    (result,) = load_system(name).simplify([Example("1", ("Who directed Alien?",), "When was Alien released?")])
    assert result.text == "When was released?"
