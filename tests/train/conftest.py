"""A tiny backbone and a made-up data set, so that training is tested in seconds without weights or network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import pytest
import torch

from riseq.train.settings import RiseSettings
from tiny_world import write_world


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks this small only wait for their threads, the more the busier the machine."""
    numba.get_num_threads()  # starts numba's threads, which sets torch's number too: better before than after
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with backbones bert/ and mpnet/ and the data set pairs.qa.jsonl."""
    return write_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def make_settings(world: Path) -> Callable[..., RiseSettings]:
    """Settings for a run of a few seconds, with changes."""

    def make(**changes: object) -> RiseSettings:
        data = (str(world / "pairs.qa.jsonl"),)
        base: dict[str, object] = {
            "backbone": str(world / "bert"),
            "train": data,
            "dev": data,
            "min_count": 1,
            "decoder_layers": 1,
            "epochs": 2,
            "batch": 16,
            "lr": 3e-3,
            "head_lr": 1e-2,
            "warmup_steps": 2,
            "device": "cpu",
            "workers": 1,
        }
        return RiseSettings(**{**base, **changes})  # type: ignore[arg-type]

    return make
