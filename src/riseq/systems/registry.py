"""Which systems there are; a new one is one file and one entry here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from riseq.infer.default_model import find_default_model
from riseq.systems.protocol import System
from riseq.types import InputError


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a system lives, and whether it can be made from a model's folder."""

    module: str
    factory: str
    about: str
    takes_model: bool = False


SYSTEMS = {
    "origin": Entry("riseq.systems.origin", "Origin", "the question as it is"),
    "rule": Entry("riseq.systems.rule", "Rule", "repeated noun chunks become pronouns or are dropped"),
    "rise": Entry("riseq.systems.rise", "Rise", "a trained model edits the question in passes", takes_model=True),
}


def default_system_name() -> str:
    """Return the system that is used where none is named: the best one that needs no download."""
    return "rule" if find_default_model() is None else "rise"


def load_system(name: str | None = None, model: str | Path | None = None) -> System:
    """Return the system called ``name`` (else the default), made from the folder ``model`` if it takes one."""
    name = default_system_name() if name is None else name
    entry = SYSTEMS.get(name)
    if entry is None:
        raise InputError(f"no system is called {name!r}; there are {', '.join(sorted(SYSTEMS))}")
    if model is not None and not entry.takes_model:
        raise InputError(f"the system {name!r} takes no model; got the folder {str(model)!r}")
    factory = getattr(import_module(entry.module), entry.factory)
    system: System = factory() if model is None else factory(Path(model))
    return system
