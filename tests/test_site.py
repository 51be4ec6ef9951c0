"""The site is built with warnings as errors, works without a network, and has what it should."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import riseq
from train.test_training_doc import resolve

pytestmark = pytest.mark.xdist_group("site")  # what they share is made once

FETCHED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"(?:https?:)?//|<link\b[^>]*\bhref=\"(?:https?:)?//")


def build(root: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = build(root, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def hooks(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hooks", root / "docs" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_there_and_fetches_nothing(site: Path, root: Path, hooks: ModuleType) -> None:
    names = {page.relative_to(root / "docs").as_posix() for page in (root / "docs").rglob("*.md")}
    for name in (*names, *hooks.ELSEWHERE):
        assert (site / name).with_suffix(".html").is_file(), name
    for page in site.rglob("*.html"):
        assert not FETCHED.search(page.read_text(encoding="utf-8")), page.name
    assert not list(site.rglob("hooks.py"))


def test_a_dead_link_and_a_dead_anchor_fail_the_build(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "docs", tmp_path / "docs")
    for name in (
        "mkdocs.yml",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "benchmarks",
        "clients",
        "models",
        "src",
        "Dockerfile",
        "compose.yaml",
    ):
        (tmp_path / name).symlink_to(root / name)
    with (tmp_path / "docs" / "quickstart.md").open("a", encoding="utf-8") as page:
        page.write("\n[nowhere](nowhere.md) and [nothing](concepts.md#nothing)\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert "'nowhere.md'" in done.stderr
    assert "'#nothing'" in done.stderr


def test_the_library_page_has_every_public_name(site: Path) -> None:
    page = (site / "api" / "library.html").read_text(encoding="utf-8")
    for name in set(riseq.__all__) - {"__version__"}:
        home = riseq._HOMES[name]
        assert f'id="{home}.{name}"' in page, name


def test_every_equation_has_its_function(root: Path) -> None:
    text = (root / "docs" / "concepts.md").read_text(encoding="utf-8")
    table = text.partition("| Eq. | what it says | function |\n|---|---|---|\n")[2].partition("\n\n")[0]
    rows = dict(re.findall(r"^\| ([\w. ]+) \| (?:.*?) \| ([^|]+) \|$", table, re.MULTILINE))
    assert set(map(str, range(1, 12))) <= set(rows), "the paper has eleven equations"
    for number, cell in rows.items():
        functions = re.findall(r"#(riseq(?:\.\w+)+)\)", cell)
        assert functions, number
        for function in functions:
            assert resolve(function), function


@pytest.mark.parametrize(
    ("page", "source", "link", "placed"),
    [
        ("training.md", "docs/training.md", "[b](baselines.md#settings)", "[b](baselines.md#settings)"),
        ("index.md", "README.md", "[t](docs/training.md)", "[t](training.md)"),
        ("api/method.md", "docs/api/method.md", "[c](../concepts.md)", "[c](../concepts.md)"),
        ("api/method.md", "docs/api/method.md", "[r](../../README.md#start)", "[r](../index.md#start)"),
        ("model-card.md", "models/default/README.md", "[r](../../benchmarks/RESULTS.md)", "[r](benchmarks.md)"),
        ("server.md", "docs/server.md", "[image](../Dockerfile)", "image (`Dockerfile`)"),
        ("server.md", "docs/server.md", "[LICENSE](../LICENSE)", "LICENSE"),
        ("server.md", "docs/server.md", "[x](../nowhere)", "[x](../nowhere)"),
        ("server.md", "docs/server.md", "[x](https://a.org/b)", "[x](https://a.org/b)"),
        ("server.md", "docs/server.md", "```sh\n[x](../LICENSE)\n```", "```sh\n[x](../LICENSE)\n```"),
    ],
)
def test_links_hold_on_the_site(hooks: ModuleType, root: Path, page: str, source: str, link: str, placed: str) -> None:
    assert hooks.place_links(link, page, source, root) == placed
