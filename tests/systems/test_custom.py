"""Systems that are named where they live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from riseq.controls import Controls
from riseq.systems.registry import load_system
from riseq.types import Example, InputError

CODE = """
from riseq import Simplification

class Loud:
    name = "loud"

    def __init__(self, model=None):
        self.mark = model.read_text() if model else "!"

    def simplify(self, examples):
        for example in examples:
            yield Simplification(example.question, example.question.upper() + self.mark)

class Mute:
    name = "mute"

answer = 42
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "loud.py"
    path.write_text(CODE, encoding="utf-8")
    return path


def test_a_file_and_its_class_make_a_system(file: Path) -> None:
    (result,) = load_system(f"{file}:Loud").simplify([Example("1", (), "Why?")])
    assert result.text == "WHY?!"


def test_it_is_made_from_a_model_where_one_is_named(file: Path, tmp_path: Path) -> None:
    (tmp_path / "marks").write_text("!!!", encoding="utf-8")
    (result,) = load_system(f"{file}:Loud", tmp_path / "marks").simplify([Example("1", (), "Why?")])
    assert result.text == "WHY?!!!"


def test_an_installed_module_does_too() -> None:
    assert load_system("riseq.systems:Origin").name == "origin"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{file}:Soft", "has no class 'Soft'"),
        ("{file}:answer", "has no class 'answer'"),
        ("{file}:Mute", "has no 'simplify'"),
        ("{file}x.py:Loud", "no such file"),
        ("nowhere.at_all:Loud", "no module is called 'nowhere.at_all'"),
        (":Loud", "named like no class"),
        ("{file}:", "named like no class"),
    ],
)
def test_a_name_that_leads_nowhere_is_a_users_error(file: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_system(name.format(file=file))


def test_a_mistake_inside_the_file_is_its_own(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import a_module_that_is_not_there", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        load_system(f"{path}:Anything")


CONTROLLED = """
from riseq import Simplification

class Mine:
    name = "mine"

    def __init__(self, model=None, controls=None, threads=None):
        self.controls, self.threads = controls, threads

    def simplify(self, examples):
        for example in examples:
            yield Simplification(example.question, f"{self.controls.strength} {self.controls.guard} {self.threads}")
"""


def test_a_class_that_takes_controls_gets_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(CONTROLLED, encoding="utf-8")
    name, examples = f"{path}:Mine", [Example("1", (), "Why?")]
    (result,) = load_system(name).simplify(examples)
    assert result.text == "0.5 True None"
    (result,) = load_system(name, controls=Controls(strength=0.2), guard=False, threads=3).simplify(examples)
    assert result.text == "0.2 False 3"


@pytest.mark.parametrize("settings", [{"controls": Controls(strength=0.2)}, {"threads": 2}])
def test_a_class_that_takes_none_refuses_them(file: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"--(strength|threads) goes with a class that takes 'controls' and 'threads'"):
        load_system(f"{file}:Loud", **settings)
    assert load_system(f"{file}:Loud", controls=Controls()).name == "loud"


def test_a_wrong_value_is_refused_by_any_system(file: Path) -> None:
    with pytest.raises(InputError, match="strength is 7, expected a number from 0 to 1"):
        load_system(f"{file}:Loud", strength=7)
