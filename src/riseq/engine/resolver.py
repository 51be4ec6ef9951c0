"""The engine that makes conversational questions self-contained: the way back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from riseq.controls import ControlOptions, Controls
from riseq.data.dialogue import Context, Item
from riseq.engine.editor import Editor
from riseq.hub import find_resolve_model
from riseq.model.folder import read_training_window
from riseq.model.inputs import ContextWindow
from riseq.types import Simplification


class Resolver(Editor):
    """Makes questions self-contained with a trained model: "When was it released?" asks again when Alien was.

    Words that come in are said by the model or copied from the dialogue, as they are written there; an edit's
    ``refers_to`` is the mention. What says everything already, and what is no question, stays as it is. The rules that
    mend simplified questions, the guard and the grounded condition have no part in it.
    """

    direction = "resolve"

    @classmethod
    def find_default(cls) -> Path:
        """Return the folder of the model called resolve."""
        return find_resolve_model()

    @classmethod
    def read_window(cls, facts: Mapping[str, Any]) -> ContextWindow:
        """Return the window that a model was trained with: what is meant was said lately."""
        return read_training_window(facts)

    def resolve(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return the self-contained form of ``question`` after the dialogue in ``context``, as a call does."""
        return self(question, context, controls=controls, **options)

    def resolve_many(
        self, items: Iterable[Item], *, controls: Controls | None = None, **options: Unpack[ControlOptions]
    ) -> list[Simplification]:
        """Return one result an item, in order; an item is what ``batch`` takes, such as a (question, context) pair."""
        return list(self.batch(items, controls=controls, **options))

    def _read_controls(self, controls: Controls | None, options: ControlOptions) -> Controls:
        return replace(super()._read_controls(controls, options), grounded=False, guard=False)
