"""Which systems there are; a new one is one file and one entry here, or a file of the user's own that is named."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from riseq.hub import find_default_model
from riseq.systems.protocol import System
from riseq.types import InputError


def load_own(name: str, model: str | Path | None = None) -> System:
    """Return the system that ``name`` (``FILE.py:Class`` or ``package.module:Class``) makes, from a ``model``."""
    place, _, factory_name = name.rpartition(":")
    if not place or not factory_name.isidentifier():
        raise InputError(f"the system {name!r} is named like no class; expected FILE.py:CLASS or package.module:CLASS")
    module = _read_file(Path(place)) if place.endswith(".py") else _import(place)
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise InputError(f"{place}: has no class {factory_name!r}, expected the one that --system names")
    system: System = factory() if model is None else factory(Path(model))
    for attribute in ("name", "simplify"):
        if not hasattr(system, attribute):
            raise InputError(
                f"{name}: has no {attribute!r}, expected what riseq.System has: a name and simplify(examples)"
            )
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


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a system lives, and whether it can be made from a model's folder."""

    module: str
    factory: str
    about: str
    takes_model: bool = False


SYSTEMS = {
    "origin": Entry("riseq.systems.protocol", "Origin", "the question as it is"),
    "rule": Entry("riseq.systems.rule", "Rule", "repeated noun chunks become pronouns or are dropped"),
    "rise": Entry("riseq.systems.rise", "Rise", "a trained model edits the question in passes", takes_model=True),
    "saved": Entry("riseq.systems.saved", "Saved", "outputs that were written down earlier", takes_model=True),
    "trans++": Entry(
        "riseq.baselines.systems", "TransPlusPlus", "an encoder-decoder generates and copies", takes_model=True
    ),
    "qgdiv": Entry("riseq.baselines.systems", "QgDiv", "an encoder-decoder with beam search", takes_model=True),
    "querysim": Entry(
        "riseq.baselines.systems", "QuerySim", "a language model goes on after the question", takes_model=True
    ),
}


def default_system_name() -> str:
    """Return the system that is used where none is named: the best one that needs no download."""
    return "rule" if find_default_model() is None else "rise"


def load_system(name: str | None = None, model: str | Path | None = None) -> System:
    """Return the system called ``name`` (else the default), made from the folder ``model`` if it takes one.

    A name with a colon is a user's own: ``FILE.py:Class``, or ``package.module:Class`` where it is installed.
    """
    name = default_system_name() if name is None else name
    if ":" in name:
        return load_own(name, model)
    entry = SYSTEMS.get(name)
    if entry is None:
        raise InputError(f"no system is called {name!r}; there are {', '.join(sorted(SYSTEMS))}")
    if model is not None and not entry.takes_model:
        raise InputError(f"the system {name!r} takes no model; got the folder {str(model)!r}")
    try:
        factory = getattr(import_module(entry.module), entry.factory)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("riseq"):
            raise
        raise InputError(
            f"the system {name!r} needs the package {error.name!r}; install it with: pip install 'riseq[train]'"
        ) from error
    system: System = factory() if model is None else factory(Path(model))
    return system
