"""Which systems there are; a new one is one file and one entry here, or a custom system: a class named where it is."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Unpack

from riseq import __version__
from riseq.controls import ControlOptions, Controls
from riseq.extras import needs_extra
from riseq.hub import find_default_model, find_model
from riseq.jobs import digest
from riseq.systems import RoundTripCheck, System
from riseq.systems.workers import Workers
from riseq.types import Device, InputError, suggest


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a system's class is, and whether it is made from a model's folder."""

    module: str
    factory: str
    about: str
    takes_model: bool = False
    own_model: str | None = None
    """The model that it takes where none is named; such a system takes controls and threads too."""


_BASELINES = "riseq.baselines.systems"
SYSTEMS = {
    "origin": Entry("riseq.systems", "Origin", "the question as it is"),
    "gold": Entry("riseq.systems", "Gold", "the target: what a person asked"),
    "rule": Entry("riseq.systems.rule", "Rule", "repeated noun chunks become pronouns or are dropped"),
    "rise": Entry("riseq.systems", "Rise", "a trained model edits the question in passes", True, "default"),
    "resolve": Entry("riseq.systems", "Resolve", "the way back: a question made self-contained", True, "resolve"),
    "saved": Entry("riseq.systems.saved", "Saved", "outputs that were written down earlier", takes_model=True),
    "trans++": Entry(_BASELINES, "TransPlusPlus", "an encoder-decoder generates and copies", takes_model=True),
    "qgdiv": Entry(_BASELINES, "QgDiv", "an encoder-decoder with beam search", takes_model=True),
    "querysim": Entry(_BASELINES, "QuerySim", "a language model goes on after the question", takes_model=True),
}
GUARDED = "rise"
"""The system that can check its outputs by their round trip."""


def default_system_name() -> str:
    """Return the system that is used where none is named: the best one that needs no download."""
    return "rule" if find_default_model() is None else "rise"


@dataclass(frozen=True, slots=True)
class SystemChoice:
    """Which system simplifies, from which model, how it edits and on how many cores."""

    system: str
    model: Path | None = None
    controls: Controls = field(default_factory=Controls)
    threads: int | None = None
    device: Device | None = None
    """Where its network runs; None: on a GPU where there is one that it can use."""
    round_trip: RoundTripCheck | None = None
    """What checks the forms that could be said, where that is asked for."""
    workers: int = 1
    """How many processes have an engine each; with one it is this process."""

    @property
    def edits(self) -> bool:
        """Whether the system is riseq's own engine, with a model that edits."""
        return self.system in SYSTEMS and SYSTEMS[self.system].own_model is not None

    def settings(self) -> dict[str, object]:
        """Return everything that decides what becomes of a question, as JSON has it."""
        file, colon, _ = self.system.rpartition(":")
        return {
            "riseq version": __version__,
            "system": self.system,
            # A custom system may change under its name, and so may a model.
            "system's file": digest(Path(file)) if colon else None,
            "model": None if self.model is None else digest(self.model) or str(self.model),
            **({} if (check := self.round_trip) is None else {"round trip": f"{check.mode} {digest(check.resolver)}"}),
            **self.controls.to_dict(),
        }

    def resolve(self) -> SystemChoice:
        """Return the same choice with the folder of the model, where that goes by another name or by none."""
        if not self.edits:
            return self
        check = self.round_trip and replace(self.round_trip, resolver=find_model(self.round_trip.resolver))
        return replace(self, model=find_model(self.model or SYSTEMS[self.system].own_model or ""), round_trip=check)

    def load(self) -> System:
        """Return the system, ready to simplify."""
        if self.workers > 1:
            alone = replace(self, workers=1, threads=self.threads or (1 if self.edits else None))
            return Workers(self.system, alone.load, self.workers)
        controls, threads, device = self.controls, self.threads, self.device
        return load_system(
            self.system, self.model, controls=controls, threads=threads, device=device, round_trip=self.round_trip
        )


def load_system(
    name: str | None = None,
    model: str | Path | None = None,
    *,
    controls: Controls | None = None,
    threads: int | None = None,
    device: Device | None = None,
    round_trip: RoundTripCheck | None = None,
    **options: Unpack[ControlOptions],
) -> System:
    """Return the system called ``name`` (else the default), made from the folder ``model`` if it takes one.

    A name with a colon is a custom system: ``FILE.py:Class``, or ``package.module:Class`` where it is installed. It is
    made with ``controls``, ``threads`` and ``device`` if its class has parameters of these names; a system that has not
    refuses others than the defaults. ``round_trip`` checks what it says; see ``Simplifier.with_round_trip``.
    """
    controls = Controls.of(controls, **options)
    name = default_system_name() if name is None else name
    if round_trip is not None and name != GUARDED:
        raise InputError(f"--round-trip goes with the system {GUARDED!r}, not with {name!r}")
    if ":" in name:
        return _load_custom(name, model, controls, threads, device)
    entry = SYSTEMS.get(name)
    if entry is None:
        raise InputError(f"no system is called {name!r}; {suggest(name, sorted(SYSTEMS))}")
    if model is not None and not entry.takes_model:
        raise InputError(f"the system {name!r} takes no model; got the folder {str(model)!r}")
    takes = ("controls", "threads", "device") if entry.own_model else ()
    refusal = f"goes with the system 'rise', not with {name!r}"
    settings = _choose_settings(takes, controls, threads, device, refusal)
    with needs_extra("train", f"the system {name!r}"):
        factory = getattr(import_module(entry.module), entry.factory)
    controls.check(getattr(factory, "direction", "simplify"), options)
    if round_trip is not None:
        settings["round_trip"] = round_trip
    made: System = factory(*([] if model is None else [Path(model)]), **settings)
    return made


def _choose_settings(
    takes: Collection[str], controls: Controls, threads: int | None, device: Device | None, refusal: str
) -> dict[str, Any]:
    """Return the keyword arguments for a class that ``takes`` some; raise ``refusal`` where others are asked for."""
    given = {
        "controls": [*controls.to_dict()],
        "threads": [] if threads is None else ["threads"],
        "device": [] if device is None else ["device"],
    }
    for parameter, options in given.items():
        if options and parameter not in takes:
            raise InputError(f"--{options[0].replace('_', '-')} {refusal}")
    settings = {"controls": controls, "threads": threads, "device": device}
    return {name: value for name, value in settings.items() if name in takes}


def _load_custom(
    name: str, model: str | Path | None, controls: Controls, threads: int | None, device: Device | None
) -> System:
    path, _, factory_name = name.rpartition(":")
    if not path or not factory_name.isidentifier():
        raise InputError(f"the system {name!r} is named like no class; expected FILE.py:CLASS or package.module:CLASS")
    module = _read_file(Path(path)) if path.endswith(".py") else _import(path)
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise InputError(f"{path}: has no class {factory_name!r}, expected the one that --system names")
    refusal = f"goes with a class that takes 'controls' and 'threads', which {name} does not"
    settings = _choose_settings(inspect.signature(factory).parameters, controls, threads, device, refusal)
    system: System = factory(*([] if model is None else [Path(model)]), **settings)
    for attribute in ("name", "simplify"):
        if not hasattr(system, attribute):
            expected = "what riseq.System has: a name and simplify(examples)"
            raise InputError(f"{name}: has no {attribute!r}, expected {expected}")
    return system


def _read_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError(f"{path}: no such file, expected the file of a system")
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: cannot be read as Python")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _import(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not name.startswith(error.name):
            raise
        raise InputError(f"no module is called {name!r}; a file is named as FILE.py:CLASS") from None
