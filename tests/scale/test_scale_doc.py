"""docs/scale.md: its commands, run as they stand, on a cluster that RAY_ADDRESS names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("ray")  # one cluster, in one of the processes that test

pytest.importorskip("pyarrow")


def test_the_commands_say_what_the_page_says(cluster: str, root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "scale.md").read_text(encoding="utf-8")
    found = re.search(r"^```bash\n(.*?)^```\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    (tmp_path / "examples").symlink_to(root / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", found[1]],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "RAY_ADDRESS": cluster},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("riseq:")]
    assert told == found[2].splitlines()
