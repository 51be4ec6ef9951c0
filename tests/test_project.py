"""What the project says about itself is true: its version, commands, workflows, forms and the files it names."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import riseq

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
LARGEST_FILE = 95_000_000
# Named in documents, but made by commands.
MADE = ("models/mine", "runs/", "report", "benchmarks/predictions/rise-mine", "benchmarks/predictions/NAME")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def list_jobs(path: Path) -> dict[str, dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = load(path)["jobs"]
    return jobs


def list_steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in list_jobs(path).values() for step in job["steps"]]


def python_versions() -> list[str]:
    named = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", one) for one in PROJECT["project"]["classifiers"]
    ]
    return [found[1] for found in named if found]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))


def headings() -> list[str]:
    return re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)


def release_notes(tag: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / ".ci" / "release_notes.py"
    return subprocess.run([sys.executable, script, tag], capture_output=True, text=True, timeout=60, check=False)


def test_the_version_is_defined_once() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/riseq/__init__.py"
    assert load(ROOT / "CITATION.cff")["version"] == riseq.__version__


def test_the_changelog_begins_with_unreleased_and_the_version() -> None:
    first, newest, *_ = headings()
    assert first == "[Unreleased]"
    assert re.fullmatch(rf"\[{re.escape(riseq.__version__)}\] - \d{{4}}-\d\d-\d\d", newest)


def test_the_changelog_keeps_its_form() -> None:
    for heading in headings()[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", heading), heading
    assert set(re.findall(r"^### (.+)$", read("CHANGELOG.md"), re.MULTILINE)) <= KINDS


def test_release_notes_are_the_section_of_the_version() -> None:
    done = release_notes(f"v{riseq.__version__}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert done.stdout.strip() in read("CHANGELOG.md")
    assert not re.search("^## ", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("tag", ["v99.0.0", riseq.__version__, "main"])
def test_another_tag_than_the_version_is_no_release(tag: str) -> None:
    done = release_notes(tag)
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.startswith("release_notes: the tag is ")
    assert len(done.stderr.splitlines()) == 1


def test_help_names_every_command() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", read("Makefile"), re.MULTILINE)
    assert phony is not None
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    shown = re.findall(r"^make (\w+) +\S", done.stdout, re.MULTILINE)
    assert sorted(shown) == sorted(phony[1].split())
    assert set(shown) == make_targets()


def test_there_are_workflows_for_tests_docs_and_releases() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "docs", "release"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_what_there_is(path: Path) -> None:
    for step in list_steps(path):
        assert ("run" in step) != ("uses" in step), step
        command = step.get("run", "")
        for target in re.findall(r"\bmake ([\w-]+)", command):
            assert target in make_targets(), command
        for script in re.findall(r"\bpython ([\w./-]+\.py)\b", command):
            assert (ROOT / script).is_file(), command
        for extra in re.findall(r"\.\[([\w,]+)\]", command):
            assert set(extra.split(",")) <= set(PROJECT["project"]["optional-dependencies"]), command


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_names_versions_and_has_no_more_rights_than_it_needs(path: Path) -> None:
    assert load(path)["permissions"] == {"contents": "read"}
    for job in list_jobs(path).values():
        assert job["timeout-minutes"] <= 60
        for needed in [job["needs"]] if isinstance(job.get("needs"), str) else job.get("needs", []):
            assert needed in list_jobs(path)
    for step in list_steps(path):
        if "uses" in step:
            assert re.fullmatch(r"(actions|pypa)/[\w-]+@(v\d+|release/v1)", step["uses"]), step["uses"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_use_the_versions_of_python_that_are_supported(path: Path) -> None:
    for job in list_jobs(path).values():
        matrix = job.get("strategy", {}).get("matrix", {})
        assert matrix.get("python-version", python_versions()) == python_versions()
        for step in job["steps"]:
            if "setup-python" in step.get("uses", ""):
                assert step["with"]["python-version"] in (*python_versions(), "${{ matrix.python-version }}")
    assert PROJECT["project"]["requires-python"] == f">={python_versions()[0]}"


def test_tests_run_on_every_version_with_the_one_command() -> None:
    (job,) = (job for job in list_jobs(ROOT / ".github/workflows/tests.yml").values() if "strategy" in job)
    assert job["strategy"]["matrix"]["python-version"] == python_versions()
    assert any(step.get("run", "").startswith("make test") for step in job["steps"])
    assert "make test" in read(".ci/run")


def test_what_is_published_is_what_was_built_and_tried() -> None:
    jobs = list_jobs(ROOT / ".github/workflows/release.yml")
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert set(jobs["publish"]["needs"]) == {"build", "try"}
    builds = [name for name, job in jobs.items() for step in job["steps"] if "-m build" in step.get("run", "")]
    assert builds == ["build"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_one(path: Path) -> None:
    form = load(path)
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids)
    for field in form["body"]:
        assert field["type"] in ("input", "textarea", "dropdown", "checkboxes")
        assert field["attributes"]["label"]


def list_rooms() -> set[str]:
    source = ROOT / "src" / "riseq"
    modules = {path.stem for path in source.glob("*.py")} - {"__init__", "__main__"}
    return modules | {path.parent.name for path in source.glob("*/__init__.py")}


def test_the_house_is_the_one_that_stands() -> None:
    (picture,) = re.findall(r"## How the code is organised\n.*?```text\n(.*?)```", read("CONTRIBUTING.md"), re.DOTALL)
    named = re.findall(r"(?:^| {4,})([a-z]+) +(?=\S)", picture, re.MULTILINE)
    assert sorted(named) == sorted(list_rooms())
    (layers,) = (one["layers"] for one in PROJECT["tool"]["importlinter"]["contracts"] if one["id"] == "layers")
    assert {room.strip() for layer in layers for room in layer.split(":")} == {f"riseq.{name}" for name in list_rooms()}


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", ".github/pull_request_template.md"])
def test_files_and_commands_that_a_document_names_exist(name: str) -> None:
    text = read(name)
    for path in re.findall(r"`((?:src|tests|docs|benchmarks|models|recipes|examples|\.github|\.ci)/[^`\s]*)`", text):
        assert path.startswith(MADE) or (ROOT / path).exists(), path
    for path in re.findall(r"(?:riseq train|bash) ((?:recipes|benchmarks)/\S+)", text):
        assert (ROOT / path).is_file(), path
    for target in re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE):
        assert target in make_targets(), target


def test_extras_that_documents_and_messages_name_exist() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"])
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for named in re.findall(r"(?:riseq|'\.)\[([\w,]+)\]", text):
            assert set(named.split(",")) <= extras, f"{page.name}: {named}"
        assert "pip install 'riseq[" not in text, f"{page.name}: riseq is on no package index; say pip install '.[...]'"


def test_no_file_is_too_large_to_be_pushed() -> None:
    for folder in ("models", "src", "docs", "examples", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            assert not path.is_file() or path.stat().st_size < LARGEST_FILE, path


def test_the_licences_are_told_where_people_look() -> None:
    assert PROJECT["project"]["license"] == "Apache-2.0 AND CC-BY-SA-4.0"
    assert PROJECT["project"]["license-files"] == ["LICENSE", "models/LICENSE"]
    large = tomllib.loads(read("models/large/pyproject.toml"))["project"]
    for text in (
        read("models/LICENSE"),
        read("models/default/README.md"),
        read("models/large/README.md"),
        large["license"],
    ):
        assert re.search("CC[ -]BY-SA[ -]4.0", text)
    first_screen = "\n".join(read("README.md").splitlines()[:25])
    for word in ("English only", "Apache-2.0", "CC BY-SA 4.0", "follow-up chips"):
        assert word in first_screen, word


FLOWERY = (
    "keeps its word",
    "for granted",
    "where it is not said",
    "where not said",
    "in vain",
    "at last",
    "by law",
    "for want of",
    "in two minds",
    "had come to",
)


def test_documents_and_help_are_in_plain_english() -> None:
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "src/riseq/cli").glob("*.py"),
    ]
    shown = [
        ROOT / "src/riseq/controls.py",
        ROOT / "src/riseq/scale/__init__.py",
        ROOT / "src/riseq/server/settings.py",
    ]
    for page in (*pages, *shown):
        found = [words for words in FLOWERY if words in page.read_text(encoding="utf-8")]
        assert not found, f"{page.name}: {found}"
