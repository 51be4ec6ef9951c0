"""Finds the node that the TypeScript client is tested in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

OLDEST = 18  # the first with fetch


def run_node(*arguments: str, folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """Return what node prints, which must end well; the test is skipped where there is no node, or an old one."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node; Debian's package nodejs brings it")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    major = re.match(r"v(\d+)\.", version)
    if major is None or int(major[1]) < OLDEST:
        pytest.skip(f"node is {version.strip()}, and the client needs {OLDEST} or newer")
    done = subprocess.run(
        [node, *arguments],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
