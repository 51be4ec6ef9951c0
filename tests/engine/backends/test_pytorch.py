"""The torch backend on the CPU: the code of a GPU, but for the kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from riseq import Simplifier
from riseq.core.chain import max_marginals as core_max_marginals
from riseq.engine.backends.pytorch import TorchBackend, max_marginals
from riseq.engine.drafts import gather, start
from riseq.model.checkpoint import load_checkpoint
from riseq.model.inputs import Batch
from riseq.model.network import Inputs
from riseq.model.unpadded import UnpaddedEncoder
from tiny_model import Family, export_tiny, make_checkpoint, make_examples, make_pieces


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.getbasetemp()


def make_batch(family: Family, count: int = 24) -> Batch:
    pieces = make_pieces(family)
    return gather([start(one.question, one.context, pieces, 512) for one in make_examples(count)], pieces)


def test_rows_without_padding_have_the_states_of_padded_ones() -> None:
    network = make_checkpoint().network.eval()
    backend, batch = TorchBackend(network), make_batch("bert")
    arrays = (batch.ids_BL, batch.types_BL, batch.mask_BL, batch.firsts_BW[:, :-1], batch.condition_B)
    with torch.inference_mode():
        padded = network.encode(Inputs(*map(torch.from_numpy, arrays)))
        rows, _ = backend.send(batch)
        flat = backend.encode(rows)
    assert len(flat) == batch.lengths_B.sum() < padded.shape[0] * padded.shape[1], "nothing was padded"
    torch.testing.assert_close(flat, padded[torch.from_numpy(batch.mask_BL)], atol=1e-5, rtol=1e-5)


def test_a_network_with_relative_positions_is_read_padded() -> None:
    network = make_checkpoint("mpnet").network
    with pytest.raises(ValueError, match="relative positions"):
        UnpaddedEncoder(network)
    scores = TorchBackend(network).score(make_batch("mpnet"))
    assert np.isfinite(scores.edits_BWE).all()


def test_best_paths_are_the_same_as_on_the_host() -> None:
    rng = np.random.default_rng(3)
    scores = torch.from_numpy(rng.normal(size=(9, 7, 4, 4)).astype(np.float32)).log_softmax(-1)
    real = np.arange(7)[None, :] < rng.integers(1, 8, size=9)[:, None]
    mine = max_marginals(scores, torch.from_numpy(real)).numpy()
    np.testing.assert_allclose(mine[real], core_max_marginals(scores.numpy(), real)[real], atol=1e-6)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_windows_in_flight_write_what_onnxruntime_writes(
    base: Path, family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riseq.engine.editor.WINDOW", 16)
    checkpoint, folder = export_tiny(base, family, "float32")
    asked = make_examples(100)
    engine = Simplifier.load(checkpoint)
    assert isinstance(engine.backend, TorchBackend)
    engine.backend.in_flight = 3
    theirs = [result.text for result in Simplifier.load(folder, threads=1).batch(asked)]
    assert [result.text for result in engine.batch(asked)] == theirs
    assert any(text != one.question for text, one in zip(theirs, asked, strict=True))


def test_bfloat16_is_a_copy_near_float32(base: Path) -> None:
    network = load_checkpoint(export_tiny(base, "bert", "float32")[0]).network
    batch = make_batch("bert")
    half, full = TorchBackend(network, precision="bfloat16"), TorchBackend(network)
    assert {one.dtype for one in half.network.parameters()} == {torch.bfloat16}
    assert {one.dtype for one in network.parameters()} == {torch.float32}
    assert "bfloat16" in repr(half)
    real = batch.real_BW[:, :-1]
    # What is impossible is so in both, by numbers that bfloat16 rounds.
    mine, theirs = (np.maximum(one.score(batch).edits_BWE[real], -100) for one in (half, full))
    np.testing.assert_allclose(mine, theirs, atol=0.2)
