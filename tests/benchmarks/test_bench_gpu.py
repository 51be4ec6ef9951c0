"""The GPU benchmark, here on the CPU and on few rows."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

from riseq.model.transformer import BackboneConfig
from tiny_model import make_checkpoint, make_examples, save_tiny


@pytest.fixture(scope="module")
def script(root: Path) -> dict[str, Any]:
    return runpy.run_path(str(root / "benchmarks" / "bench_gpu.py"))


def test_operations_are_those_that_torch_counts(script: dict[str, Any]) -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    network = make_checkpoint().network
    shape: BackboneConfig = network.config.backbone
    ids = torch.ones(3, 11, dtype=torch.int64)
    # Torch counts attention that is written out, but not the CPU's fused kernel.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter, torch.no_grad():
        network.encoder(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool))
    assert script["count_operations"](shape, [11, 11, 11]) == counter.get_total_flops()


def test_few_rows_on_the_cpu(script: dict[str, Any], tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "checkpoint", make_checkpoint())
    found = script["bench"](folder, make_examples(6), 10, torch.device("cpu"), 2)
    assert found["questions"] == 10
    assert found["one encoder pass, questions a second"] > found["engine, questions a second"] > 0
    assert 5 < found["pieces a question"] < 200
