"""The wheel carries what an installed riseq needs far from the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

CODE = """
import sys
from riseq import Resolver, Simplifier
from riseq.hub import find_default_model
print(find_default_model())
print(Simplifier.load()("Where do red pandas live?", ["What do red pandas eat?"]).text)
print(Simplifier.load("fast")("Where do red pandas live?", ["What do red pandas eat?"]).text)
print(Resolver.load()("Where do they live?", ["What do red pandas eat?"]).text)
assert "torch" not in sys.modules
"""
BENCH = "from riseq.cli import main; sys.exit(main(['bench', '--repeats', '1', '--limit', '3', '--json']))"


def test_a_wheel_brings_the_model_and_runs_it_from_anywhere(root: Path, tmp_path: Path) -> None:
    if not (root / "models" / "default" / "encoder.onnx").is_file():
        pytest.skip("no model ships with this checkout")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(root)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 60e6
    site = tmp_path / "site"
    archive = zipfile.ZipFile(wheel)
    data = [name for name in archive.namelist() if "everyday" in name and not name.endswith(".py")]
    assert not data, "data stay in the repository"
    (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    assert "License-Expression: Apache-2.0 AND CC-BY-SA-4.0\n" in metadata
    assert [name for name in archive.namelist() if name.endswith(".dist-info/licenses/models/LICENSE")]
    models = {Path(name).parts[2] for name in archive.namelist() if name.startswith("riseq/models/")}
    assert models == {name for name in ("default", "fast", "resolve") if (root / "models" / name).is_dir()}
    archive.extractall(site)
    # -I leaves the checkout and its editable install out of sight; the wheel's own folder comes first.
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{CODE}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    folder, text, smaller, back = done.stdout.strip().splitlines()
    assert Path(folder).is_relative_to(site)
    assert text == smaller == "Where do they live?"
    assert back == "Where do red pandas live?"
    # bench needs questions; those of the wheel are enough. Its new process finds riseq by PYTHONPATH.
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(site)!r})\n{BENCH}"]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["questions"] == 3
