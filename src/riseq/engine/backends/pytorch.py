"""A checkpoint at work, by torch: for research, and for GPUs.

On a GPU a batch's scores are under way when ``score`` returns: what goes to the device and comes back is copied from
and to pinned memory, and the first who reads a score waits for it, once. So one thread writes what it read last and
cuts what it reads next while the device works (``riseq.engine.turns``). On a CPU the same code runs and nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core.edits import Op
from riseq.engine.backends import ScoreArray
from riseq.model.inputs import Batch, SpanBatch
from riseq.model.network import CopyInputs, Inputs, RiseNetwork, Spans
from riseq.model.unpadded import Rows, UnpaddedEncoder, can_unpad

CPU_BATCH_PIECES = 2_048
GPU_BATCH_PIECES = 65_536
GPU_IN_FLIGHT = 3
"""How many windows of questions are under way: one on the device, one being cut, one being written."""

Precision = Literal["float32", "bfloat16"]


class Arriving:
    """An array on its way from a device; who reads it waits for it."""

    def __init__(self, tensor: Tensor) -> None:
        tensor = tensor.float()
        self._event: torch.cuda.Event | None = None
        if tensor.is_cuda:
            self._tensor = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            self._tensor.copy_(tensor, non_blocking=True)
            self._event = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._event.record()
        else:
            self._tensor = tensor

    def read(self) -> ScoreArray:
        """Return the array, once it is there."""
        if self._event is not None:
            self._event.synchronize()
        found: ScoreArray = self._tensor.numpy()
        return found


class TorchScores:
    """A batch's edit scores, which may be on their way, and the tensors that phrases are scored from."""

    def __init__(
        self, edits: Tensor, backend: TorchBackend, rows: Rows, states_TD: Tensor, copies: CopyInputs | None
    ) -> None:
        self._edits, self._backend, self._rows, self._states_TD = Arriving(edits), backend, rows, states_TD
        self._copies = copies

    @cached_property
    def edits_BWE(self) -> ScoreArray:
        """Log-probabilities of the four edits at each word, the marker's first."""
        return self._edits.read()

    def start_phrases(self, spans: SpanBatch) -> Callable[[], ScoreArray]:
        """Return what waits for the log-probabilities [N, P] of all phrases at each span, and gives them."""
        put, rows, network = self._backend.put, self._rows, self._backend.network
        row_N, start_N, end_N = put(np.stack([spans.row_N, spans.start_N, spans.end_N]))
        with torch.inference_mode():
            # Each span has its row to itself: so only rows with a span are laid out again.
            places_NL, real_NL = rows.find_places(row_N)
            types_NL = rows.types_T[places_NL]
            inputs = Inputs(rows.ids_T[places_NL], types_NL, real_NL, places_NL, rows.condition_B[row_N])
            own_N = torch.arange(len(row_N), device=row_N.device)
            copies = None
            if (words := self._copies) is not None:
                copies = CopyInputs(words.first_BC[row_N], words.last_BC[row_N], words.room_BC[row_N], None)
            states_NLD = self._states_TD[places_NL]
            scores = network.score_phrases(inputs, states_NLD, Spans(own_N, start_N, end_N), copies)
            return Arriving(scores).read

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        """Return the log-probabilities [N, P] of all phrases at each span."""
        return self.start_phrases(spans)()


class TorchBackend:
    """A network on a torch device; by default in bfloat16 on a GPU, in float32 elsewhere."""

    def __init__(
        self,
        network: RiseNetwork,
        device: str | torch.device = "cpu",
        precision: Precision | None = None,
        compiled: bool = False,
    ) -> None:
        """Put the network on ``device``; of a lower ``precision`` it is a copy. ``compiled``: by torch.compile."""
        self.device = torch.device(device)
        on_gpu = self.device.type == "cuda"
        self.precision: Precision = precision or ("bfloat16" if on_gpu else "float32")
        kind = torch.bfloat16 if self.precision == "bfloat16" else torch.float32
        own = network if kind == torch.float32 else deepcopy(network)
        self.network = own.to(device=self.device, dtype=kind).eval()
        backbone = network.config.backbone
        self.max_pieces = backbone.max_positions - backbone.position_offset
        self.batch_pieces = GPU_BATCH_PIECES if on_gpu else CPU_BATCH_PIECES
        self.in_flight = GPU_IN_FLIGHT if on_gpu else 1
        self._unpadded = UnpaddedEncoder(self.network, compiled) if can_unpad(self.network) else None

    def __repr__(self) -> str:
        threads = torch.get_num_threads()
        return f"TorchBackend(precision={self.precision!r}, device={str(self.device)!r}, threads={threads})"

    def put(self, array: NDArray[np.generic]) -> Tensor:
        """Return the array on the device; on a GPU the copy may still be under way."""
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if self.device.type != "cuda":
            return tensor
        return tensor.pin_memory().to(self.device, non_blocking=True)

    def send(self, batch: Batch) -> tuple[Rows, Tensor]:
        """Return the batch's rows on the device, and where each word starts in its row [B, W]; one copy carries all."""
        rows, words = len(batch.lengths_B), batch.firsts_BW.shape[1] - 1
        ids = batch.ids_BL[batch.mask_BL]
        parts = (ids, batch.lengths_B, batch.context_B, batch.condition_B, batch.firsts_BW[:, :-1].reshape(-1))
        sent = torch.split(self.put(np.concatenate(parts)), [len(ids), rows, rows, rows, rows * words])
        laid_out = Rows.lay_out(sent[0], sent[1], sent[2], sent[3], int(batch.lengths_B.max()))
        return laid_out, sent[4].view(rows, words)

    def encode(self, rows: Rows) -> Tensor:
        """Return the states of all pieces, [T, D]."""
        if self._unpadded is not None:
            return self._unpadded.encode(rows)
        every = torch.arange(len(rows.lengths_B), device=self.device)
        places_BL, real_BL = rows.find_places(every)
        padded = Inputs(rows.ids_T[places_BL], rows.types_T[places_BL], real_BL, places_BL, rows.condition_B)
        return self.network.encode(padded)[rows.row_T, rows.positions_T]

    def score_edits(self, rows: Rows, states_TD: Tensor, firsts_BW: Tensor) -> Tensor:
        """Return the log-probabilities [B, W, 4] of edits; those of a joint policy by its best paths."""
        # Past a row's words a place is that of its last piece, and never that of the next row.
        states_BWD = states_TD[rows.starts_B[:-1, None].long() + firsts_BW]
        words_W = torch.arange(firsts_BW.shape[1], device=self.device)
        scores = self.network.score_edits(states_BWD, words_W.expand(len(firsts_BW), -1))
        if scores.ndim == 3:
            return scores
        return max_marginals(scores, firsts_BW < rows.lengths_B[:, None] - 1)

    def score(self, batch: Batch) -> TorchScores:
        """Return the scores of ``batch``, on a GPU while they are still being made."""
        with torch.inference_mode():
            rows, firsts_BW = self.send(batch)
            states_TD = self.encode(rows)
            edits = self.score_edits(rows, states_TD, firsts_BW)
        copies = None
        if (words := batch.copies) is not None:
            first_BC, last_BC, room_BC = map(self.put, (words.first_BC, words.last_BC, words.room_BC))
            copies = CopyInputs(first_BC, last_BC, room_BC, None)
        return TorchScores(edits, self, rows, states_TD, copies)


def max_marginals(scores_BWPE: Tensor, real_BW: Tensor) -> Tensor:
    """Return what ``riseq.core.chain.max_marginals`` does, on a device."""
    scores = scores_BWPE.masked_fill(~real_BW[:, :, None, None], 0.0)
    best = [scores[:, 0, Op.KEEP]]
    for word in range(1, scores.shape[1]):
        best.append((best[-1][:, :, None] + scores[:, word]).amax(1))
    after = torch.zeros_like(best[0])
    for word in range(scores.shape[1] - 1, 0, -1):
        best[word] = best[word] + after
        after = (scores[:, word] + after[:, None, :]).amax(2)
    best[0] = best[0] + after
    return torch.stack(best, dim=1).log_softmax(-1)
