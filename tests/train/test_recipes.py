"""Every recipe parses, and runs for a few steps on the made-up language."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from riseq.train.loop import train
from riseq.train.settings import RiseSettings, read_recipe

# The baselines' are in tests/baselines/test_training.py.
RECIPES = [
    path
    for path in sorted((Path(__file__).resolve().parents[2] / "recipes").glob("*.yaml"))
    if read_recipe(path).system == "rise"
]
NAMES = {path.stem for path in RECIPES}
ABLATIONS = {"ablation-rise": "rise", "ablation-dps": "epsilon", "ablation-mld": "mle"}


def test_the_named_recipes_are_there() -> None:
    assert {"paper", "small", "large", *ABLATIONS} <= NAMES


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_runs(path: Path, world: Path, tmp_path: Path) -> None:
    data = (str(world / "pairs.qa.jsonl"),)
    # The paper's decoder is as deep as its encoder; the tiny encoder has two layers.
    changes = {"backbone": str(world / "bert"), "train": data, "dev": data, "device": "cpu", "workers": 1}
    settings = read_recipe(path, {**changes, "epochs": 1, "min_count": 1, "decoder_layers": 2})
    result = train(settings, tmp_path / "run")
    assert result.best_epoch == 1
    assert (result.folder / "README.md").is_file()


def test_the_ablations_differ_in_the_method_alone() -> None:
    found = {path.stem: asdict(read_recipe(path)) for path in RECIPES if path.stem in ABLATIONS}
    assert {name: settings.pop("method") for name, settings in found.items()} == ABLATIONS
    first, *others = found.values()
    assert all(other == first for other in others)
    assert first["epsilon"] == 0.2


def test_the_papers_recipe_has_the_papers_settings() -> None:
    (path,) = (path for path in RECIPES if path.stem == "paper")
    s = read_recipe(path)
    assert isinstance(s, RiseSettings)
    assert (s.backbone, s.decoder_layers, s.decoder_input, s.phrases) == ("bert-base-uncased", 12, "tokens", 3461)
    assert (s.lr, s.head_lr, s.warmup_steps, s.schedule, s.layer_decay) == (5e-5, 5e-5, 20_000, "constant", 1.0)
    assert (s.frozen_epochs, s.epochs, s.clip, s.passes) == (5, 25, 1.0, 3)
    assert (s.method, s.sampler, s.reward_floor, s.reward_scale) == ("rise", "dps", None, "paper")
    assert (s.train, s.swap, s.borrow_answers, s.drop_answers) == (("canard/train.qonly",), 0, 0, 0)
    assert (s.weight_decay, s.ema, s.teachers) == (0, 0, ())
