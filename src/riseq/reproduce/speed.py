"""How fast systems are: all that can run here, one after the other on the same questions and machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from riseq.reproduce.facts import describe_machine
from riseq.reproduce.plan import COUNTED_PASSES, RUNS, UNSEEN, Planned
from riseq.systems.protocol import System
from riseq.systems.registry import SYSTEMS, load_system
from riseq.terminal.progress import track
from riseq.types import Example, InputError

SPEED_FILE = "speed.json"
SPEED_COMMAND = "riseq reproduce --speed"
WARM_UP = 8
SINGLES = 100
"""How many questions are asked one at a time, spread evenly over the set."""


@dataclass(frozen=True, slots=True)
class Speed:
    """A system's speed: many questions at once, and one at a time."""

    questions_per_s: float
    median_ms: float
    p95_ms: float


def find_runnable(systems: Iterable[Planned], runs: Path = Path(RUNS)) -> dict[str, tuple[str, Path | None]]:
    """Return the systems that can run here, by name, with their model's folder (None is the one that ships)."""
    found: dict[str, tuple[str, Path | None]] = {}
    for planned in systems:
        model = runs / planned.name / "best"
        if planned.recipe is None:
            found[planned.name] = planned.system, None
        elif model.is_dir() and planned.system in SYSTEMS:
            found[planned.name] = planned.system, model
        elif planned.ships:
            found[planned.name] = planned.system, None
    return found


def open_counted(system: str, model: Path | None) -> System:
    """Return a system as the tables run it: an editing one makes the passes that count."""
    if system != "rise":
        return load_system(system, model)
    from riseq.systems.protocol import Rise

    return Rise(model, max_passes=COUNTED_PASSES)


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


def measure_all(
    runnable: dict[str, tuple[str, Path | None]], examples: Sequence[Example], console: Console | None = None
) -> dict[str, Any]:
    """Return the speeds of all ``runnable`` systems with the machine they were measured on."""
    speeds = {}
    for name in track(list(runnable), len(runnable), "speed", console):
        speeds[name] = asdict(measure_speed(open_counted(*runnable[name]), examples))
    return {"machine": describe_machine(), "data": UNSEEN, "rows": len(examples), "systems": speeds}
