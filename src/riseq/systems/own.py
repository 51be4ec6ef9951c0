"""A system of the user's own, named where it lives, with no entry anywhere."""

from __future__ import annotations

from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

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
