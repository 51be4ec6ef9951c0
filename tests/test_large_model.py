"""The large model: a package of its own, found by its name from the package or from a checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from riseq import hub
from riseq.cli import main
from riseq.engine.simplifier import Simplifier
from riseq.server.engines import EditorEngine
from riseq.types import InputError
from tiny_model import export_tiny

INSTALL = "large: this model is not installed; in a checkout of riseq: pip install ./models/large"
IN_WHEEL = ("default", "fast", "resolve")
SAY = """
from riseq import Simplifier
simplifier = Simplifier.load("large", threads=1)
print(simplifier.model)
print(simplifier("Where was Ira Hayes born?", ["Who was Ira Hayes?"]).text)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "mpnet", "int8")[1]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be a checkout without models."""
    package = tmp_path / "src" / "riseq"
    package.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(hub, "_PACKAGE", package)
    monkeypatch.setattr(hub, "_LARGE_PACKAGE", "riseq_large_of_nobody")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_wheel_of_the_package_holds_the_model_and_riseq_finds_it(model: Path, root: Path, tmp_path: Path) -> None:
    package = tmp_path / "large"
    shutil.copytree(root / "models" / "large", package, ignore=shutil.ignore_patterns("large"))
    shutil.copytree(model, package / "riseq_large" / "large")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(package)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("riseq_large-*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    # The package is all that is in the wheel, with what pip needs to know of it.
    assert {path.name.partition("-")[0] for path in site.iterdir()} == {"riseq_large"}
    code = f"import sys; sys.path[:0] = [{str(site)!r}, {str(root / 'src')!r}]\n{SAY}"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    folder, text = done.stdout.splitlines()
    assert Path(folder) == site / "riseq_large" / "large"
    assert text == Simplifier.load(model, threads=1)("Where was Ira Hayes born?", ["Who was Ira Hayes?"]).text


def test_riseqs_own_wheel_and_source_leave_the_large_model_out(root: Path) -> None:
    targets = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    examples = {"examples/dialogues.jsonl": "riseq/examples/dialogues.jsonl"}
    assert targets["wheel"]["only-include"] == ["src/riseq", *(f"models/{name}" for name in IN_WHEEL)]
    assert targets["wheel"]["sources"] == {"models": "riseq/models"}
    assert targets["wheel"]["force-include"] == examples
    assert targets["sdist"]["exclude"] == ["/models/large"]


def test_a_checkout_has_it_without_installing(model: Path, checkout: Path) -> None:
    folder = checkout / "models" / "large" / "riseq_large" / "large"
    shutil.copytree(model, folder)
    assert hub.find_model("large") == hub.find_model(Path("large")) == folder
    assert Simplifier.load("large").model == folder
    engine = EditorEngine(Path("large"), 1)
    assert (engine.info.name, engine.info.precision) == ("large", "int8")


def test_fast_is_a_name_where_it_is_there(model: Path, checkout: Path) -> None:
    with pytest.raises(InputError, match=r"^fast: no such model ships with this riseq"):
        Simplifier.load("fast")
    folder = checkout / "models" / "fast"
    shutil.copytree(model, folder)
    assert hub.find_model("fast") == hub.find_model(Path("fast")) == folder
    packaged = hub._PACKAGE / "models" / "fast"
    shutil.copytree(model, packaged)
    assert Simplifier.load("fast").model == packaged


def test_where_it_is_not_one_line_says_how_to_have_it(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="^" + INSTALL.replace(".", r"\.") + "$"):
        Simplifier.load("large")
    assert main(["simplify", "--system", "rise", "--model", "large", "Who was she?"]) == 2
    assert capsys.readouterr().err == f"riseq: {INSTALL}\n"
    with pytest.raises(InputError, match="default: no model ships with this riseq"):
        hub.find_model("default")


def test_default_is_a_name_and_a_models_own_folder_comes_first(model: Path, checkout: Path) -> None:
    (checkout / "models" / "default").mkdir(parents=True)
    assert hub.find_model("default") == checkout / "models" / "default"
    (checkout / "large").mkdir()  # a folder of something else
    with pytest.raises(InputError, match="not installed"):
        hub.find_model("large")
    shutil.copytree(model, checkout / "large", dirs_exist_ok=True)
    assert hub.find_model("large") == Path("large")
