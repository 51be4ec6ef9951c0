"""docs/training.md against the code it describes."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

from riseq.train.settings import RiseSettings, TrainSettings, make_settings


@pytest.fixture(scope="module")
def text(root: Path) -> str:
    return (root / "docs" / "training.md").read_text(encoding="utf-8")


def describe_settings(kind: type[TrainSettings]) -> list[str]:
    """Return the doc's table rows: each field's name, default and comment, under the class's own headings."""
    lines = inspect.getsource(kind).splitlines()
    rows = []
    for line in lines:
        heading = re.fullmatch(r"    # (\w[\w ]+)", line)
        if heading:
            rows.append(f"| **{heading[1]}** | | |")
        field = re.fullmatch(r"    (\w+): .+? = (.+?)(?:  # (.+))?", line)
        if field:
            name, default, comment = field.groups()
            rows.append(f"| `{name}` | {show(ast.literal_eval(default))} | {comment} |")
    return rows


def show(value: object) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_the_tables_of_settings_are_the_dataclasses(text: str) -> None:
    named: set[str] = set()
    for kind in (TrainSettings, RiseSettings):
        rows = [row for row in describe_settings(kind) if row != "| `system` | rise | None |"]  # the same again
        assert not [row for row in rows if "| None |" in row], "every setting has a comment"
        block = "\n".join(["| setting | default | what it does |", "|---|---|---|", *rows])
        assert block in text, f"docs/training.md should hold:\n{block}"
        named |= set(re.findall(r"^\| `(\w+)` \|", block, re.MULTILINE))
    assert named == set(RiseSettings.__dataclass_fields__)


def test_every_recipe_and_every_function_it_names_exists(text: str, root: Path) -> None:
    recipes = set(re.findall(r"recipes/([\w+-]+)\.yaml", text))
    assert recipes == {path.stem for path in (root / "recipes").glob("*.yaml")}
    functions = re.findall(r"`(riseq(?:\.\w+)+)`", text)
    assert len(functions) > 12
    for name in functions:
        assert resolve(name), name


def resolve(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        try:
            for part in parts[cut:]:
                found = getattr(found, part)
        except AttributeError:
            return False
        return True
    return False


def test_the_flags_it_shows_are_settings(text: str) -> None:
    flags = re.findall(r"--set (\w+)=([^\s`]+)", text)
    assert flags
    for name, _ in flags:
        assert name in RiseSettings.__dataclass_fields__
    assert make_settings({}) == RiseSettings()
