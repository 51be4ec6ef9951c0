"""The paper's learned baselines as systems: Trans++, QGDiv and QuerySim."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from riseq.baselines.generation import Decoding, Generated, run_generator, run_language_model
from riseq.baselines.generator import load_generator
from riseq.baselines.language_model import LanguageModel
from riseq.core.edits import MARKER
from riseq.core.levenshtein import gold_edits
from riseq.model.network import pick_device
from riseq.text.realise import realise
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification

CHUNK = 1_024
"""Examples taken at a time: enough to make batches of like length."""


class BaselineSystem(ABC):
    """What the three share: examples are taken in chunks, and each output becomes a result."""

    name: str

    @abstractmethod
    def _run(self, examples: Sequence[Example]) -> list[Generated]:
        """Return what the network generates for each example."""

    def _finish(self, example: Example, text: str) -> str:
        """Return the text of the result; the question where nothing was generated."""
        return text or example.question

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question as the network generates it."""
        remaining = iter(examples)
        while chunk := list(islice(remaining, CHUNK)):
            for example, made in zip(chunk, self._run(chunk), strict=True):
                yield Simplification(example.question, self._finish(example, made.text), truncated=made.truncated)


class TransPlusPlus(BaselineSystem):
    """An encoder-decoder whose next piece is generated, or copied from the question or the context; greedy.

    The question's own spelling is put back.
    """

    name = "trans++"
    copies = True
    decoding = Decoding()

    def __init__(self, model: Path | None = None, *, device: str = "auto") -> None:
        """Load the model in the folder ``model``."""
        folder = need_model(self.name, model)
        checkpoint = load_generator(folder)
        copies = checkpoint.network.config.copies
        if copies != self.copies:
            what, whose = ("copies", "trans++") if copies else ("cannot copy", "qgdiv")
            raise InputError(f"{folder}: its network {what}; it is a model for {whose!r}, not for {self.name!r}")
        self._device = pick_device(device)
        self._network, self._pieces = checkpoint.network.to(self._device), checkpoint.pieces
        self._settings = checkpoint.facts.get("settings", {})

    def _run(self, examples: Sequence[Example]) -> list[Generated]:
        return run_generator(self._network, self._pieces, examples, self.decoding, self._device)

    def _finish(self, example: Example, text: str) -> str:
        """Return lower-cased words in the question's own spelling and spacing, by the edits that lead to them."""
        words, wanted = forms(example.question), forms(text)
        if not wanted:
            return example.question
        found = realise(example.question, gold_edits([MARKER, *words], [MARKER, *wanted]), example.context).text
        return found if forms(found) == wanted else text  # the spelling must not change the words


class QgDiv(TransPlusPlus):
    """An encoder-decoder that only generates; the same input gives the same output unless a nucleus is asked for."""

    name = "qgdiv"
    copies = False

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
        super().__init__(model, device=device)
        if beams is None:
            beams = int(self._settings.get("beams", Decoding().beams))
        self.decoding = Decoding("beams", beams) if nucleus is None else Decoding("nucleus", mass=nucleus, seed=seed)


class QuerySim(BaselineSystem):
    """A language model fine-tuned to go on with the conversational question; greedy."""

    name = "querysim"

    def __init__(self, model: Path | None = None, *, device: str = "auto") -> None:
        """Load the model in the folder ``model``."""
        self._device = pick_device(device)
        self._model = LanguageModel.load(need_model(self.name, model))
        self._model.network.to(self._device)

    def _run(self, examples: Sequence[Example]) -> list[Generated]:
        return run_language_model(self._model, examples, self._device)


def need_model(name: str, model: Path | None) -> Path:
    """Return the folder of a system that has no model of its own."""
    if model is None:
        raise InputError(f"the system {name!r} comes with no model; train one with recipes/{name}.yaml and name it")
    return model
