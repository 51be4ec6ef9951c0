"""What a run's folder tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.hub import find_default_model
from riseq.reproduce.facts import ModelFacts, count_parameters, read_config, read_facts
from riseq.types import InputError
from tiny_model import make_checkpoint, save_tiny

LOG = """step,epoch,loss,reward,edited,states_per_s,sampling_share,elapsed
20,1,1.0,0.1,0.5000,10,0.1,100.00
40,1,1.0,0.1,0.4000,10,0.1,900.00
60,2,1.0,0.1,0.1000,10,0.1,100.00
80,2,1.0,0.1,0.3000,10,0.1,900.00
"""


def test_hours_are_of_all_epochs_and_edits_of_the_last(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / "config.json").write_text(
        json.dumps({"settings": {"seed": 4, "train": ["a/b"]}}), encoding="utf-8"
    )
    assert read_facts(tmp_path / "best") == ModelFacts(None, 4, ("a/b",), hours=0.5, edited=0.2)


def test_a_log_of_other_columns_tells_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,loss\n1,0.5\n", encoding="utf-8")
    assert read_facts(tmp_path) == ModelFacts()


def test_a_checkpoints_weights_are_counted_without_being_loaded(tmp_path: Path) -> None:
    checkpoint = make_checkpoint()
    folder = save_tiny(tmp_path / "tiny", checkpoint)
    assert count_parameters(folder) == sum(p.numel() for p in checkpoint.network.state_dict().values())


def test_an_exported_models_are_counted_by_its_shape() -> None:
    folder = find_default_model()
    if folder is None:
        pytest.skip("no model ships with this checkout")
    assert 20e6 < (count_parameters(folder) or 0) < 60e6


def test_a_folder_without_a_model_tells_nothing_and_a_broken_one_is_told(tmp_path: Path) -> None:
    assert count_parameters(tmp_path) is None
    assert read_config(tmp_path) == {}
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json: not JSON"):
        read_config(tmp_path)


def test_a_language_models_facts_are_a_part_of_its_librarys_config(tmp_path: Path) -> None:
    settings = {"seed": 3, "train": ["canard/train.qonly"]}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama", "riseq": {"settings": settings}}))
    facts = read_facts(tmp_path)
    assert (facts.seed, facts.trained_on) == (3, ("canard/train.qonly",))
