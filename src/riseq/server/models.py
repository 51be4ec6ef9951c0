"""What answers: the model at work, and others that a request may name, each loaded once, when it is first asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from threading import Lock
from typing import Literal

from riseq.engine.backends.onnx_runtime import count_cores
from riseq.hub import find_model, find_named_model, find_resolve_model
from riseq.server.engines import DummyEngine, EditorEngine, Engine, EngineInfo, Question, simplify_by
from riseq.server.settings import Settings
from riseq.systems import System
from riseq.systems.registry import SYSTEMS, load_system
from riseq.systems.rule import PIPELINE
from riseq.types import Direction, Example, InputError, Simplification, suggest

_ABOUT = {
    "default": "the model that ships with riseq",
    "fast": "a smaller model, and a faster one",
    "large": "a larger model, and a slower one",
}
_RESOLVES = "the way back: makes questions self-contained"
NO_RESOLVER = "no model that resolves questions is on this server; riseq serve --resolve-model MODEL names one"


@dataclass(slots=True, eq=False)
class Choice:
    """Something that may answer: a trained model, or a system that takes no controls."""

    name: str
    kind: Literal["model", "system"]
    about: str
    load: Callable[[], Engine]
    engine: Engine | None = None
    """What it is once it has been loaded."""
    direction: Direction = "simplify"
    lock: Lock = field(default_factory=Lock)


class SystemEngine:
    """A system of ``riseq.systems`` as an engine; one batch at a time, for spaCy promises nothing to threads."""

    def __init__(self, system: System) -> None:
        self.info = EngineInfo(system.name, system.name)
        self._system, self._lock = system, Lock()

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order."""
        with self._lock:
            return list(self._system.simplify(Example("", one.context, one.question) for one in questions))


class Models:
    """The engines at work and the other choices, behind the protocol of one engine: each question goes to its own.

    At work is ``engine``, which simplifies, and ``resolver`` where there is one, for questions of the way back.
    """

    def __init__(self, engine: Engine, others: Sequence[Choice] = (), resolver: Choice | None = None) -> None:
        self.info = engine.info
        name = engine.info.name
        about = _ABOUT.get(name, "the model at work")
        own = Choice(name, "model", about, lambda: engine, engine)
        self.at_work = {one.direction: one for one in (own, resolver) if one is not None}
        every = (own, *others, *([resolver] if resolver else []))
        self.choices = {(one.direction, one.name): one for one in every}

    def check(self, question: Question, where: str = "") -> None:
        """Raise where ``question`` names no choice, or one that cannot do what it asks; ``where`` is its place."""
        if question.model is None:
            return
        choice = self.choices.get((question.direction, question.model))
        if choice is None:
            names = [name for direction, name in self.choices if direction == question.direction]
            raise InputError(f"{where}model: there is no such model here; {suggest(question.model, names)}")
        if choice.kind == "system" and (given := [*question.controls.to_dict()]):
            raise InputError(f"{where}{given[0]}: goes with a model, not with the system {choice.name!r}")

    def find_missing(self, questions: Sequence[Question]) -> list[Choice]:
        """Return the choices that ``questions`` need and that are not loaded yet."""
        return [one for one in dict.fromkeys(map(self._find, questions)) if one.engine is None]

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        """Return one result a question, in order; those of the same model are read together."""
        return simplify_by(questions, self._find, lambda choice, group: load(choice).simplify(group))

    def _find(self, question: Question) -> Choice:
        if question.model is None:
            return self.at_work[question.direction]
        return self.choices[question.direction, question.model]


def load(choice: Choice) -> Engine:
    """Return the engine of a choice; of several threads that ask for it at once, one loads it and all wait."""
    with choice.lock:
        if choice.engine is None:
            choice.engine = choice.load()
        return choice.engine


def find_others(settings: Settings, at_work: str) -> list[Choice]:
    """Return what is installed beside the model ``at_work``; nothing is loaded."""
    threads = count_threads(settings)
    folders = {name: find_named_model(name) for name in _ABOUT}
    models = [
        Choice(name, "model", _ABOUT[name], partial(EditorEngine, folder, threads))
        for name, folder in folders.items()
        if folder is not None
    ]
    names = ["rule", "origin"] if find_spec("spacy") and find_spec(PIPELINE) else ["origin"]
    systems = [Choice(name, "system", SYSTEMS[name].about, partial(_load_system, name)) for name in names]
    return [one for one in (*models, *systems) if one.name != at_work]


def find_resolver(settings: Settings, at_work: Engine) -> Choice | None:
    """Return what resolves: the model that the settings name, loaded, else the one that ships, if one does.

    A dummy ``at_work`` goes both ways.
    """
    if isinstance(at_work, DummyEngine) and settings.resolve_model is None:
        return Choice(at_work.info.name, "model", _RESOLVES, lambda: at_work, at_work, "resolve")
    try:
        folder = find_resolve_model() if settings.resolve_model is None else find_model(settings.resolve_model)
    except InputError:
        if settings.resolve_model is not None:
            raise
        return None
    load = partial(EditorEngine, folder, count_threads(settings), "resolve")
    choice = Choice(folder.resolve().name, "model", _RESOLVES, load, direction="resolve")
    if settings.resolve_model is not None:  # so that a mistake is found at once
        choice.engine = choice.load()
    return choice


def count_threads(settings: Settings) -> int:
    """Return on how many cores a batch runs; by default the workers share them all."""
    return settings.threads or max(1, count_cores() // settings.workers)


def _load_system(name: str) -> Engine:
    return SystemEngine(load_system(name))
