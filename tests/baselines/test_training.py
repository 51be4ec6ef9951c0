"""The learned baselines are trained, seeded, resumed and run as systems, on the made-up language."""

from __future__ import annotations

import csv
import importlib
import inspect
import json
import re
import runpy
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from riseq.baselines.encoder_decoder import EncoderDecoder
from riseq.baselines.generation import LONGER, LONGER_RESOLVED, find_longer
from riseq.baselines.language_model import LanguageModel
from riseq.baselines.systems import QgDiv
from riseq.baselines.tasks import BaselineSettings, BaselineTask, EncoderDecoderTask
from riseq.cli import main
from riseq.data.dataset import load_dataset
from riseq.model.folder import read_training_window
from riseq.reproduce.predict import evaluate
from riseq.systems.registry import load_system
from riseq.train.loop import train
from riseq.train.processes import Processes
from riseq.train.settings import TrainSettings, make_settings, read_recipe
from riseq.train.task import find_task
from riseq.train.tracking import Tracker
from riseq.types import Example, InputError
from tiny_language_model import write_language_model
from tiny_model import make_checkpoint, save_tiny
from tiny_world import make_rows, write_world

pytestmark = pytest.mark.xdist_group("baselines")  # what they share is made once

SYSTEMS = ("trans++", "qgdiv", "querysim")
# To look at the right word is slower learnt where it cannot be copied.
EPOCHS = {"trans++": 40, "qgdiv": 120, "querysim": 100}
RECIPES = Path(__file__).resolve().parents[2] / "recipes"
ODD = [
    Example("1", (), "Why?"),
    Example("2", ("",), " "),
    Example("3", ("a" * 5000,), "Did Ada Lovelace become famous? " * 60),
    Example("4", ("\u4e2d\u6587 \U0001f600",), "\ud800\u0000 \u00e9?"),
]
Make = Callable[..., BaselineSettings]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="session")
def language_model(world: Path) -> Path:
    return write_language_model(world / "lm", make_rows())


@pytest.fixture
def make(world: Path, language_model: Path) -> Make:
    def settings(system: str, **changes: object) -> BaselineSettings:
        data = [str(world / "pairs.qa.jsonl")]
        base: dict[str, object] = {
            "system": system,
            "backbone": str(language_model if system == "querysim" else world / "bert"),
            "decoder_layers": 1,
            "beams": 2,
            "dropout": 0.0,
            "train": data,
            "dev": data,
            "limit": 20,
            "epochs": 2,
            "batch": 10,
            "lr": 3e-3,
            "head_lr": 1e-2,
            "warmup_steps": 2,
            "device": "cpu",
        }
        found = make_settings({**base, **changes})
        assert isinstance(found, BaselineSettings)
        return found

    return settings


@pytest.fixture(scope="session")
def trained(world: Path, language_model: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each system that has learnt twenty pairs by heart."""
    found = {}
    data = (str(world / "pairs.qa.jsonl"),)
    for system in SYSTEMS:
        backbone = str(language_model if system == "querysim" else world / "bert")
        settings = BaselineSettings(
            system=system,  # type: ignore[arg-type]
            backbone=backbone,
            decoder_layers=1,
            beams=2,
            dropout=0.0,
            train=data,
            dev=data,
            limit=20,
            epochs=EPOCHS[system],
            scored_from=EPOCHS[system],
            batch=10,
            lr=5e-3,
            head_lr=5e-3,
            warmup_steps=5,
            device="cpu",
            resumable=False,
        )
        out = tmp_path_factory.mktemp("runs") / system
        train(settings, out, tracker=Tracker(out, every=2))
        found[system] = out
    return found


def read_losses(out: Path) -> list[float]:
    with (out / "log.csv").open(newline="", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_training_lowers_the_loss_and_learns_the_pairs(trained: dict[str, Path], system: str, world: Path) -> None:
    losses = read_losses(trained[system])
    assert losses[-1] < 0.15 * losses[0]
    examples = load_dataset(world / "pairs.qa.jsonl")[:20]
    found = evaluate(load_system(system, trained[system] / "best"), examples)
    assert found.scores.exact > 80
    if system != "querysim":  # their words are lower-cased; their text is not
        assert sum(result.text.startswith("Did ") for result in found.predictions) > 15


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_config_says_what_was_measured(trained: dict[str, Path], system: str) -> None:
    config = json.loads((trained[system] / "best" / "config.json").read_text(encoding="utf-8"))
    facts = config.get("riseq", config)
    assert facts["system"] == system
    assert facts["parameters"] > 10_000
    assert facts["train_seconds"] > 0
    assert facts["states_per_s"] == pytest.approx(EPOCHS[system] * 20 / facts["train_seconds"], rel=0.02)
    assert facts["device"] == "cpu"
    assert f"--system {system}" in (trained[system] / "best" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("system", SYSTEMS)
def test_odd_input_gets_a_result_each(trained: dict[str, Path], system: str) -> None:
    results = list(load_system(system, trained[system] / "best").simplify(iter(ODD)))
    assert [result.question for result in results] == [example.question for example in ODD]
    assert results[2].truncated
    assert all(isinstance(result.text, str) for result in results)


def test_a_nucleus_follows_its_seed_and_beams_are_the_default(trained: dict[str, Path]) -> None:
    folder = trained["qgdiv"] / "best"
    examples = [Example(str(k), (f"Tell me about {k}.",), f"Did the old bridge cost {k}?") for k in range(20)]

    def write(**changes: Any) -> list[str]:
        return [result.text for result in QgDiv(folder, **changes).simplify(examples)]

    assert write() == write(beams=2)
    assert write(nucleus=0.99, seed=1) == write(nucleus=0.99, seed=1)
    assert write(nucleus=0.99, seed=1) != write(nucleus=0.99, seed=2)
    with pytest.raises(InputError, match=r"mass: 1\.5"):
        write(nucleus=1.5)


def test_an_encoder_that_was_trained_is_a_start(make: Make, tmp_path: Path) -> None:
    begun = make_checkpoint("bert")
    start = str(save_tiny(tmp_path / "begun", begun))
    task = EncoderDecoderTask(make("trans++", start=start, backbone="nowhere"), Processes())
    for name, tensor in begun.network.encoder.state_dict().items():
        assert torch.equal(task.network.encoder.state_dict()[name], tensor), name
    assert task.made_from == f"Started from `{start}`"
    with pytest.raises(InputError, match="querysim has a network of its own"):
        make("querysim", start=start)


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_seed_decides_the_run(make: Make, tmp_path: Path, system: str) -> None:
    runs = {}
    for name, changes in {"a": {}, "b": {}, "c": {"seed": 2}}.items():
        settings = make(system, dropout=0.1, resumable=False, **changes)
        train(settings, tmp_path / name, tracker=Tracker(tmp_path / name, every=1))
        runs[name] = read_losses(tmp_path / name)
    assert runs["a"] == runs["b"]
    assert runs["a"] != runs["c"]


@pytest.mark.parametrize("system", ["trans++", "querysim"])
def test_a_run_cut_after_an_epoch_ends_as_the_whole_one(make: Make, tmp_path: Path, system: str) -> None:
    settings = make(system, ema=0.5, dropout=0.1)
    whole = train(settings, tmp_path / "whole")

    class Cut(Tracker):
        def start_epoch(self, epoch: int, epochs: int, steps: int) -> None:
            if epoch == 1:
                raise KeyboardInterrupt
            super().start_epoch(epoch, epochs, steps)

    with pytest.raises(KeyboardInterrupt):
        train(settings, tmp_path / "cut", tracker=Cut(tmp_path / "cut"))
    with pytest.raises(InputError, match="holds a run already"):
        train(settings, tmp_path / "cut")
    found = train(settings, tmp_path / "cut", resume=True)
    assert (found.best_epoch, found.scores) == (whole.best_epoch, whole.scores)
    with pytest.raises(InputError, match="made with other data"):
        train(make(system, ema=0.5, dropout=0.1, seed=3), tmp_path / "cut", resume=True)


def test_copying_epochs_teach_the_question(make: Make, tmp_path: Path, world: Path) -> None:
    changes = {"epochs": 41, "copy_epochs": 40, "scored_from": 41, "lr": 5e-3, "head_lr": 5e-3, "resumable": False}
    # The last epoch's rate is a twentieth of the peak: what was learnt before it is still there.
    settings = make("trans++", **changes)
    train(settings, tmp_path / "run")
    examples = load_dataset(world / "pairs.qa.jsonl")[:20]
    results = list(load_system("trans++", tmp_path / "run" / "best").simplify(examples))
    assert sum(result.text == result.question for result in results) > 10


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_recipe_trains_by_the_verb_and_predicts(
    system: str, world: Path, language_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = world / "pairs.qa.jsonl"
    backbone = language_model if system == "querysim" else world / "bert"
    changes = [f"backbone={backbone}", f"train=[{data}]", f"dev=[{data}]", "limit=10", "epochs=2", "copy_epochs=0"]
    changes += ["scored_from=2", "decoder_layers=1", "device=cpu"]
    flags = [part for change in changes for part in ("--set", change)]
    run = tmp_path / "run"
    assert main(["train", "--recipe", str(RECIPES / f"{system}.yaml"), "--out", str(run), *flags]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["best_epoch"] == 2
    script = runpy.run_path(str(RECIPES.parent / "benchmarks" / "score_checkpoints.py"))
    arguments = ["--system", system, "--model", shown["model"], "--data", str(data), "--out", str(tmp_path / "out")]
    assert script["main"](arguments) == 0
    scores = json.loads(capsys.readouterr().out)
    assert (scores["n"], scores["system"]) == (50, system)
    (file,) = (tmp_path / "out").iterdir()
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 50
    assert set(rows[0]) >= {"id", "question", "target", "prediction"}
    code = main(["evaluate", "--system", system, "--model", shown["model"], "--data", str(data), "--json"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["bleu4"] == pytest.approx(scores["bleu4"])


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_way_back_is_learnt_and_may_be_longer(system: str, make: Make, world: Path, tmp_path: Path) -> None:
    data = f"{world / 'pairs.qa.jsonl'}+resolve"
    mixed = {"direction": "resolve", "complete": 0.5, "first_turns": 0.2, "dev": [data], "epochs": 1}
    settings = make(system, **mixed)
    task = find_task(system)(settings, Processes())
    assert isinstance(task, BaselineTask)
    assert len(task.lengths) == 20 + 10 + 4
    assert task.dev[data][0].question == "Did she win a prize?"
    assert find_longer(task.model.facts) == LONGER_RESOLVED > LONGER
    result = train(settings, tmp_path, tracker=Tracker(tmp_path, every=1))
    assert {"term_f1", "unchanged", "exact"} <= set(result.scores[data])
    loaded = LanguageModel.load(result.folder) if system == "querysim" else EncoderDecoder.load(result.folder)
    assert find_longer(loaded.facts) == LONGER_RESOLVED, "also where it is loaded again"


def test_a_baseline_reads_the_window_it_was_trained_with(make: Make) -> None:
    task = EncoderDecoderTask(make("trans++", utterances=1, utterance_pieces=3), Processes())
    assert all(len(source.ids) - source.question <= 3 + 3 for source in task.sources)
    assert read_training_window(task.model.facts).utterances == 1


def test_the_recipes_use_the_ablations_data() -> None:
    found = {system: asdict(read_recipe(RECIPES / f"{system}.yaml")) for system in SYSTEMS}
    for system, settings in found.items():
        assert settings["system"] == system
        assert (settings["train"], settings["dev"]) == (("canard/train.qonly",), ("canard/dev.qonly",))
    assert found["trans++"]["backbone"] == found["qgdiv"]["backbone"] == "weights/gte"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schedule": "gpt"}, "expected one of cosine, constant"),
        ({"speed": 3}, "no setting is called 'speed'"),
        ({"copy_epochs": 2}, "copy_epochs: 2"),
        ({"copy_epochs": 1}, "scored_from: 1; expected after copy_epochs"),
        ({"beams": 0}, "beams are 1 or more"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused(make: Make, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make("trans++", **changes)
    with pytest.raises(InputError, match="querysim reads the paper's window"):
        make("querysim", utterances=None)


def test_a_baseline_is_trained_by_one_process(make: Make) -> None:
    with pytest.raises(InputError, match="one process trains a baseline; got 2"):
        EncoderDecoderTask(make("qgdiv"), Processes(0, 2))


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(InputError, match=r"'gpt'; expected one of rise, trans\+\+, qgdiv, querysim"):
        make_settings({"system": "gpt"})


def test_a_model_of_another_system_is_refused(trained: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="it is a model for 'trans\\+\\+'"):
        load_system("qgdiv", trained["trans++"] / "best")
    with pytest.raises(InputError, match="it is a model for 'qgdiv'"):
        load_system("trans++", trained["qgdiv"] / "best")
    for system in SYSTEMS:
        with pytest.raises(InputError, match="comes with no model"):
            load_system(system)


def test_the_page_has_every_setting_with_its_comment_and_default() -> None:
    text = (RECIPES.parent / "docs" / "baselines.md").read_text(encoding="utf-8")
    lines = inspect.getsource(BaselineSettings).splitlines()
    comments = {match[1]: match[2] for line in lines if (match := re.match(r"    (\w+): .*  # (.+)$", line))}
    own = {
        name
        for name, field in BaselineSettings.__dataclass_fields__.items()
        if name not in TrainSettings.__dataclass_fields__
        or field.default != TrainSettings.__dataclass_fields__[name].default
    }
    assert set(comments) == own
    rows = {match[1]: match[2] for match in re.finditer(r"^\| `(\w+)` \| (?:.*?) ?\| (.+) \|$", text, re.MULTILINE)}
    assert rows == comments, "the settings that every run has are in docs/training.md"
    for name in re.findall(r"`(riseq(?:\.\w+)+)`", text):
        module, _, part = name.rpartition(".")
        assert hasattr(importlib.import_module(module), part), name
