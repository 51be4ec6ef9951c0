"""Trans++: the paper's baseline that generates and copies (Vakulenko et al., 2020).

It writes every question anew, also one without a context: what it does to those is the method's own doing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from riseq.model.device import pick_device
from riseq.model.generator_checkpoint import load_generator
from riseq.model.writing import Decoding, write_by_generator
from riseq.systems.writers import need_model, restore, write_all
from riseq.types import Example, InputError, Simplification


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
