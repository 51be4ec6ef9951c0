"""What is learnt above a model that stays: its matrices keep their values, and its differences learn another task."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from riseq.model.checkpoint import load_trained
from riseq.train.loop import train
from riseq.train.settings import RiseSettings
from riseq.types import InputError

Make = Callable[..., RiseSettings]


def test_the_other_direction_is_learnt_above_a_model_whose_matrices_stay(make_settings: Make, tmp_path: Path) -> None:
    train(make_settings(method="mle"), tmp_path / "base")
    base = str(tmp_path / "base" / "best")
    dev = (f"{make_settings().train[0]}+resolve",)
    back = {"direction": "resolve", "start": base, "method": "mle", "copies": 3, "dev": dev, "epochs": 6}
    result = train(make_settings(low_rank=4, **back), tmp_path / "above")
    frozen = train(make_settings(low_rank=4, **{**back, "epochs": 1, "lr": 1e-9, "head_lr": 1e-9}), tmp_path / "none")
    was, now = load_trained(base), load_trained(tmp_path / "above" / "best")
    before, after = was.network.state_dict(), now.network.state_dict()
    for name, weight in before.items():
        if name.startswith(("encoder.", "decoder.")) and weight.dim() > 1:
            assert torch.equal(weight, after[name]), name
    assert any(weight.abs().max() > 0 for name, weight in after.items() if name.endswith(".wide"))
    assert now.phrases != was.phrases  # those of the way back
    (scores,), (unlearnt,) = result.scores.values(), frozen.scores.values()
    assert scores["bleu4"] > unlearnt["bleu4"] + 5


def test_differences_need_what_they_differ_from() -> None:
    with pytest.raises(InputError, match="low_rank is 0 or more; its differences are to a start"):
        RiseSettings(low_rank=8)
