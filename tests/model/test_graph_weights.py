"""What an exported model's graphs hold is the network again, up to what int8 rounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from riseq.engine.backends.onnx_runtime import OnnxBackend
from riseq.engine.backends.pytorch import TorchBackend
from riseq.engine.drafts import gather, start
from riseq.model import export as export_module
from riseq.model.checkpoint import load_checkpoint, load_trained
from riseq.model.export import export
from riseq.model.folder import LAYOUT, load_exported
from riseq.model.inputs import Batch, find_spans
from riseq.types import InputError
from tiny_model import Family, export_tiny, make_examples, make_pieces

UNUSED_BUCKET = 16
"""Distance 0 belongs to the buckets of the other direction, so its own on this side is never asked for."""


def make_batch(family: Family) -> Batch:
    pieces = make_pieces(family)
    return gather([start(one.question, one.context, pieces, 512) for one in make_examples(8)], pieces)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_float32_comes_back_to_the_last_bit(base: Path, family: Family) -> None:
    checkpoint, exported = export_tiny(base, family, "float32")
    mine, theirs = load_trained(exported), load_trained(checkpoint)
    assert (mine.network.config, mine.network.cls_id) == (theirs.network.config, theirs.network.cls_id)
    assert (mine.phrases, mine.pieces.vocabulary, mine.facts) == (
        theirs.phrases,
        theirs.pieces.vocabulary,
        {"epoch": 3},
    )
    expected = theirs.network.state_dict()
    if family == "mpnet":
        expected["encoder.bias.weight"][UNUSED_BUCKET] = 0
    torch.testing.assert_close(dict(mine.network.state_dict()), dict(expected), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("family", "precision", "step", "near"),
    [("bert", "int8", 0.02, 0.03), ("mpnet", "int8", 0.02, 0.03), ("mpnet", "int4", 0.13, 0.12)],
)
def test_few_bits_come_back_with_the_same_scores_up_to_their_rounding(
    base: Path, family: Family, precision: str, step: float, near: float
) -> None:
    checkpoint, exported = export_tiny(base, family, precision)
    network = load_trained(exported).network
    plain = load_checkpoint(checkpoint).network.state_dict()
    for name, tensor in network.state_dict().items():
        if name != "encoder.bias.weight":
            assert (tensor - plain[name]).abs().max() <= step * plain[name].abs().max(), name
    batch = make_batch(family)
    real = batch.real_BW[:, :-1]
    mine, graph = TorchBackend(network).score(batch), OnnxBackend(load_exported(exported), exported).score(batch)
    theirs = TorchBackend(load_checkpoint(checkpoint).network).score(batch)
    spans = find_spans(batch, theirs.edits_BWE.argmax(-1))
    for other in (graph, theirs):
        assert np.abs(np.exp(mine.edits_BWE[real]) - np.exp(other.edits_BWE[real])).mean() < near
        assert np.abs(np.exp(mine.score_phrases(spans)) - np.exp(other.score_phrases(spans))).mean() < near


def test_a_graph_that_is_too_large_a_file_has_its_table_beside_it(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint, whole = export_tiny(base, "bert", "float32")
    monkeypatch.setattr(export_module, "LARGEST_FILE", 1_000)
    sizes = export(checkpoint, tmp_path / "split", "float32")
    table = len(make_pieces("bert")) * 32 * 4
    assert sizes[LAYOUT.table] >= table
    assert sizes[LAYOUT.encoder] < (whole / LAYOUT.encoder).stat().st_size - table / 2
    assert not (whole / LAYOUT.table).exists()
    batch = make_batch("bert")
    split = OnnxBackend(load_exported(tmp_path / "split"), tmp_path / "split").score(batch)
    np.testing.assert_array_equal(split.edits_BWE, OnnxBackend(load_exported(whole), whole).score(batch).edits_BWE)
    mine, theirs = (load_trained(folder).network.state_dict() for folder in (tmp_path / "split", whole))
    torch.testing.assert_close(dict(mine), dict(theirs), rtol=0, atol=0)
    (tmp_path / "split" / LAYOUT.table).write_bytes(b"other")
    with pytest.raises(InputError, match=r"encoder\.onnx\.data: damaged"):
        load_exported(tmp_path / "split")
    (tmp_path / "split" / LAYOUT.table).unlink()
    with pytest.raises(InputError, match=r"no encoder\.onnx\.data; expected"):
        load_exported(tmp_path / "split")


def test_a_graph_of_another_shape_is_told_in_one_line(base: Path) -> None:
    _, exported = export_tiny(base, "bert", "int8")
    from riseq.model.checkpoint import read_weights

    with pytest.raises(InputError, match=r"its graphs have no encoder\.layers\.7\.up\.weight of shape \(64, 32\)"):
        read_weights(exported, {"encoder.layers.7.up.weight": torch.zeros(64, 32)})
