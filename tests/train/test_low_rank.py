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


@pytest.mark.parametrize("rank", [3, 0])
def test_a_model_cut_to_fewer_layers_learns_from_the_whole_one(make_settings: Make, tmp_path: Path, rank: int) -> None:
    train(make_settings(method="mle", joint=True, decoder_layers=2), tmp_path / "base")
    base = str(tmp_path / "base" / "best")
    before = load_trained(base).network.state_dict()
    layers = max(int(name.split(".")[2]) for name in before if name.startswith("encoder.layers."))
    settings = make_settings(
        start=base,
        teachers=(base,),
        keep_layers=(layers,),
        keep_decoder=(1,),
        joint=True,
        low_rank=rank,
        distill=0.7,
        imitate=0.5,
        sampler="posterior",
        reward_scale="bounded",
        risk_epochs=1,
        risk_samples=3,
        ema=0.9,
    )
    train(settings, tmp_path / "fast")
    cut = load_trained(tmp_path / "fast" / "best").network
    assert (cut.config.backbone.layers, cut.config.decoder_layers) == (1, 1)
    assert (cut.config.low_rank, cut.config.phrase_rank) == (rank, rank)
    came_from = {"encoder.layers.0.": f"encoder.layers.{layers}.", "decoder.0.": "decoder.1."}
    stayed, learnt = set[str](), set[str]()
    for name, weight in cut.state_dict().items():
        was = name
        for mine, theirs in came_from.items():
            was = was.replace(mine, theirs)
        (stayed if was in before and torch.equal(weight, before[was]) else learnt).add(name)
    matrices = {name for name, weight in cut.state_dict().items() if name in before and weight.dim() > 1}
    small = {"edit_head.weight", "transitions.weight", "span_positions.weight"}
    assert stayed == (matrices - small if rank else set())
    assert {"phrase_head.bias", "edit_head.weight", *(["phrase_head.wide"] if rank else [])} <= learnt


def test_differences_need_what_they_differ_from() -> None:
    with pytest.raises(InputError, match="low_rank is 0 or more; its differences are to a start"):
        RiseSettings(low_rank=8)
