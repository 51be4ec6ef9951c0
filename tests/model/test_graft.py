"""Layers that training left alone keep the older graph's bytes, and the model computes what it would without that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import onnx
import pytest
import torch

from riseq.engine.simplifier import Simplifier
from riseq.model.checkpoint import Checkpoint, load_trained
from riseq.model.export import export_checkpoint
from riseq.model.folder import LAYOUT
from riseq.model.graft import find_unchanged
from riseq.model.network import RiseNetwork
from riseq.types import InputError
from tiny_model import Family, export_tiny, make_examples

TOP = ("encoder.layers.1.", "decoder.1.", "edit_head.", "phrase_head.", "transitions.")
KINDS = [("bert", "int8"), ("mpnet", "int4")]


def go_on_from(older: Path, by: float) -> Checkpoint:
    """Return the model that ``older`` is, as a joint one, its top moved by ``by``."""
    begun = load_trained(older)
    network = RiseNetwork(replace(begun.network.config, joint=True), begun.pieces.cls_id)
    network.load_state_dict({**network.state_dict(), **begun.network.state_dict()})
    torch.manual_seed(3)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.startswith(TOP):
                parameter.add_(by * torch.randn_like(parameter))
    return replace(begun, network=network.eval())


def read_tensors(folder: Path, name: str) -> list[bytes]:
    """Return the bytes of a graph's larger tensors, sorted."""
    found = onnx.load(folder / name).graph.initializer
    return sorted(one.raw_data for one in found if len(one.raw_data) >= 64)


@pytest.mark.parametrize(("family", "precision"), KINDS)
def test_what_stayed_keeps_its_bytes_and_the_rest_is_new(
    family: Family, precision: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    _, older = export_tiny(tmp_path_factory.getbasetemp(), family, precision)
    begun = go_on_from(older, 0.05)
    kept = find_unchanged(begun.network.state_dict(), load_trained(older).network.state_dict())
    assert {"encoder.embeddings", "encoder.layers.0", "decoder.0"} <= set(kept)
    assert not {"encoder.layers.1", "decoder.1", "edit_head", "phrase_head", "transitions"} & set(kept)
    export_checkpoint(begun, tmp_path / "like", "", precision, older)
    for name in (LAYOUT.encoder, LAYOUT.phraser):
        before, like = (set(read_tensors(folder, name)) for folder in (older, tmp_path / "like"))
        assert len(like & before) > len(before) / 4
        assert like - before  # the top has learnt
    was, now = (load_trained(folder).network.state_dict() for folder in (older, tmp_path / "like"))
    learnt = begun.network.state_dict()
    for name in was:
        if name.startswith(("encoder.embeddings.pieces.", "encoder.layers.0.", "decoder.0.")):
            assert torch.equal(was[name], now[name]), name  # read back as it was, to the last bit
        elif name.startswith(TOP):
            assert (now[name] - learnt[name]).abs().max() <= 0.15 * learnt[name].abs().max(), name
    examples = make_examples(20)
    assert len(list(Simplifier.load(tmp_path / "like").batch(examples))) == len(examples)


def test_a_model_that_is_as_it_was_is_the_same_file_for_file(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    _, older = export_tiny(tmp_path_factory.getbasetemp(), "mpnet", "int4")
    export_checkpoint(go_on_from(older, 0.0), tmp_path / "again", "", "int4", older)
    assert read_tensors(tmp_path / "again", LAYOUT.encoder) == read_tensors(older, LAYOUT.encoder)


def test_another_precision_is_told(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    _, older = export_tiny(tmp_path_factory.getbasetemp(), "mpnet", "int4")
    with pytest.raises(InputError, match="its precision is int4, not int8; expected a model of the same precision"):
        export_checkpoint(go_on_from(older, 0.05), tmp_path / "like", "", "int8", older)
    assert not (tmp_path / "like").exists()
