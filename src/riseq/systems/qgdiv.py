"""QGDiv: the paper's baseline that generates with beam search, or samples a nucleus for variety (Sultan et al., 2020).

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
