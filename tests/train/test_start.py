"""A run goes on from a model: a checkpoint, an exported one, or one that ships."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch

from riseq import hub
from riseq.model.checkpoint import Checkpoint, load_checkpoint
from riseq.model.export import export_checkpoint
from riseq.train.loop import train
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings
from riseq.types import InputError
from tiny_model import save_tiny

Make = Callable[..., RiseSettings]


def make_begun(make_settings: Make) -> Checkpoint:
    """Return a network over the tiny world's phrases, no two of whose tensors are equal."""
    task = RiseTask(make_settings(), Processes())
    with torch.no_grad():
        for parameter in task.network.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return Checkpoint(task.network, task.lexicon.phrases, task.lexicon.pieces, {})


def test_a_run_starts_from_a_checkpoint_an_export_and_what_ships(
    make_settings: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = make_begun(make_settings)
    checkpoint = save_tiny(tmp_path / "checkpoint", begun)
    shipped = tmp_path / "models" / "default"
    export_checkpoint(begun, shipped, "", "int8")
    monkeypatch.setitem(hub._FIND, "default", lambda: shipped)
    expected = begun.network.state_dict()
    for start in (str(checkpoint), str(shipped), "default"):
        # The encoder and the phrases are the start's own: a backbone is not asked for.
        settings = make_settings(start=start, backbone="nowhere", grounded=True, min_count=9, epochs=1)
        task = RiseTask(settings, Processes())
        assert task.lexicon.phrases == begun.phrases
        state = task.network.state_dict()
        assert not state.pop("conditions.weight").any()
        for name, tensor in state.items():
            assert (tensor - expected[name]).abs().max() <= 0.02 * expected[name].abs().max(), name
    assert (train(settings, tmp_path / "run").folder / "network.safetensors").is_file()


def test_a_start_of_another_shape_is_told(make_settings: Make, tmp_path: Path) -> None:
    checkpoint = save_tiny(tmp_path / "checkpoint", make_begun(make_settings))
    with pytest.raises(InputError, match="checkpoint: decoder_layers is 1, the run's 2"):
        RiseTask(make_settings(start=str(checkpoint), decoder_layers=2), Processes())
    with pytest.raises(InputError, match="no such folder"):
        RiseTask(make_settings(start=str(tmp_path / "nowhere")), Processes())


def test_a_start_is_cut_to_the_layers_that_are_kept(make_settings: Make, tmp_path: Path) -> None:
    begun = make_begun(make_settings)
    start = save_tiny(tmp_path / "checkpoint", begun)
    before = begun.network.state_dict()
    after = RiseTask(make_settings(start=str(start), keep_layers=(1,)), Processes()).network
    assert after.config.backbone.layers == 1
    for name, tensor in after.state_dict().items():
        assert torch.equal(tensor, before[name.replace("encoder.layers.0.", "encoder.layers.1.")]), name
    with pytest.raises(InputError, match=r"keep_layers \[5\]: expected rising numbers within 0\.\.1"):
        RiseTask(make_settings(start=str(start), keep_layers=(5,)), Processes())


def test_a_starts_decoder_is_cut_to_the_layers_that_are_kept(make_settings: Make, tmp_path: Path) -> None:
    begun = make_begun(partial(make_settings, decoder_layers=3))
    start = save_tiny(tmp_path / "checkpoint", begun)
    before = begun.network.state_dict()
    after = RiseTask(make_settings(start=str(start), keep_decoder=(0, 2), decoder_layers=2), Processes()).network
    assert (after.config.decoder_layers, len(after.decoder)) == (2, 2)
    for name, tensor in after.state_dict().items():
        assert torch.equal(tensor, before[name.replace("decoder.1.", "decoder.2.")]), name
    with pytest.raises(InputError, match=r"^keep_decoder \[5\]: expected rising numbers within 0\.\.2$"):
        RiseTask(make_settings(start=str(start), keep_decoder=(5,)), Processes())
    with pytest.raises(InputError, match="checkpoint: decoder_layers is 1, the run's 2"):
        RiseTask(make_settings(start=str(start), keep_decoder=(0,), decoder_layers=2), Processes())


def test_frozen_layers_stay_as_they_were_and_the_rest_learns(make_settings: Make, tmp_path: Path) -> None:
    begun = make_begun(make_settings)
    start = save_tiny(tmp_path / "checkpoint", begun)
    before = begun.network.state_dict()
    settings = make_settings(start=str(start), frozen_layers=1, frozen_decoder=True, joint=True, epochs=1, ema=0.9)
    after = load_checkpoint(train(settings, tmp_path / "run").folder).network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert not [name for name in changed if name.startswith(("encoder.embeddings.", "encoder.layers.0.", "decoder."))]
    assert {"encoder.layers.1.up.weight", "edit_head.weight", "phrase_head.weight"} <= changed
    assert after["transitions.weight"].any()
