"""What the server asks of whatever simplifies: the trained model, or a dummy that needs none."""

import json
import re
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from riseq.controls import Controls
from riseq.core.edits import Op
from riseq.engine.simplifier import Simplifier
from riseq.model.folder import LAYOUT
from riseq.types import Simplification, Step, TextEdit

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
    """Simplifies batches, from several threads at a time."""

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


class SimplifierEngine:
    """A trained model: the one that ``folder`` names, else the one that ships."""

    def __init__(self, folder: Path | None, threads: int | None) -> None:
        self.simplifier = simplifier = Simplifier.load(folder, threads=threads)
        path = simplifier.model or Path()
        config = path / LAYOUT.config  # an exported model's has its precision
        values = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
        kind = type(simplifier.backend).__name__.removesuffix("Backend").lower()
        window, reads = simplifier.window, simplifier.backend.max_pieces
        sizes = len(simplifier.phrases), reads, window.utterance_pieces, window.utterances
        self.info = EngineInfo(path.resolve().name, kind, values.get("precision"), *sizes)

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order; those with the same controls are read together."""
        return simplify_by(questions, lambda one: one.controls, self._simplify)

    def _simplify(self, controls: Controls, questions: Sequence[Question]) -> list[Simplification]:
        return list(self.simplifier.batch([(one.question, one.context) for one in questions], controls=controls))


class DummyEngine:
    """Puts "it" for the first word of four letters or more that the dialogue had, to try a server without weights."""

    info = EngineInfo("dummy", "dummy")

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order."""
        if self.seconds:
            time.sleep(self.seconds * len(questions))
        return list(map(_simplify, questions))


def _simplify(asked: Question) -> Simplification:
    question, controls = asked.question, asked.controls
    known = {word.lower() for text in asked.context for word in _WORD.findall(text)}
    known -= {word.lower() for phrase in controls.protect for word in _WORD.findall(phrase)}
    plain = Simplification(question, question, probability=0.25)
    words = (word for word in _WORD.finditer(question) if len(word[0]) >= 4 and word[0].lower() in known)
    word = next(words, None) if controls.strength else None
    if word is None:
        return plain
    text = f"{question[: word.start()]}it{question[word.end() :]}"
    steps = (Step(text, (TextEdit(Op.SUBSTITUTE, word.start(), word.end(), word[0], "it", 0.75),)),)
    edited = Simplification(question, text, steps, probability=0.75)
    return edited if controls.n_best == 1 else replace(edited, alternatives=(plain, edited))
