"""The nouns every room shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from riseq.core.edits import Op

Direction = Literal["simplify", "resolve"]
"""From a self-contained question to a conversational one, or back."""
Device = Literal["cpu", "cuda"]
"""Where a network runs."""

RoundTripMode = Literal["require", "prefer"]
"""Where no form of a question comes back whole when it is resolved: the question stays, or the network's own choice."""


class InputError(ValueError):
    """A user's mistake, in one line: what was wrong, where, and what was expected; exit code 2 on the command line."""


def suggest(name: str, known: Iterable[str]) -> str:
    """Return the end of the message about a ``name`` that is none of ``known``: the nearest, or all where none is."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names) or 'none'}"


@dataclass(frozen=True, slots=True)
class Example:
    """One question in its dialogue: the earlier utterances, oldest first, and the self-contained question."""

    id: str
    context: tuple[str, ...]
    question: str
    target: str | None = None
    """The conversational question a person asked, where it is known."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in the dialogue: ``context[utterance][start:end]``, among the utterances as they are read, from 0."""

    utterance: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One change in a string: ``text[start:end]``, which was ``old``, became ``new``."""

    op: Op
    start: int
    end: int
    old: str
    new: str
    probability: float | None = None
    refers_to: Mention | None = None
    """The mention because of which the old words are not needed; None if none is known, or only small words go.

    Of a resolved question it is the mention that the new words were copied from.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the edit as JSON has it, without what is not known; the operation is its lower-cased name."""
        # Written out: dataclasses.asdict takes longer than all else that is done for a row of a file.
        edit: dict[str, Any] = {"op": self.op.name.lower(), "start": self.start, "end": self.end}
        edit |= {"old": self.old, "new": self.new}
        if self.probability is not None:
            edit["probability"] = self.probability
        if (said := self.refers_to) is not None:
            edit["refers_to"] = {"utterance": said.utterance, "start": said.start, "end": said.end}
        return edit

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TextEdit:
        """Return the edit that ``to_dict`` wrote."""
        given = {name: values[name] for name in ("start", "end", "old", "new")}
        said = values.get("refers_to")
        mention = Mention(**said) if said else None
        return cls(Op[values["op"].upper()], **given, probability=values.get("probability"), refers_to=mention)


@dataclass(frozen=True, slots=True)
class Step:
    """One editing pass: the text it left behind and the edits it made to the text before it."""

    text: str
    edits: tuple[TextEdit, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON has it."""
        return {"text": self.text, "edits": [edit.to_dict() for edit in self.edits]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Step:
        """Return the step that ``to_dict`` wrote."""
        return cls(values["text"], tuple(TextEdit.from_dict(edit) for edit in values["edits"]))


@dataclass(frozen=True, slots=True)
class Simplification:
    """What a system made of a question: the conversational text, or the resolved one, and the passes that led there."""

    question: str
    text: str
    steps: tuple[Step, ...] = ()
    truncated: bool = False
    """Whether any of the context, or the end of the question, was not read: too long, or left out by ``read``."""
    confidence: float | None = None
    """The probability that a person would accept the text, calibrated; None where the system does not say."""
    probability: float | None = None
    """The network's probability of all the edits that led here together, words kept among them; not calibrated."""
    alternatives: tuple[Simplification, ...] = ()
    """Where several were asked for: forms of different texts, the mildest first, this one among them."""
    reason: str | None = None
    """Why the question was left alone, or a milder form taken, where it was not the network's own choice."""

    @property
    def edits(self) -> tuple[TextEdit, ...]:
        """The edits of all passes, in order; those of a later pass are in the text that the one before it left."""
        return tuple(edit for step in self.steps for edit in step.edits)

    @property
    def changed(self) -> bool:
        """Whether the text differs from the question."""
        return self.text != self.question

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return everything about the result as JSON has it; ``from_dict`` makes the same result of it again.

        ``alternatives`` have the same keys without the question, ``truncated`` and ``reason``.
        """
        result = {"question": self.question, **self._form(), "truncated": self.truncated, "reason": self.reason}
        return {**result, "alternatives": [one._form() for one in self.alternatives]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Simplification:
        """Return the result that ``to_dict`` wrote; keys it does not know are passed over."""
        shared = {"question": values["question"], "truncated": values["truncated"]}
        alternatives = tuple(cls._read_form({**one, **shared}) for one in values.get("alternatives", ()))
        return cls._read_form(values, alternatives)

    def _form(self) -> dict[str, Any]:
        values = {name: getattr(self, name) for name in ("text", "confidence", "probability")}
        return {**values, "steps": [step.to_dict() for step in self.steps]}

    @classmethod
    def _read_form(cls, values: Mapping[str, Any], alternatives: tuple[Simplification, ...] = ()) -> Simplification:
        known = {name: values[name] for name in ("question", "text", "truncated", "confidence")}
        known |= {name: values.get(name) for name in ("probability", "reason")}
        return cls(**known, steps=tuple(map(Step.from_dict, values["steps"])), alternatives=alternatives)
