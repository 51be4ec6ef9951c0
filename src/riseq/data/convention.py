"""How a dialogue becomes the context of a question: the paper's convention, and what may differ from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PAPER_TURNS = 3
"""How many of the last turns the paper's models read."""


@dataclass(frozen=True, slots=True)
class Convention:
    """Which parts of a dialogue an example shows; as it stands, the paper's convention without answers.

    Page and section titles are never shown. The paper's limits of 3 turns and of 30 word pieces an utterance belong
    to a model's input: examples hold the whole dialogue unless ``turns`` says otherwise.
    """

    answers: bool = False
    """Whether each earlier question is followed by its answer."""

    turns: int | None = None
    """How many of the last turns are shown (the paper's models read PAPER_TURNS); None shows all."""

    first_resolved: bool = True
    """Whether the dialogue's first question is shown in its self-contained form, not raw. It has no context that
    could explain it. The first of a window that starts later is raw like the rest."""

    keep_first_turns: bool | None = None
    """Whether questions without context are examples; None does as the paper does with the corpus."""

    def __post_init__(self) -> None:
        if self.turns is not None and self.turns < 0:
            raise ValueError(f"turns is {self.turns}, expected 0 or more, or None for all")

    def show(self, questions: Sequence[str], answers: Sequence[str], first: str | None) -> tuple[str, ...]:
        """Return the context after the raw ``questions`` and their ``answers``; ``first`` is the first, resolved."""
        shown = list(questions)
        if shown and self.first_resolved and first is not None:
            shown[0] = first
        start = 0 if self.turns is None else max(0, len(shown) - self.turns)
        if not self.answers:
            return tuple(shown[start:])
        turns = list(zip(shown, answers, strict=True))[start:]
        return tuple(utterance for turn in turns for utterance in turn)


PAPER = Convention()
"""The paper's convention, without answers."""
