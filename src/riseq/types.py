"""The nouns every room shares."""

from __future__ import annotations

from dataclasses import dataclass

from riseq.core.edits import Op


class InputError(ValueError):
    """A user's mistake, told in one line: what was wrong, where, and what was expected.

    The command line prints the message and exits with code 2; nothing else is caught there.
    """


@dataclass(frozen=True, slots=True)
class Example:
    """One question in its dialogue: the earlier utterances, oldest first, and the self-contained question."""

    id: str
    context: tuple[str, ...]
    question: str
    target: str | None = None
    """The conversational question a person asked, where it is known."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One change in a string: ``text[start:end]``, which was ``old``, became ``new``."""

    op: Op
    start: int
    end: int
    old: str
    new: str
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One editing pass: the text it left behind and the edits it made to the text before it."""

    text: str
    edits: tuple[TextEdit, ...] = ()


@dataclass(frozen=True, slots=True)
class Simplification:
    """What a system made of a question: the conversational text and the passes that led there."""

    question: str
    text: str
    steps: tuple[Step, ...] = ()
    truncated: bool = False
    """Whether any of the context, or the end of the question, was not looked at for want of room."""
    confidence: float | None = None
    """How sure the system is that the text is right, calibrated; None where it does not say."""
    probability: float | None = None
    """The network's probability of all the edits that led here together, words kept among them; not calibrated."""
    alternatives: tuple[Simplification, ...] = ()
    """Where several were asked for: forms of different texts, the mildest first, this one among them."""

    @property
    def changed(self) -> bool:
        """Whether the text differs from the question."""
        return self.text != self.question
