"""The README's snippets run, and print what the README says they print."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

README = Path(__file__).resolve().parent.parent / "README.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What makes environments cannot run inside one.
SKIPPED = ("make ", "pip install ")


@dataclass(frozen=True)
class Snippet:
    language: str
    code: str
    output: str | None


def find_snippets(readme: str) -> list[Snippet]:
    fences = list(FENCE.finditer(readme))
    snippets = []
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        language, code = fence.groups()
        if language not in ("python", "bash", "shell"):
            continue
        kept = "".join(line for line in code.splitlines(keepends=True) if not line.startswith(SKIPPED))
        follows = following is not None and following[1] == "text" and following.start() == fence.end() + 1
        if kept.strip():
            snippets.append(Snippet(language, kept, following[2] if following is not None and follows else None))
    return snippets


SNIPPETS = find_snippets(README.read_text(encoding="utf-8"))


def tidy(output: str) -> list[str]:
    return [line.rstrip() for line in output.strip("\n").splitlines()]


def test_the_readme_has_snippets_of_both_kinds_and_says_what_they_print() -> None:
    assert {snippet.language for snippet in SNIPPETS} == {"python", "bash"}
    assert sum(snippet.output is not None for snippet in SNIPPETS) >= 4


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: f"{snippet.language}-{SNIPPETS.index(snippet) + 1}")
def test_snippet_runs_and_prints_what_is_said(snippet: Snippet, root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "examples", tmp_path / "examples")
    command = [sys.executable, "-c"] if snippet.language == "python" else ["bash", "-euo", "pipefail", "-c"]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    environment = {**os.environ, "PATH": path}
    environment.pop("FORCE_COLOR", None)  # would make a pipe look like a terminal
    done = subprocess.run(
        [*command, snippet.code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if snippet.output is not None:
        assert tidy(done.stdout) == tidy(snippet.output)
