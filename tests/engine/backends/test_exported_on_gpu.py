"""An exported model on a GPU, which onnxruntime cannot run there: torch reads it. Here the GPU is a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from riseq import Simplifier
from riseq.engine.backends.onnx_runtime import OnnxBackend
from riseq.engine.backends.pytorch import TorchBackend
from riseq.types import InputError
from tiny_model import export_tiny, make_examples


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_torch_reads_what_was_exported(
    precision: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder: Path = export_tiny(tmp_path_factory.getbasetemp(), "bert", precision)[1]
    monkeypatch.setattr("riseq.model.network.pick_device", lambda name, bfloat16=False: torch.device("cpu"))
    engine = Simplifier.load(folder, device="cuda")
    assert isinstance(engine.backend, TorchBackend)
    other = Simplifier.load(folder)
    assert isinstance(other.backend, OnnxBackend)
    assert engine.window == other.window
    assert engine.calibration == other.calibration
    examples = make_examples(20)
    texts = [[one.text for one in made.batch(examples)] for made in (engine, other)]
    if precision == "float32":  # activations of eight bits are onnxruntime's alone
        assert texts[0] == texts[1]


def test_without_a_gpu_cuda_is_an_error(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="torch sees no GPU here"):
            Simplifier.load(folder, device="cuda")
