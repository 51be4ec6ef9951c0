"""The benchmark of training runs, tells a rate, and what the time goes into."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import bench_training
from tiny_world import write_world


def test_it_tells_the_rate_of_each_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], root: Path
) -> None:
    world = write_world(tmp_path)
    data = f"[{world / 'pairs.qa.jsonl'}]"
    changes = {
        "backbone": world / "bert",
        "train": data,
        "dev": data,
        "decoder_layers": 1,
        "min_count": 1,
        "batch": 8,
        "risk_samples": 3,
    }
    changes |= {"device": "cpu", "workers": 1}
    settings = [part for name, value in changes.items() for part in ("--set", f"{name}={value}")]
    recipe = str(root / "recipes" / "ablation-rise.yaml")
    flags = ["--steps", "2", "--warm", "1", "--profile", "1", "--ways", "eager", "whole"]
    monkeypatch.setattr(sys, "argv", ["bench", recipe, *settings, *flags])
    bench_training.main()
    printed = capsys.readouterr().out
    told = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    phases = [(one["way"], one["phase"]) for one in told]
    assert phases == [(way, phase) for way in ("eager", "whole") for phase in ("likelihood", "draws")]
    assert all(one["states_per_s"] > 0 for one in told)
    assert "aten::linear" in printed
