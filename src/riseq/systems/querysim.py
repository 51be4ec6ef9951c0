"""QuerySim: the paper's baseline that is a language model (Yu et al., 2020).

It writes every question anew, also one without a context: what it does to those is the method's own doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from riseq.model.device import pick_device
from riseq.model.language_model import LanguageModel
from riseq.model.writing import write_by_language_model
from riseq.systems.writers import keep, need_model, write_all
from riseq.types import Example, Simplification


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
