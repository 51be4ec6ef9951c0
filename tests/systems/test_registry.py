"""Which systems there are, and what a wrong name is told."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from riseq.systems.registry import SYSTEMS, default_system_name, load_system
from riseq.types import Example, InputError

EXAMPLES = [Example("1", ("Who directed Alien?",), "When was Alien released?"), Example("2", (), "Why?")]


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_entry_names_something_that_exists(name: str) -> None:
    entry = SYSTEMS[name]
    assert getattr(import_module(entry.module), entry.factory).name == name


def test_the_default_is_a_system() -> None:
    assert default_system_name() in SYSTEMS


def test_origin_returns_its_input_in_order() -> None:
    results = list(load_system("origin").simplify(iter(EXAMPLES)))
    assert [result.text for result in results] == ["When was Alien released?", "Why?"]
    assert not any(result.changed or result.steps for result in results)


def test_an_unknown_name_is_told_the_known_ones() -> None:
    told = r"no system is called 'nope'; there are gold, origin, qgdiv, querysim, resolve, rise, rule, saved, trans\+\+"
    with pytest.raises(InputError, match=told):
        load_system("nope")


def test_a_model_for_a_system_that_takes_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes no model"):
        load_system("origin", tmp_path)
