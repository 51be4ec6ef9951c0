"""A part of a training step on its way through the network."""

from dataclasses import dataclass

import torch
from torch import Tensor

from riseq.core.copyable import Copyable
from riseq.core.packed import Packed
from riseq.model.inputs import Batch
from riseq.model.network import CopyInputs, Inputs
from riseq.train.actions import Actions, Scores, Seeds
from riseq.train.corpus import States
from riseq.train.graphs import GraphedDecoder


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """A part of a step, ready for the network: states, targets, padded input, a seed a state, gold edits if known."""

    states: States
    targets: Packed
    batch: Batch
    seeds: Seeds
    gold: Actions | None = None

    @property
    def copyable(self) -> Copyable | None:
        """What phrases can be copied from, where they are."""
        return None if self.batch.copies is None else self.batch.copies.copyable


Parts = tuple[list[MicroBatch], int]
"""This process's part of a step in micro-batches, with the number of states of the whole step."""


@dataclass(frozen=True, slots=True)
class Forward:
    """The editing policy's answer to a micro-batch, on its way to the host."""

    part: MicroBatch
    inputs: Inputs
    encoded: Tensor
    edits: Tensor
    """[B, W, 4], or of a joint policy [B, W, 4, 4]."""
    host: Tensor
    arrived: torch.cuda.Event | None
    copies: CopyInputs | None = None
    decoder: GraphedDecoder | None = None
    """Captured passes over spans, where there are."""

    def as_chain(self) -> Scores:
        """Return the scores on the host, [B, W, P, 4], with one P where the policy is independent."""
        scores: Scores = self.host.float().numpy()
        return scores if scores.ndim == 4 else scores[:, :, None]
