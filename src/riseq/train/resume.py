"""A run's last finished epoch on disk, so that a killed run goes on to the same result."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from riseq.files import make_folder, recover_folder
from riseq.train.optimiser import Average, load_optimiser, optimiser_tensors
from riseq.types import InputError

LAST = "last"
BEST = "best"
LOGS = ("log.csv", "scores.csv")


def open_run(out: Path, resume: bool) -> None:
    """Make sure that a run may write to ``out``: it is new, or ``resume`` goes on there; clear what a kill left."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file, expected the run's folder")
    found = [name for name in (LAST, BEST, *LOGS) if (out / name).exists()]
    if found and not resume:
        raise InputError(f"{out}: holds a run already ({', '.join(found)}); resume it, or train into another folder")
    for name in (LAST, BEST):
        if resume:
            recover_folder(out / name)
        for half in out.glob(f".{name}.*"):
            shutil.rmtree(half, ignore_errors=True)


def save_progress(
    out: Path,
    fingerprint: str,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    average: Average | None,
    state: dict[str, Any],
) -> None:
    """Write ``out/last`` whole: weights, optimiser, averaged weights, and where the run stands."""
    tensors = {f"network.{k}": v.detach().cpu().clone() for k, v in network.state_dict().items()}
    tensors |= {f"optimiser.{k}": v for k, v in optimiser_tensors(optimiser).items()}
    if average is not None:
        tensors |= {f"average.{k}": v.cpu() for k, v in enumerate(average.kept)}
        state = {**state, "average_steps": average.steps}
    with make_folder(out / LAST) as work:
        save_file(tensors, work / "state.safetensors")
        progress = json.dumps({"fingerprint": fingerprint, **state}, indent=2)
        (work / "progress.json").write_text(progress, encoding="utf-8")


def load_progress(
    out: Path,
    fingerprint: str,
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    average: Average | None,
) -> dict[str, Any] | None:
    """Put back what ``out/last`` holds and return where the run stands, or None where there is nothing yet."""
    folder = out / LAST
    if not (folder / "progress.json").is_file():
        return None
    state: dict[str, Any] = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
    if state["fingerprint"] != fingerprint:
        raise InputError(
            f"{folder}: made with other data, phrases or settings (fingerprint {state['fingerprint']}, "
            f"now {fingerprint}); resume with the same ones or train into another folder"
        )
    try:
        tensors = load_file(folder / "state.safetensors")
    except (OSError, SafetensorError) as error:
        raise InputError(f"{folder}: state.safetensors cannot be read ({error}); train into another folder") from error
    network.load_state_dict({k.removeprefix("network."): v for k, v in tensors.items() if k.startswith("network.")})
    load_optimiser(
        optimiser, {k.removeprefix("optimiser."): v for k, v in tensors.items() if k.startswith("optimiser.")}
    )
    if average is not None:
        average.steps = state["average_steps"]
        for number, kept in enumerate(average.kept):
            kept.copy_(tensors[f"average.{number}"])
    return state
