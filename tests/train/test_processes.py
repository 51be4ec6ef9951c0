"""Several processes: the same training as one."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file

from riseq.train.loop import train
from riseq.train.processes import Processes
from riseq.train.settings import RiseSettings
from riseq.train.task import Stream, derive_seed, make_rng

TOLERANCE = 1e-4
"""Gradients are added in another order, which float32 and Adam carry from step to step."""


@pytest.mark.parametrize("rows", [0, 1, 2, 7, 16])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_shares_are_the_whole_and_no_row_twice(rows: int, count: int) -> None:
    parts = [list(range(rows))[Processes(index, count).share(rows)] for index in range(count)]
    assert [row for part in parts for row in part] == list(range(rows))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_one_process_sums_and_gathers_itself() -> None:
    alone = Processes()
    alone.wait()
    assert alone.is_main
    assert alone.gather("x") == ["x"]
    assert alone.sum(torch.tensor([2.0])).tolist() == [2.0]


def test_streams_positions_and_seeds_part_every_generator() -> None:
    seen = {derive_seed(seed, stream, *at) for seed in (1, 2) for stream in Stream for at in ((), (0,), (1,), (0, 1))}
    # A seed sequence ignores zeros at its end: no position and position 0 are one; no stream uses both.
    assert len(seen) == 2 * len(Stream) * 3
    assert derive_seed(1, Stream.NETWORK, 0, 0) == derive_seed(1, Stream.NETWORK, 0, 0)
    assert make_rng(1, Stream.EPOCH, 3).random() == make_rng(1, Stream.EPOCH, 3).random()


def launch(recipe: Path, out: Path) -> dict[str, Any]:
    """Train as a user does, on two CPU processes that talk over gloo, and return what is printed."""
    command = [
        sys.executable,
        "-m",
        "accelerate.commands.launch",
        "--cpu",
        "--num_processes",
        "2",
        "--num_machines",
        "1",
    ]
    command += ["--main_process_port", "0", "--mixed_precision", "no", "--dynamo_backend", "no"]
    command += ["-m", "riseq", "train", str(recipe), "--out", str(out)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == 1, "one of the processes tells how it went"
    found: dict[str, Any] = json.loads(lines[0])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("family", ["mpnet"])  # it has a parameter that never gets a gradient
def test_two_processes_train_as_one_does(
    make_settings: Callable[..., RiseSettings], world: Path, tmp_path: Path, family: str
) -> None:
    # Every process draws dropout masks of its own; without them nothing depends on who computes what.
    settings = make_settings(
        backbone=str(world / family), dropout=0.0, own_share=0.5, lr=1e-3, head_lr=2e-3, weight_decay=0.1
    )
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(settings).items()}
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(plain), encoding="utf-8")
    shown = launch(tmp_path / "tiny.yaml", tmp_path / "two")
    alone = train(settings, tmp_path / "one")
    losses, weights = [], []
    for name in ("one", "two"):
        with (tmp_path / name / "log.csv").open(encoding="utf-8") as f:
            losses.append([(int(row["step"]), float(row["loss"]), float(row["reward"])) for row in csv.DictReader(f)])
        weights.append(load_file(tmp_path / name / "last" / "state.safetensors"))
    assert len(losses[0]) == len(losses[1]) == settings.epochs
    for one, two in zip(*losses, strict=True):
        assert one == pytest.approx(two, abs=TOLERANCE)
    assert weights[0].keys() == weights[1].keys()
    for name, tensor in weights[0].items():
        torch.testing.assert_close(weights[1][name], tensor, atol=TOLERANCE, rtol=0, msg=name)
    assert (shown["best_epoch"], shown["scores"]) == (alone.best_epoch, alone.scores)
