"""Every recipe parses, and runs for a few steps on the made-up language; those of the models say what trained them."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from riseq.reproduce.stages import read_stages
from riseq.train.loop import train
from riseq.train.settings import RiseSettings, read_recipe

# The baselines' are in tests/baselines/test_training.py.
RECIPES = [
    path
    for path in sorted((Path(__file__).resolve().parents[2] / "recipes").glob("*.yaml"))
    if read_stages(path) is None and read_recipe(path).system == "rise"
]
NAMES = {path.stem for path in RECIPES}
ABLATIONS = {"ablation-rise": "rise", "ablation-dps": "epsilon", "ablation-mld": "mle"}


def test_the_named_recipes_are_there() -> None:
    assert {"paper", "default", "large", *ABLATIONS} <= NAMES


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_recipe_runs(path: Path, world: Path, root: Path, tmp_path: Path) -> None:
    data = (str(world / "pairs.qa.jsonl"),)
    everyday = tmp_path / "everyday.jsonl"
    with gzip.open(root / "data" / "everyday" / "dialogues.jsonl.gz", "rt", encoding="utf-8") as lines:
        everyday.write_text("".join(next(lines) for _ in range(3)), encoding="utf-8")
    # The paper's decoder is as deep as its encoder; the tiny encoder has two layers.
    changes = {"backbone": str(world / "bert"), "train": data, "dev": data, "device": "cpu", "workers": 1}
    short = {"epochs": 1, "scored_from": 1, "min_count": 1, "decoder_layers": 2}
    asked = read_recipe(path)
    assert isinstance(asked, RiseSettings)
    # The tiny encoder has few positions.
    more: dict[str, object] = {"everyday": (str(everyday),), "context_pieces": 32} if asked.everyday else {}
    if asked.grounded:
        more["with_truth"] = data
    if asked.likelihood_epochs:
        short |= {"epochs": 2, "likelihood_epochs": 1, "risk_epochs": 1}
    if asked.direction == "resolve":
        more |= {"dev": (f"{data[0]}+resolve",), "small_talk": (str(root / asked.small_talk[0]),), "limit": 20}
    settings = read_recipe(path, {**changes, **short, **more})
    result = train(settings, tmp_path / "run")
    assert 1 <= result.best_epoch <= settings.epochs
    assert (result.folder / "README.md").is_file()


def test_the_ablations_differ_in_what_makes_them_so(root: Path) -> None:
    plain = asdict(RiseSettings())
    found = {path.stem: asdict(read_recipe(path)) for path in RECIPES if path.stem in ABLATIONS}
    assert {name: settings["method"] for name, settings in found.items()} == ABLATIONS
    rise = found["ablation-rise"]
    differing = {name: {key for key in one if one[key] != rise[key]} for name, one in found.items()}
    phases = {"likelihood_epochs", "risk_epochs", "risk_samples", "risk_mix", "epochs", "scored_from"}
    assert differing == {
        "ablation-rise": set(),
        "ablation-mld": {"method", "own_share", *phases},
        "ablation-dps": {"method", "epsilon", "samples", "above_nothing", "reward_floor", *phases},
    }
    assert rise["joint"]
    assert rise["likelihood_epochs"] + rise["risk_epochs"] == rise["epochs"]
    assert {key: rise[key] for key in ("samples", "reward_floor", "reward_scale", "start")} == {
        key: plain[key] for key in ("samples", "reward_floor", "reward_scale", "start")
    }


def test_rise_its_ablations_and_two_baselines_are_trained_on_equal_terms(root: Path) -> None:
    found = {name: asdict(read_recipe(root / "recipes" / f"{name}.yaml")) for name in (*ABLATIONS, "trans++", "qgdiv")}
    shared = (
        "backbone decoder_layers dropout train dev limit batch lr head_lr warmup_steps schedule weight_decay clip ema"
    )
    for name in shared.split():
        assert len({str(one[name]) for one in found.values()}) == 1, name
    assert all(one["scored_from"] == one["epochs"] for one in found.values()), "the last epoch is taken"
    # Steps are states over the batch: the pairs, the finished ones, and the policy's own after the likelihood's epochs
    # (or the first one).
    states = {
        name: one["epochs"] * (1 + one.get("stop_share", 0))
        + (one["epochs"] - max(1, one.get("likelihood_epochs", 0))) * one.get("own_share", 0)
        for name, one in found.items()
    }
    assert all(16 <= value <= 16.6 for value in states.values()), states


def test_the_way_back_and_its_baseline_learn_from_the_same(root: Path) -> None:
    ours, theirs = (read_recipe(root / "recipes" / f"{name}.yaml") for name in ("resolve", "resolve-trans++"))
    assert (ours.system, theirs.system, ours.direction) == ("rise", "trans++", "resolve")
    shared = "direction backbone train dev everyday everyday_copies complete first_turns unrelated foreign small_talk"
    shared += " small_talk_share utterance_pieces utterances context_pieces swap drop_answers borrow_answers limit"
    shared += " batch lr head_lr warmup_steps ema schedule weight_decay"
    for name in shared.split():
        assert getattr(ours, name) == getattr(theirs, name), name
    assert isinstance(ours, RiseSettings)
    assert (ours.grounded, ours.start, ours.teachers) == (False, None, ()), "nothing that the baseline has not got"
    assert all((root / name).is_file() for name in (*ours.everyday, *ours.small_talk))
    assert not [name for name in ours.dev if "test" in name], "test sets are only reported"


def test_the_papers_recipe_takes_mpnet_for_its_encoder(root: Path, world: Path, tmp_path: Path) -> None:
    """BERT-base can't be had everywhere; the decoder stays as deep as the encoder, and starts from it."""
    path = root / "recipes" / "paper.yaml"
    asked = read_recipe(path, {"backbone": "weights/mpnet"})
    assert isinstance(asked, RiseSettings)
    assert (asked.backbone, asked.decoder_layers, asked.train) == ("weights/mpnet", 12, ("canard/train.qonly",))
    data = (str(world / "pairs.qa.jsonl"),)
    tiny = {"backbone": str(world / "mpnet"), "train": data, "dev": data, "device": "cpu", "workers": 1}
    settings = read_recipe(path, {**tiny, "epochs": 1, "decoder_layers": 2, "limit": 20})
    assert train(settings, tmp_path / "run").best_epoch == 1


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


def test_the_models_recipes_share_their_data_and_read_whole_dialogues(root: Path) -> None:
    default, large = (read_recipe(root / "recipes" / f"{name}.yaml") for name in ("default", "large"))
    assert isinstance(default, RiseSettings)
    assert isinstance(large, RiseSettings)
    shared = "train dev everyday everyday_copies grounded with_truth unrelated foreign swap drop_answers phrases"
    shared += " utterance_pieces utterances context_pieces batch graphs stop_share warmup_steps ema"
    for name in shared.split():
        assert getattr(default, name) == getattr(large, name), name
    assert default.grounded
    assert (default.utterance_pieces, default.utterances, default.context_pieces) == (None, None, 224)
    assert all((root / name).is_file() for name in default.everyday)
    assert not [name for name in default.dev if "test" in name], "test sets are only reported"


def test_the_stages_train_eleven_models_as_what_ships_was_trained(root: Path) -> None:
    stages = read_stages(root / "recipes" / "ship.yaml")
    assert stages is not None
    assert [stage.name for stage in stages if stage.kind == "export"] == [
        *("large", "small-second", "default", "fast", "resolve")
    ]
    runs = {
        stage.name: read_recipe(root / "recipes" / stage.values["recipe"], stage.values.get("set"))
        for stage in stages
        if stage.kind == "train"
    }
    back = runs.pop("resolve-last")
    assert isinstance(back, RiseSettings)
    assert (back.direction, back.low_rank, back.lr, back.head_lr, back.seed) == ("resolve", 32, 2e-4, 1e-3, 1)
    assert (back.epochs, back.likelihood_epochs, back.risk_epochs, back.scored_from) == (7, 7, 0, 5)
    fast = runs.pop("fast-last")
    assert isinstance(fast, RiseSettings)
    trained = json.loads((root / "models" / "fast" / "config.json").read_text(encoding="utf-8"))["settings"]
    said = json.loads(json.dumps(asdict(fast))) | {"start": "default", "teachers": ["default"]}
    assert {name: said[name] for name in trained} == trained
    facts = {name: (one.seed, one.epochs, one.scored_from, one.lr, one.head_lr) for name, one in runs.items()}
    assert facts == {
        "start": (4, 4, 3, 1.2e-4, 4e-4),
        "teacher": (1, 3, 2, 5e-5, 2e-4),
        "pupil": (8, 2, 1, 8e-5, 2e-4),
        "large-first": (6, 1, 1, 3e-5, 1e-4),
        "default-first": (9, 3, 3, 7e-5, 2e-4),
        "default-second": (13, 2, 2, 1.2e-4, 3e-4),
        "default-joint": (21, 4, 4, 1.5e-4, 4e-4),
        "default-last": (23, 1, 1, 5e-5, 1e-4),
        "large-last": (11, 2, 2, 3.5e-5, 1e-4),
    }
    rise = {name: one for name, one in runs.items() if isinstance(one, RiseSettings)}
    assert {name: (one.method, one.own_share, one.distill, len(one.teachers)) for name, one in rise.items()} == {
        "start": ("mle", 0, 0, 0),
        "teacher": ("rise", 0.15, 0, 0),
        "pupil": ("rise", 0.2, 0.6, 1),
        "large-first": ("rise", 0.2, 0.5, 2),
        "default-first": ("rise", 0.2, 0.7, 1),
        "default-second": ("rise", 0.2, 0.5, 1),
        "default-joint": ("rise", 0.2, 0.5, 1),
        "default-last": ("rise", 0.2, 0.0, 0),
        "large-last": ("rise", 0.2, 0.35, 1),
    }
    assert {(one.sampler, one.reward_scale) for one in rise.values() if one.method == "rise"} == {
        ("posterior", "bounded")
    }
