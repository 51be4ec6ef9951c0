"""The GPU benchmark, here on the CPU and on few rows."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch

from riseq.data.tables import write_rows
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
    asked = script["pick_questions"](make_examples(6), 10)
    wanted = Namespace(checkpoint=folder, repeats=2, engines=[], compare=4, compile=False, profile=2, workers=[])
    found = dict(script["bench"](wanted, asked, torch.device("cpu")))
    assert found["questions"] == 10
    assert found["one encoder pass, questions a second"] > found["1 engine, questions a second"] > 0
    assert found["texts of 4 that differ from the CPU's, float32"] == 0
    assert found["texts of 4 that differ from the CPU's, bfloat16"] >= 0
    assert 5 < found["pieces a question"] < 200


@pytest.mark.skipif("RISEQ_SLOW" not in os.environ, reason="half a minute of starting processes; RISEQ_SLOW=1 runs it")
def test_engines_share_a_device(root: Path, tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "checkpoint", make_checkpoint())
    rows = [{"id": one.id, "context": list(one.context), "question": one.question} for one in make_examples(6)]
    write_rows(tmp_path / "asked.jsonl", rows)
    command = [sys.executable, str(root / "benchmarks" / "bench_gpu.py"), str(folder), "--device", "cpu"]
    command += [
        "--data",
        str(tmp_path / "asked.jsonl"),
        "--batch",
        "10",
        "--repeats",
        "1",
        "--engines",
        "2",
        "--workers",
        "2",
    ]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    for name in ("2 engines, questions a second", "a file by 2 workers, rows a second"):
        (rate,) = [line for line in told.splitlines() if line.startswith(name)]
        assert float(rate.split()[-1].replace(",", "")) > 0
