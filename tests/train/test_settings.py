"""Settings from files, flags and Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.train.settings import RiseSettings, make_settings, parse_override, read_recipe
from riseq.types import InputError


def test_a_recipe_and_python_give_the_same_settings(tmp_path: Path) -> None:
    recipe = tmp_path / "a.yaml"
    recipe.write_text("lr: 1e-4\ntrain: [a, b]\ndev: c\nreward_floor: null\nkeep_layers: [0, 2]\ngraphs: no\nswap: 1\n")
    wanted = RiseSettings(
        lr=1e-4, train=("a", "b"), dev=("c",), reward_floor=None, keep_layers=(0, 2), graphs=False, swap=1.0
    )
    assert read_recipe(recipe) == wanted
    found = read_recipe(recipe)
    assert isinstance(found, RiseSettings)
    assert isinstance(found.swap, float)


def test_overrides_win_over_the_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "a.yaml"
    recipe.write_text("seed: 3\nbatch: 8\n")
    overrides = dict(map(parse_override, ["batch=16", "train=[x,y]", "sampler=posterior", "limit=null", "lr=2e-5"]))
    found = read_recipe(recipe, overrides)
    assert isinstance(found, RiseSettings)
    assert (found.seed, found.batch, found.train, found.sampler) == (3, 16, ("x", "y"), "posterior")
    assert (found.limit, found.lr) == (None, 2e-5)


def test_an_empty_recipe_is_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("# nothing\n")
    assert read_recipe(tmp_path / "a.yaml") == RiseSettings()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epoch": 3}, "no setting is called 'epoch'; did you mean 'epochs'?"),
        ({"epochs": "three"}, "epochs: 'three'; expected int"),
        ({"epochs": 2.5}, "epochs: 2.5; expected int"),
        ({"epochs": True}, "epochs: True; expected int"),
        ({"lr": "fast"}, "lr: 'fast'; expected float"),
        ({"lr": True}, "lr: True; expected float"),
        ({"graphs": 1}, "graphs: 1; expected bool"),
        ({"backbone": 3}, "backbone: 3; expected str"),
        ({"method": "ppo"}, "method: 'ppo'; expected one of rise, mle, epsilon"),
        ({"train": {"a": 1}}, "train: {'a': 1}; expected a list"),
        ({"keep_layers": ["x"]}, "keep_layers: 'x'; expected int"),
        ({"keep_decoder": [0]}, "keep_decoder: it cuts a start's decoder, and there is none; expected decoder_layers"),
        ({"imitate": 1.0, "distill": 0.5}, "imitate: a teacher's states come with its soft labels; expected teachers"),
        ({"imitate": 1.0, "teachers": ["large"]}, "expected teachers and distill"),
        ({"epochs": 0}, "1 or more"),
        ({"train": []}, "at least one data set"),
        ({"seed": -1}, "0 or more"),
        ({"workers": -1}, "0 or more"),
        ({"scored_from": 9}, "scored_from: 9; expected up to epochs, 6"),
        ({"system": "gpt"}, "system: 'gpt'; expected one of rise, trans++, qgdiv, querysim"),
        ({"system": ["rise"]}, "system: ['rise']; expected one of rise"),
        ({"system": "qgdiv", "joint": True}, "no setting is called 'joint'"),
        ({"beams": 3}, "no setting is called 'beams'"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused_in_one_line(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make_settings(values, "the recipe")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("a: [1\nb: 2", "line 2: not YAML"), ("- a\n- b", "expected names and values, got list")],
)
def test_a_recipe_that_is_none_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_recipe(tmp_path / "a.yaml")
    assert "a.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_recipe_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nope\.yaml: no such recipe"):
        read_recipe(tmp_path / "nope.yaml")


@pytest.mark.parametrize("text", ["batch", "batch=[1"])
def test_a_flag_without_a_value_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--set"):
        parse_override(text)
