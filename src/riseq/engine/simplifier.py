"""The engine that makes self-contained questions conversational."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Self, Unpack, get_args

from riseq.controls import ControlOptions, Controls
from riseq.data.dialogue import Asked, Context, read_context, read_many
from riseq.engine.backends import Backend
from riseq.engine.editor import Editor
from riseq.engine.pool import Embed, QuestionPool, Suggestion
from riseq.engine.resolver import Resolver
from riseq.engine.round_trip import FORMS, check_round_trips
from riseq.engine.turns import Task
from riseq.hub import find_default_model
from riseq.types import InputError, RoundTripMode, Simplification


class Simplifier(Editor):
    """Makes questions conversational with a trained model.

    One may be called from several threads at a time, and pickled to other processes: there an exported model is opened
    again from its folder. A higher ``strength`` never keeps more words in the first pass, where not grounded.
    """

    direction = "simplify"
    round_trip: tuple[Resolver, RoundTripMode] | None = None
    """What resolves the forms of a question again, and whether one has to come back whole; None: nobody asks."""

    @classmethod
    def find_default(cls) -> Path:
        """Return the folder of the model that ships."""
        found = find_default_model()
        if found is None:
            raise InputError("no model ships with this riseq; name the folder of one")
        return found

    def with_round_trip(self, resolver: Resolver, mode: RoundTripMode = "require") -> Self:
        """Return the same engine, guarded: of a question's forms it says the shortest that ``resolver`` makes whole.

        Whole is a form with every content word of the question after it was resolved in its dialogue. Where there is
        none, ``require`` leaves the question as it is, and ``prefer`` says what would be said without the guard. See
        docs/round-trip.md for what each wins and costs.
        """
        if mode not in get_args(RoundTripMode):
            raise InputError(f"mode is {mode!r}, expected {' or '.join(get_args(RoundTripMode))}")
        guarded = copy(self)
        guarded.round_trip = resolver, mode
        return guarded

    def ask(
        self,
        context: Context,
        pool: QuestionPool | Iterable[str],
        n: int = 3,
        *,
        embed: Embed | None = None,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> list[Suggestion]:
        """Return at most ``n`` questions of ``pool`` that may be asked next in a dialogue, in conversational form.

        They are those that fit the dialogue best, less what it asked or answered already; there may be none. A
        ``riseq.QuestionPool`` is read once for many dialogues. ``embed`` gives each text of a list a row of numbers, as
        sentence encoders do; without it words decide.
        """
        chosen, said = self._read_controls(controls, options), read_context(context)
        if not isinstance(pool, QuestionPool):
            pool = QuestionPool(pool, embed)
        elif embed is not None:
            raise InputError("embed goes with a list of questions; a QuestionPool has its own")
        picks = pool.pick(said, n)
        results = self._edit(read_many(said, [pick.question for pick in picks]), chosen)
        return [Suggestion(one, pick.score, pick.index) for one, pick in zip(results, picks, strict=True)]

    def _edit_in_turns(
        self, asked: Sequence[Asked], controls: Controls, backend: Backend
    ) -> Task[list[Simplification]]:
        if self.round_trip is None:
            return (yield from super()._edit_in_turns(asked, controls, backend))
        several = replace(controls, n_best=max(FORMS, controls.n_best))
        results = yield from super()._edit_in_turns(asked, several, backend)
        return check_round_trips(results, asked, *self.round_trip, controls)
