"""The paper's learned baselines as systems: Trans++, QGDiv and QuerySim."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from riseq.baselines.encoder_decoder import EncoderDecoder
from riseq.baselines.generation import Decoding
from riseq.baselines.language_model import LanguageModel
from riseq.core.edits import MARKER
from riseq.core.levenshtein import gold_edits
from riseq.model.network import pick_device
from riseq.text.realise import realise
from riseq.text.words import forms
from riseq.types import Example, InputError, Simplification

CHUNK = 1_024
"""Examples taken at a time: enough to make batches of like length."""


class BaselineSystem:
    """What the three share: examples are taken in chunks, and each output becomes a result."""

    name: str
    _model: EncoderDecoder | LanguageModel

    def _finish(self, example: Example, text: str) -> str:
        """Return the text of the result; the question where nothing was generated."""
        return text or example.question

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question as the network generates it."""
        remaining = iter(examples)
        while chunk := list(islice(remaining, CHUNK)):
            for example, made in zip(chunk, self._model.write(chunk), strict=True):
                yield Simplification(example.question, self._finish(example, made.text), truncated=made.truncated)


class TransPlusPlus(BaselineSystem):
    """An encoder-decoder whose next piece is generated, or copied from the question or the context; greedy.

    The question's own spelling is put back.
    """

    name = "trans++"
    copies = True
    _model: EncoderDecoder

    def __init__(self, model: Path | None = None, *, device: str = "auto") -> None:
        """Load the model in the folder ``model``."""
        folder = need_model(self.name, model)
        self._model = EncoderDecoder.load(folder)
        copies = self._model.network.config.copies
        if copies != self.copies:
            what, whose = ("copies", "trans++") if copies else ("cannot copy", "qgdiv")
            raise InputError(f"{folder}: its network {what}; it is a model for {whose!r}, not for {self.name!r}")
        self._model.network.to(pick_device(device))

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
            beams = int(self._model.facts.get("settings", {}).get("beams", Decoding().beams))
        chosen = Decoding("beams", beams) if nucleus is None else Decoding("nucleus", mass=nucleus, seed=seed)
        self._model.decoding = chosen


class QuerySim(BaselineSystem):
    """A language model fine-tuned to go on with the conversational question; greedy."""

    name = "querysim"

    def __init__(self, model: Path | None = None, *, device: str = "auto") -> None:
        """Load the model in the folder ``model``."""
        self._model = LanguageModel.load(need_model(self.name, model))
        self._model.network.to(pick_device(device))


def need_model(name: str, model: Path | None) -> Path:
    """Return the folder of a system that has no model of its own."""
    if model is None:
        raise InputError(f"the system {name!r} comes with no model; train one with recipes/{name}.yaml and name it")
    return model
