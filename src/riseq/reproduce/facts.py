"""What is known of a model and of the machine it runs on: parameters, training hours, speed."""

import csv
import json
import math
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from riseq.controls import Controls
from riseq.model.folder import LAYOUT, read_json
from riseq.systems import System
from riseq.systems.registry import load_system
from riseq.types import Example, InputError

EDITING = "rise"
"""The system that edits in passes, up to a limit; all others write in one go."""
WARM_UP = 8
SINGLES = 100
"""How many questions are asked one at a time, spread evenly over the set."""


def describe_machine(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor with the cores this process may use, and the GPU where torch is loaded and sees one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    text = cpuinfo.read_text(encoding="utf-8", errors="replace") if cpuinfo.is_file() else ""
    found = re.search(r"^model name\s*:(.*)$", text, re.MULTILINE)
    processor = " ".join(found[1].split()) if found else platform.processor() or platform.machine()
    torch = sys.modules.get("torch")  # a description is no reason to load it
    gpu = f"{torch.cuda.get_device_name()}, " if torch is not None and torch.cuda.is_available() else ""
    return f"{gpu}{cores} {'core' if cores == 1 else 'cores'} of {processor}"


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the files of a model and of its run say; None where they say nothing."""

    parameters: int | None = None
    seed: int | None = None
    trained_on: tuple[str, ...] = ()
    hours: float | None = None
    edited: float | None = None
    """The share of words the sampled actions of the kept epoch edit."""
    steps: int | None = None
    """The steps up to the end of the kept epoch; hours are the whole run's."""


def read_facts(model: Path) -> ModelFacts:
    """Return the facts of the model in ``model``: a checkpoint's folder, a run's ``best``, or an exported model."""
    log = next((path for path in (model / "log.csv", model.parent / "log.csv") if path.is_file()), None)
    own = _read_own(model)
    hours, edited, steps = (None, None, None) if log is None else _read_log(log, own.get("epoch"))
    settings = own.get("settings", {})
    seed, sets = settings.get("seed"), settings.get("train", ())
    known = count_parameters(model), seed if isinstance(seed, int) else None, tuple(sets)
    return ModelFacts(*known, hours, edited, steps)


def read_config(model: Path) -> dict[str, Any]:
    """Return the model's ``config.json``; nothing where it has none."""
    path = model / LAYOUT.config
    config = read_json(path) if path.is_file() else {}
    return config if isinstance(config, dict) else {}


def _read_own(model: Path) -> dict[str, Any]:
    """Return what riseq itself wrote into the config: of a language model's, which is its library's, a part."""
    config = read_config(model)
    own: dict[str, Any] = config.get("riseq", config)
    return own


def count_parameters(model: Path) -> int | None:
    """Return how many numbers all weights of a model have: encoder, decoder and heads; None where it does not say.

    This is the one count of parameters that tables, cards and README have. Weights that two parts share count once.
    """
    if files := sorted(model.glob("*.safetensors")):
        return sum(map(_count_safetensors, files))
    return _read_own(model).get("parameters")  # an exported model has what its training counted


def _count_safetensors(path: Path) -> int:
    """Return the number of elements a safetensors file names in its header: its length in 8 bytes, then JSON."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return sum(math.prod(tensor["shape"]) for key, tensor in header.items() if key != "__metadata__")


def _read_log(path: Path, kept: int | None) -> tuple[float | None, float | None, int | None]:
    """Return the hours of all epochs, and of the epoch ``kept`` the mean share of words edited and its last step.

    Where it is not known which epoch was kept, it is the last.
    """
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    seconds: dict[str, float] = {}
    edited: dict[str, list[float]] = {}
    for row in rows:
        epoch = row.get("epoch") or "1"
        if row.get("elapsed"):  # counted from the start of each epoch
            seconds[epoch] = max(seconds.get(epoch, 0.0), float(row["elapsed"]))
        if row.get("edited"):
            edited.setdefault(epoch, []).append(float(row["edited"]))
    hours = sum(seconds.values()) / 3600 if seconds else None
    until = [row for row in rows if kept is None or int(row.get("epoch") or "1") <= kept]
    steps = max((int(row["step"]) for row in until if row.get("step")), default=None)
    last = str(kept) if str(kept) in edited else max(edited, key=int, default="")
    return hours, fmean(edited[last]) if last else None, steps


def open_system(system: str, model: Path | None, max_passes: int, grounded: bool = False) -> System:
    """Return a system; one that edits in passes makes at most ``max_passes``, asked the benchmark's way or grounded."""
    controls = Controls(max_passes=max_passes, grounded=grounded) if system == EDITING else None
    return load_system(system, model, controls=controls)


@dataclass(frozen=True, slots=True)
class Speed:
    """A system's speed: many questions at once, and one at a time."""

    questions_per_s: float
    median_ms: float
    p95_ms: float


def measure_speed(system: System, examples: Sequence[Example], clock: Callable[[], float] = time.perf_counter) -> Speed:
    """Return how fast ``system`` answers ``examples``, after a few that are not counted."""
    if not examples:
        raise InputError("a speed needs at least one example; got none")
    list(system.simplify(examples[:WARM_UP]))
    began = clock()
    list(system.simplify(examples))
    rate = len(examples) / max(1e-9, clock() - began)
    taken = []
    for example in examples[:: max(1, len(examples) // SINGLES)]:
        began = clock()
        list(system.simplify([example]))
        taken.append(1000 * (clock() - began))
    return Speed(rate, float(np.median(taken)), float(np.quantile(taken, 0.95)))
