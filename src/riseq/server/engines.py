"""What the server asks of whatever edits questions: a trained model, or a dummy that needs none."""

import json
import re
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from riseq.controls import Controls
from riseq.core.edits import Op
from riseq.engine.directions import ENGINES
from riseq.model.folder import LAYOUT
from riseq.types import Direction, Mention, Simplification, Step, TextEdit

Key = TypeVar("Key", bound=Hashable)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question in its dialogue, checked, and how it is to be edited: one object from the request to the engine."""

    question: str
    context: tuple[str, ...] = ()
    controls: Controls = field(default_factory=Controls)
    model: str | None = None
    """The name of what is to answer; None: the model at work."""
    direction: Direction = "simplify"

    @property
    def length(self) -> int:
        """About how much there is to read, in characters."""
        return len(self.question) + sum(map(len, self.context))


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What people may want to know of an engine."""

    name: str
    engine: str
    precision: str | None = None
    phrases: int | None = None
    max_pieces: int | None = None
    utterance_pieces: int | None = None
    utterances: int | None = None


class Engine(Protocol):
    """Edits batches, in one direction, from several threads at a time."""

    @property
    def info(self) -> EngineInfo:
        """What it is."""

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order."""


def simplify_by(
    questions: Sequence[Question],
    key: Callable[[Question], Key],
    simplify: Callable[[Key, Sequence[Question]], list[Simplification]],
) -> list[Simplification]:
    """Return one result a question, in order; ``simplify`` gets those of the same ``key`` together."""
    groups: dict[Key, list[int]] = {}
    for index, question in enumerate(questions):
        groups.setdefault(key(question), []).append(index)
    results: dict[int, Simplification] = {}
    for value, group in groups.items():
        results.update(zip(group, simplify(value, [questions[index] for index in group]), strict=True))
    return [results[index] for index in range(len(questions))]


class EditorEngine:
    """A trained model: the one that ``folder`` names, else the one of this direction that ships."""

    def __init__(self, folder: Path | None, threads: int | None, direction: Direction = "simplify") -> None:
        self.editor = editor = ENGINES[direction].load(folder, threads=threads)
        path = editor.model or Path()
        config = path / LAYOUT.config  # an exported model's has its precision
        values = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
        kind = type(editor.backend).__name__.removesuffix("Backend").lower()
        window, reads = editor.window, editor.backend.max_pieces
        sizes = len(editor.phrases), reads, window.utterance_pieces, window.utterances
        self.info = EngineInfo(path.resolve().name, kind, values.get("precision"), *sizes)

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order; those with the same controls are read together."""
        return simplify_by(questions, lambda one: one.controls, self._simplify)

    def _simplify(self, controls: Controls, questions: Sequence[Question]) -> list[Simplification]:
        return list(self.editor.batch([(one.question, one.context) for one in questions], controls=controls))


class DummyEngine:
    """Puts "it" for the first word of four letters or more that the dialogue had, to try a server without weights.

    On the way back it puts the last word with a capital that the dialogue had for the first "it".
    """

    info = EngineInfo("dummy", "dummy")

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order."""
        if self.seconds:
            time.sleep(self.seconds * len(questions))
        edits = {"simplify": _shorten, "resolve": _lengthen}
        return [_finish(one, edits[one.direction](one) if one.controls.strength else None) for one in questions]


def _shorten(asked: Question) -> TextEdit | None:
    known = {word.lower() for text in asked.context for word in _WORD.findall(text)} - _find_protected(asked)
    words = (word for word in _WORD.finditer(asked.question) if len(word[0]) >= 4 and word[0].lower() in known)
    word = next(words, None)
    return word and TextEdit(Op.SUBSTITUTE, word.start(), word.end(), word[0], "it", 0.75)


def _lengthen(asked: Question) -> TextEdit | None:
    names = [
        (word[0], Mention(number, word.start(), word.end()))
        for number, text in enumerate(asked.context)
        for word in _WORD.finditer(text)
        if word.start() and word[0].istitle()
    ]
    it = next((word for word in _WORD.finditer(asked.question) if word[0] == "it"), None)
    if it is None or not names or "it" in _find_protected(asked):
        return None
    name, mention = names[-1]
    return TextEdit(Op.SUBSTITUTE, it.start(), it.end(), "it", name, 0.75, mention)


def _find_protected(asked: Question) -> set[str]:
    return {word.lower() for phrase in asked.controls.protect for word in _WORD.findall(phrase)}


def _finish(asked: Question, edit: TextEdit | None) -> Simplification:
    """Return what ``edit`` makes of the question, with both forms where several are asked for."""
    question = asked.question
    plain = Simplification(question, question, probability=0.25)
    if edit is None:
        return plain
    text = f"{question[: edit.start]}{edit.new}{question[edit.end :]}"
    edited = Simplification(question, text, (Step(text, (edit,)),), probability=0.75)
    return edited if asked.controls.n_best == 1 else replace(edited, alternatives=(plain, edited))
