"""What the server asks of whatever simplifies, and the trained model behind it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from riseq.controls import NEUTRAL
from riseq.engine.simplifier import Simplifier
from riseq.hub import find_default_model
from riseq.model.folder import LAYOUT
from riseq.types import Simplification


@dataclass(frozen=True, slots=True)
class Wishes:
    """How a question is to be edited, in the words of ``Simplifier.batch``."""

    strength: float = NEUTRAL
    protect: tuple[str, ...] = ()
    n_best: int = 1
    max_passes: int | None = None
    """The engine's own where it is None."""
    guard: bool = True


@dataclass(frozen=True, slots=True)
class Ask:
    """One question in its dialogue, checked, and how it is to be edited."""

    question: str
    context: tuple[str, ...] = ()
    wishes: Wishes = Wishes()

    @property
    def length(self) -> int:
        """About how much there is to read, in characters."""
        return len(self.question) + sum(map(len, self.context))


@dataclass(frozen=True, slots=True)
class About:
    """What people may want to know of an engine."""

    name: str
    engine: str
    precision: str | None = None
    phrases: int | None = None
    max_pieces: int | None = None


class Engine(Protocol):
    """Simplifies batches, from several threads at a time."""

    @property
    def about(self) -> About:
        """What it is."""
        ...

    def simplify(self, asks: Sequence[Ask]) -> list[Simplification]:
        """Return one result an ask, in order."""
        ...


class SimplifierEngine:
    """A trained model."""

    def __init__(self, simplifier: Simplifier, name: str, precision: str | None = None) -> None:
        """Take the model, and what to call it."""
        self.simplifier = simplifier
        kind = type(simplifier.backend).__name__.removesuffix("Backend").lower()
        self.about = About(name, kind, precision, len(simplifier.phrases), simplifier.backend.max_pieces)

    @classmethod
    def load(cls, folder: Path | None, threads: int | None) -> SimplifierEngine:
        """Return the engine for the model in ``folder``, else for the one that ships."""
        simplifier = Simplifier.load(folder, threads=threads)
        place = folder or find_default_model() or Path()
        return cls(simplifier, place.resolve().name, _read_precision(place / LAYOUT.config))

    def simplify(self, asks: Sequence[Ask]) -> list[Simplification]:
        """Return one result an ask, in order; those with the same wishes are read together."""
        places: dict[Wishes, list[int]] = {}
        for place, ask in enumerate(asks):
            places.setdefault(ask.wishes, []).append(place)
        results: dict[int, Simplification] = {}
        for wishes, group in places.items():
            items = [(asks[place].question, asks[place].context) for place in group]
            done = self.simplifier.batch(
                items,
                strength=wishes.strength,
                protect=wishes.protect,
                n_best=wishes.n_best,
                max_passes=wishes.max_passes,
                guard=wishes.guard,
            )
            results.update(zip(group, done, strict=True))
        return [results[place] for place in range(len(asks))]


def _read_precision(config: Path) -> str | None:
    """Return an exported model's kind of numbers, None where the model is of another kind."""
    if not config.is_file():
        return None
    said = json.loads(config.read_text(encoding="utf-8")).get("precision")
    return said if isinstance(said, str) else None
