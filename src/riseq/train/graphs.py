"""A network's training passes as CUDA graphs: a step without a thousand launches."""

import warnings
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.model.inputs import SpanBatch
from riseq.model.network import CopyInputs, Inputs, RiseNetwork, Spans, merge_copies

LARGEST = 32_768
"""Padded pieces in the largest batch that is captured: a larger one fills the GPU as it is, and keeps its memory."""
LARGEST_MEMORY = 65_536
"""The same of what the decoder reads, each span's row counted."""


class _Fixed(nn.Module):
    """A part of the network under a name of its own for each shape, since capturing replaces a module's forward."""

    def __init__(self, part: nn.Module, half: bool) -> None:
        super().__init__()
        self.part, self.autocast = part, not half

    def forward(self, *given: Tensor) -> Tensor:
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.autocast, cache_enabled=False):
            out: Tensor = self.part(*given)
        return out


class Decoder(nn.Module):
    """The phrases' scores as a function of tensors alone; words that are copied are merged where they have ids."""

    def __init__(self, network: RiseNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, ids: Tensor, mask: Tensor, states: Tensor, spans_3N: Tensor, *copies: Tensor) -> Tensor:
        """Return the scores [N, P] of spans given as rows, starts and ends."""
        inputs = Inputs(ids, ids, mask, ids, ids[:, 0])  # types, firsts and condition are the encoder's to read
        spans = Spans(*spans_3N.unbind(0))
        words = CopyInputs(copies[0], copies[1], copies[2], None) if copies else None
        scores = self.network.score_phrases(inputs, states, spans, words)
        return merge_copies(scores, copies[3][spans.row_N]) if len(copies) == 4 else scores


def _capture(part: nn.Module, sample: tuple[Tensor, ...], half: bool, pool: Any) -> Any:
    # A capture must not meet autocast's cache of cast weights; each part sets its own autocast inside.
    # MPNet's position bias is not trained, so no gradient reaches it: an unused input.
    # Gradients come from the capture's stream to parameters of the default one: meant so, no cause for a warning.
    torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    with torch.autocast("cuda", enabled=False):
        return torch.cuda.make_graphed_callables(_Fixed(part, half), sample, pool=pool, allow_unused_input=True)


class GraphedEncoder:
    """An encoder whose training passes are captured CUDA graphs: one launch instead of a thousand.

    On small encoders a step is bound by launching kernels, not by running them. Every shape of an epoch is captured
    before its first step: a capture must not meet a pass under way, whose gradients wait on the default stream.
    """

    def __init__(self, network: RiseNetwork, rows: int, half: bool = False) -> None:
        """Capture batches of ``rows`` rows; ``half``: the network is of bfloat16, and needs no autocast."""
        self.network, self.rows, self.half = network, rows, half
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
        return _capture(self.network.encoder, sample, self.half, self.pool)

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


class GraphedDecoder:
    """A decoder whose training passes are captured CUDA graphs, for spans padded to multiples of ``step``.

    How many spans a batch has is known only in its step. So a shape that was met runs as it is, and is captured before
    the next step, when no pass is under way. It is used once a step, for one micro-batch: another pass would write over
    what its gradient needs, and over the gradient.
    """

    def __init__(self, network: RiseNetwork, rows: int, half: bool = False) -> None:
        """Capture the decoding of batches of ``rows`` rows; ``half``: the network is of bfloat16."""
        self.decoder, self.rows, self.half = Decoder(network), rows, half
        self.step = max(1, rows // 2)
        self.captured: dict[tuple[int, int], Any] = {}
        self.pool: Any = None
        self._wanted: set[tuple[int, int]] = set()
        self._refused = False
        self._busy = False

    def clear(self) -> None:
        """Forget all captures: what is trained has changed."""
        self.captured.clear()

    def begin(self) -> None:
        """Begin a step: capture what the last ones met, now that no pass is under way."""
        self._busy = False
        if not self._wanted or self._refused:
            return
        torch.cuda.synchronize()
        self.pool = self.pool or torch.cuda.graph_pool_handle()
        while self._wanted:
            width, count = self._wanted.pop()
            try:
                self.captured[width, count] = self._capture(width, count)
            except RuntimeError as error:
                first = str(error).splitlines()[0]
                warnings.warn(f"decoders of {count} spans x {width} pieces run uncaptured: {first}", stacklevel=2)
                self._refused = True
                torch.cuda.empty_cache()
                return

    def _capture(self, width: int, count: int) -> Any:
        network = self.decoder.network
        first = next(network.parameters())
        ids = torch.zeros(self.rows, width, dtype=torch.int64, device=first.device)
        kind = torch.bfloat16 if self.half else torch.float32  # a norm's output is of float32 under autocast
        states = torch.zeros(self.rows, width, network.config.backbone.hidden, dtype=kind, device=first.device)
        spans_3N = torch.zeros(3, count, dtype=torch.int64, device=first.device)
        spans_3N[2] = 1
        sample: tuple[Tensor, ...] = (ids, torch.ones_like(ids, dtype=torch.bool), states.requires_grad_(), spans_3N)
        if (copies := network.config.copies) > 0:
            sample += (ids.clone(), ids.clone(), ids.clone())
            if not network.config.templates:
                sample += (self._own_columns(width * copies, first.device).expand(self.rows, -1).contiguous(),)
        return _capture(self.decoder, sample, self.half, self.pool)

    def _own_columns(self, count: int, device: torch.device) -> Tensor:
        return self.decoder.network.config.phrases + torch.arange(count, dtype=torch.int32, device=device)

    def score(
        self,
        inputs: Inputs,
        states: Tensor,
        spans: SpanBatch,
        copies: CopyInputs | None,
        put: Callable[[Any], Tensor],
    ) -> Tensor | None:
        """Return the scores of spans by a captured pass; None where there is none for them yet, or it is in use."""
        (rows, width), count = inputs.ids_BL.shape, len(spans.row_N)
        padded = -(-count // self.step) * self.step
        if rows != self.rows or padded * width > LARGEST_MEMORY or self._busy or self._refused:
            return None
        if copies is not None and copies.first_BC.shape[1] > width:
            return None
        if (width, padded) not in self.captured:
            self._wanted.add((width, padded))
            return None
        self._busy = True
        given: tuple[Tensor, ...] = inputs.ids_BL, inputs.mask_BL, states, put(pad_spans(spans, padded, rows))
        if copies is not None:
            given += self.widen(copies, width)
        scores: Tensor = self.captured[width, padded](*given)
        return scores[:count]

    def widen(self, copies: CopyInputs, width: int) -> tuple[Tensor, ...]:
        """Return the words that are copied as ``width`` of them; from those that are none nothing can be copied."""
        more = width - copies.first_BC.shape[1]
        words = tuple(functional.pad(one, (0, more)) for one in (copies.first_BC, copies.last_BC, copies.room_BC))
        if copies.same_BK is None:
            return words
        longest = self.decoder.network.config.copies
        own = self._own_columns(width * longest, copies.same_BK.device)[(width - more) * longest :]
        return (*words, torch.cat([copies.same_BK, own.expand(len(copies.same_BK), -1)], dim=1))


def pad_spans(spans: SpanBatch, count: int, rows: int) -> Any:
    """Return rows, starts and ends of ``count`` spans: those that are none read the first piece of some row."""
    padded = np.zeros((3, count), dtype=np.int64)
    padded[0], padded[2] = np.arange(count) % rows, 1
    padded[:, : len(spans.row_N)] = spans.row_N, spans.start_N, spans.end_N
    return padded
