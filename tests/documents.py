"""The snippets of a document, and how they are run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

LANGUAGES = ("python", "bash", "sh", "shell", "console")
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>not run|run by):? (?P<note>.+?) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# What makes environments cannot run inside one.
_INSTALLS = ("make ", "pip install ")


@dataclass(frozen=True)
class Snippet:
    line: int
    """Where its code begins."""
    language: str
    code: str
    output: str | None = None
    """What the document says that it prints, where it does: a fence of text right below."""
    not_run: str | None = None
    """Why it is not run, from the comment above it."""
    run_by: str | None = None
    """The test that runs it, from the comment above it."""


def find_snippets(text: str) -> list[Snippet]:
    """Return the snippets of a document in Python or for a shell, without the lines that install something."""
    fences = list(_FENCE.finditer(text))
    snippets = []
    for fence, following in zip_longest(fences, fences[1:]):
        if fence["language"] not in LANGUAGES:
            continue
        kept = "".join(line for line in fence["code"].splitlines(keepends=True) if not line.startswith(_INSTALLS))
        if not kept.strip():
            continue
        follows = following is not None and following["language"] == "text" and following.start() == fence.end() + 1
        snippets.append(
            Snippet(
                text.count("\n", 0, fence.start("code")) + 1,
                fence["language"],
                kept,
                following["code"] if following is not None and follows else None,
                fence["note"] if fence["mark"] == "not run" else None,
                fence["note"] if fence["mark"] == "run by" else None,
            )
        )
    return snippets


def run_snippet(snippet: Snippet, folder: Path) -> None:
    """Run one in ``folder``; it ends well and prints what is said."""
    command = [sys.executable, "-c"] if snippet.language == "python" else ["bash", "-euo", "pipefail", "-c"]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    environment = {**os.environ, "PATH": path}
    environment.pop("FORCE_COLOR", None)  # would make a pipe look like a terminal
    done = subprocess.run(
        [*command, snippet.code],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"line {snippet.line}: {done.stderr}"
    if snippet.output is not None:
        assert tidy(done.stdout) == tidy(snippet.output), f"line {snippet.line}"


def tidy(output: str) -> list[str]:
    """Return the lines without what nobody sees."""
    return [line.rstrip() for line in output.strip("\n").splitlines()]
