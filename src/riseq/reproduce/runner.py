"""A system run over a set, and the scores it gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from riseq.metrics.scores import Scores, score
from riseq.systems.protocol import System
from riseq.terminal.progress import track
from riseq.types import Example, InputError, Simplification


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a system made of each example of a set, in order, and the scores of the whole."""

    predictions: tuple[Simplification, ...]
    scores: Scores


def run(system: System, examples: Sequence[Example], console: Console | None = None) -> Evaluation:
    """Return the predictions of ``system`` for ``examples`` and their scores, with a bar on ``console``."""
    if not examples:
        raise InputError("a score needs at least one example; got none")
    targets = [_target(example) for example in examples]
    predictions = tuple(track(system.simplify(examples), len(examples), system.name, console))
    if len(predictions) != len(examples):
        raise ValueError(f"the system {system.name!r} gave {len(predictions)} results for {len(examples)} examples")
    return Evaluation(predictions, score([prediction.text for prediction in predictions], targets))


def _target(example: Example) -> str:
    if example.target is None:
        raise InputError(f"the example {example.id!r} has no target; a score needs one for each")
    return example.target
