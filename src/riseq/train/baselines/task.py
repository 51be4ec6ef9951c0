"""What the loop asks of a baseline: batches, a loss, questions, and a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from riseq.types import Example

Index = NDArray[np.int64]


class Task(Protocol):
    """A network with its training pairs in the form it reads."""

    @property
    def network(self) -> nn.Module:
        """What is trained."""
        ...

    @property
    def lengths(self) -> Index:
        """How long each pair is, so that batches are of like length."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        ...

    def is_pretrained(self, name: str) -> bool:
        """Return whether the parameter ``name`` learns at the rate of what is pretrained."""
        ...

    def prepare(self, index: Index, copy: bool) -> Any:
        """Return the pairs at ``index`` as a batch on the CPU; where ``copy``, their target is their question."""
        ...

    def loss(self, batch: Any) -> Tensor:
        """Return the mean loss of the batch's target pieces."""
        ...

    def write(self, examples: Sequence[Example]) -> list[str]:
        """Return the question that the network writes for each example."""
        ...

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        ...
