"""What simplifies, behind one protocol, and the systems that need nothing but riseq itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from riseq.controls import Controls
from riseq.types import Device, Direction, Example, InputError, RoundTripMode, Simplification


class System(Protocol):
    """Something that turns self-contained questions into conversational ones."""

    @property
    def name(self) -> str:
        """The name it is called by on the command line and in tables."""

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield one result an example, in order, holding no more than a batch in memory."""


@dataclass(frozen=True, slots=True)
class RoundTripCheck:
    """The model that resolves every form of a question again, and whether one has to come back whole."""

    resolver: Path
    mode: RoundTripMode = "require"


class Origin:
    """The paper's first baseline: its output is its input."""

    name = "origin"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question unchanged."""
        for example in examples:
            yield Simplification(question=example.question, text=example.question)


class Gold:
    """What a person asked: its output is the target."""

    name = "gold"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield the target of each example, which has to have one."""
        for example in examples:
            if example.target is None:
                raise InputError(f"the example {example.id!r} has no target; the system 'gold' says nothing else")
            yield Simplification(question=example.question, text=example.target)


class Rise:
    """RISE: the trained model's edits, up to three passes; a question without context stays as it is."""

    name = "rise"
    direction: ClassVar[Direction] = "simplify"

    def __init__(
        self,
        model: Path | None = None,
        *,
        controls: Controls,
        threads: int | None = None,
        device: Device | None = None,
        round_trip: RoundTripCheck | None = None,
    ) -> None:
        """Load the model called ``model``, or the one that ships; the rest is as ``Simplifier`` takes it.

        ``round_trip`` checks the forms that could be said; see ``Simplifier.with_round_trip``.
        """
        from riseq.engine.directions import ENGINES
        from riseq.engine.resolver import Resolver
        from riseq.engine.simplifier import Simplifier

        controls.check(self.direction)
        self._controls, self._engine = controls, ENGINES[self.direction].load(model, threads=threads, device=device)
        if round_trip is not None and isinstance(self._engine, Simplifier):
            resolver = Resolver.load(round_trip.resolver, threads=threads)
            self._engine = self._engine.with_round_trip(resolver, round_trip.mode)

    def ask_first_turns(self) -> None:
        """From now on let the network edit questions without context too, as evaluations without that rule want it."""
        self._engine.asks_first_turns = True

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield what the model's edits make of each question."""
        return self._engine.batch(examples, controls=self._controls)


class Resolve(Rise):
    """The way back: a model that makes conversational questions self-contained; its controls are ``Resolver``'s."""

    name = "resolve"
    direction = "resolve"
