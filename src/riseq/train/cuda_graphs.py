"""The encoder's forward and backward as captured CUDA graphs: one launch instead of a thousand.

On small encoders a step is bound by launching kernels, not by running them. Batches are padded to a few shapes, and
each shape is captured once, when it is first met.
"""

from __future__ import annotations

import bisect
from typing import Any

import torch
from torch import Tensor, nn

from riseq.model.network import Inputs

WIDTHS = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256)
"""The lengths, in pieces, that batches are padded to."""


WIDEST = 80
"""Wider batches run as they are: each capture keeps its activations, and they are large enough to fill the GPU."""


class _Fixed(nn.Module):
    """The encoder under a name of its own for each shape, since capturing replaces a module's forward."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            out: Tensor = self.encoder(ids, types, mask)
        return out


class GraphedEncoder:
    """An encoder whose training passes are replayed where the batch has a captured shape."""

    def __init__(self, encoder: nn.Module, rows: int) -> None:
        self.encoder, self.rows = encoder, rows
        self.captured: dict[int, Any] = {}
        self.pool = torch.cuda.graph_pool_handle()

    def forget(self) -> None:
        """Drop the captures: what is trained has changed."""
        self.captured.clear()

    def encode(self, inputs: Inputs) -> Tensor | None:
        """Return the states of a full batch of a known width, or None where the batch must run as it is.

        The states live in the graph's own memory until the next call of that shape.
        """
        rows, length = inputs.ids_BL.shape
        if rows != self.rows or length not in WIDTHS or length > WIDEST:
            return None
        if length not in self.captured:
            sample = (inputs.ids_BL.clone(), inputs.types_BL.clone(), inputs.mask_BL.clone())
            # A capture must not meet autocast's cache of cast weights; the encoder sets its own autocast inside.
            with torch.autocast("cuda", enabled=False):
                # MPNet's position bias is not trained, so no gradient reaches it.
                graphed = torch.cuda.make_graphed_callables(
                    _Fixed(self.encoder), sample, pool=self.pool, allow_unused_input=True
                )
            self.captured[length] = graphed
        out: Tensor = self.captured[length](inputs.ids_BL, inputs.types_BL, inputs.mask_BL)
        return out


def pad_width(longest: int) -> int:
    """Return the width a batch is padded to: the next of ``WIDTHS``, or the next multiple of 8 beyond them."""
    at = bisect.bisect_left(WIDTHS, longest)
    return WIDTHS[at] if at < len(WIDTHS) else longest + -longest % 8
