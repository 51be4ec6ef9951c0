"""An encoder's training passes as CUDA graphs: a step without a thousand launches."""

import warnings
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor, nn

from riseq.model.network import Inputs, RiseNetwork

LARGEST = 32_768
"""Padded pieces in the largest batch that is captured: a larger one fills the GPU as it is, and keeps its memory."""


class _Fixed(nn.Module):
    """The encoder under a name of its own for each shape, since capturing replaces a module's forward."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, types: Tensor, mask: Tensor, *added: Tensor) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            out: Tensor = self.encoder(ids, types, mask, *added)
        return out


class GraphedEncoder:
    """An encoder whose training passes are captured CUDA graphs: one launch instead of a thousand.

    On small encoders a step is bound by launching kernels, not by running them. Every shape of an epoch is captured
    before its first step: a capture must not meet a pass under way, whose gradients wait on the default stream.
    """

    def __init__(self, network: RiseNetwork, rows: int) -> None:
        self.network, self.rows = network, rows
        self.captured: dict[int, Any] = {}
        self.pool = torch.cuda.graph_pool_handle()

    def capture(self, widths: Collection[int]) -> None:
        """Capture full batches of these widths, widest first; what cannot be captured runs as it is, said in a line."""
        for width in sorted(widths, reverse=True):
            if width in self.captured or width * self.rows > LARGEST:
                continue
            try:
                self.captured[width] = self._capture(width)
            except RuntimeError as error:  # out of memory is one
                first = str(error).splitlines()[0]
                warnings.warn(f"batches of {self.rows} x {width} pieces run uncaptured: {first}", stacklevel=2)
                torch.cuda.empty_cache()
                return

    def _capture(self, width: int) -> Any:
        device = next(self.network.parameters()).device
        ids = torch.zeros(self.rows, width, dtype=torch.int64, device=device)
        sample: tuple[Tensor, ...] = (ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool))
        added = self.network.embed(ids[:, 0])
        if added is not None:
            sample += (added.detach().clone().requires_grad_(added.requires_grad),)
        # A capture must not meet autocast's cache of cast weights; the encoder sets its own autocast inside.
        # MPNet's position bias is not trained, so no gradient reaches it: an unused input.
        # Gradients come from the capture's stream to parameters of the default one: meant so, no cause for a warning.
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
        with torch.autocast("cuda", enabled=False):
            fixed = _Fixed(self.network.encoder)
            return torch.cuda.make_graphed_callables(fixed, sample, pool=self.pool, allow_unused_input=True)

    def encode(self, inputs: Inputs) -> Tensor | None:
        """Return the states of a full batch of a captured width, or None where the batch must run as it is.

        The states live in the graph's own memory until the next call of that shape.
        """
        rows, width = inputs.ids_BL.shape
        if rows != self.rows or width not in self.captured:
            return None
        added = self.network.embed(inputs.condition_B)
        arguments = (inputs.ids_BL, inputs.types_BL, inputs.mask_BL, *(() if added is None else (added,)))
        out: Tensor = self.captured[width](*arguments)
        return out
