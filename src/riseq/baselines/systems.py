"""The paper's learned baselines as systems: Trans++, QGDiv and QuerySim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from riseq.baselines.generation import Decoding, Written, write_by_generator, write_by_language_model
from riseq.baselines.generator import load_generator
from riseq.baselines.language_model import LanguageModel
from riseq.core.edits import MARKER
from riseq.core.levenshtein import gold_edits
from riseq.model.network import pick_device
from riseq.text.realise import realise
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification

HELD = 1_024
"""Examples held at a time: enough to make batches of like length."""


def need_model(name: str, model: Path | None) -> Path:
    """Return the folder of a system that has no model of its own."""
    if model is None:
        raise InputError(f"the system {name!r} comes with no model; train one with recipes/{name}.yaml and name it")
    return model


def write_all(
    examples: Iterable[Example],
    write: Callable[[Sequence[Example]], list[Written]],
    finish: Callable[[Example, Written], Simplification],
) -> Iterator[Simplification]:
    """Yield the result of each example, in order."""
    remaining = iter(examples)
    while held := list(islice(remaining, HELD)):
        for example, written in zip(held, write(held), strict=True):
            yield finish(example, written)


def restore(example: Example, written: Written) -> Simplification:
    """Return lower-cased words as a person writes them: the question's own spelling, by the edits that lead to them.

    An output without a word says nothing, and leaves the question as it is.
    """
    words, wanted = forms(example.question), forms(written.text)
    if not wanted:
        return Simplification(example.question, example.question, truncated=written.truncated)
    step = realise(example.question, gold_edits([MARKER, *words], [MARKER, *wanted]), example.context)
    # The spelling must not change what was written.
    text = step.text if forms(step.text) == wanted else written.text
    return Simplification(example.question, text, truncated=written.truncated)


def keep(example: Example, written: Written) -> Simplification:
    """Return what was written as it is; nothing leaves the question as it is."""
    return Simplification(example.question, written.text or example.question, truncated=written.truncated)


class TransPlusPlus:
    """An encoder-decoder whose next piece is generated, or copied from the question or the context; greedy."""

    name = "trans++"

    def __init__(self, model: Path | None = None, *, device: str = "auto") -> None:
        """Load the model in the folder ``model``."""
        folder = need_model(self.name, model)
        checkpoint = load_generator(folder)
        if not checkpoint.network.config.copies:
            raise InputError(f"{folder}: its network cannot copy; it is a model for 'qgdiv', not for {self.name!r}")
        self._device = pick_device(device)
        self._network, self._pieces = checkpoint.network.to(self._device), checkpoint.pieces

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question as the network writes it."""
        return write_all(
            examples,
            lambda held: write_by_generator(self._network, self._pieces, held, Decoding(), self._device),
            restore,
        )


class QgDiv:
    """An encoder-decoder; the same input gives the same output unless a nucleus is asked for."""

    name = "qgdiv"

    def __init__(
        self,
        model: Path | None = None,
        *,
        beams: int | None = None,
        nucleus: float | None = None,
        seed: int = 1,
        device: str = "auto",
    ) -> None:
        """Load the model in the folder ``model``; ``nucleus`` is the mass that pieces are sampled from, by ``seed``.

        Without ``beams`` it searches with as many as it was chosen with in training.
        """
        folder = need_model(self.name, model)
        checkpoint = load_generator(folder)
        if checkpoint.network.config.copies:
            raise InputError(f"{folder}: its network copies; it is a model for 'trans++', not for {self.name!r}")
        if beams is None:
            beams = int(checkpoint.facts.get("settings", {}).get("beams", Decoding().beams))
        self._decoding = Decoding("beams", beams) if nucleus is None else Decoding("nucleus", mass=nucleus, seed=seed)
        self._device = pick_device(device)
        self._network, self._pieces = checkpoint.network.to(self._device), checkpoint.pieces

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question as the network writes it."""
        return write_all(
            examples,
            lambda held: write_by_generator(self._network, self._pieces, held, self._decoding, self._device),
            restore,
        )


class QuerySim:
    """A language model fine-tuned to go on with the conversational question; greedy."""

    name = "querysim"

    def __init__(self, model: Path | None = None, *, device: str = "auto") -> None:
        """Load the model in the folder ``model``."""
        self._device = pick_device(device)
        self._model = LanguageModel.load(need_model(self.name, model))
        self._model.network.to(self._device)

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question as the network writes it."""
        return write_all(examples, lambda held: write_by_language_model(self._model, held, self._device), keep)
