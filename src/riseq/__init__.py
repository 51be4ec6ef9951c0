"""riseq makes self-contained questions conversational, and conversational ones self-contained again.

The names below load when they are first used, so that ``import riseq`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("Example", "Simplification", "Step", "TextEdit", "InputError"), "riseq.types"),
    "Controls": "riseq.controls",
    "Simplifier": "riseq.engine.simplifier",
    "Resolver": "riseq.engine.resolver",
    **dict.fromkeys(("QuestionPool", "Suggestion"), "riseq.engine.pool"),
    "System": "riseq.systems",
    "load_dataset": "riseq.data.dataset",
    "load_system": "riseq.systems.registry",
    "score": "riseq.metrics.scores",
}

# In the order a reader meets them.
__all__ = ["Simplifier", "Resolver", "Controls", "Example", "Simplification", "Step", "TextEdit", "InputError"]  # noqa: RUF022
__all__ += ["QuestionPool", "Suggestion", "System", "__version__", "load_dataset", "load_system", "score"]

if TYPE_CHECKING:
    from riseq.controls import Controls
    from riseq.data.dataset import load_dataset
    from riseq.engine.pool import QuestionPool, Suggestion
    from riseq.engine.resolver import Resolver
    from riseq.engine.simplifier import Simplifier
    from riseq.metrics.scores import score
    from riseq.systems import System
    from riseq.systems.registry import load_system
    from riseq.types import Example, InputError, Simplification, Step, TextEdit


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'riseq' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
