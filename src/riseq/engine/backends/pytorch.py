"""A checkpoint at work, by torch: for research, and for GPUs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.engine.backends import ScoreArray, read_edits
from riseq.model.inputs import Batch, SpanBatch
from riseq.model.network import Inputs, RiseNetwork, Spans
from riseq.types import InputError

CPU_BATCH_PIECES = 2_048
GPU_BATCH_PIECES = 131_072


@dataclass(frozen=True, slots=True)
class TorchScores:
    """A batch's edit scores, and the tensors that phrases are scored from."""

    edits_BWE: ScoreArray
    backend: TorchBackend
    inputs: Inputs
    states_BLD: Tensor

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        """Return the log-probabilities [N, P] of all phrases at each span."""
        put = self.backend.put
        sent = Spans(put(spans.row_N), put(spans.start_N), put(spans.end_N))
        with torch.inference_mode(), self.backend.autocast():
            return _fetch(self.backend.network.score_phrases(self.inputs, self.states_BLD, sent))


class TorchBackend:
    """A network on a torch device; bfloat16 on a GPU, float32 elsewhere."""

    def __init__(self, network: RiseNetwork, device: str | torch.device = "cpu") -> None:
        if network.config.copies:
            raise InputError("a model trained with copies cannot answer here yet: the engine lacks that")
        self.device = torch.device(device)
        self.network = network.to(self.device).eval()
        backbone = network.config.backbone
        self.max_pieces = backbone.max_positions - backbone.position_offset
        self.batch_pieces = GPU_BATCH_PIECES if self.device.type == "cuda" else CPU_BATCH_PIECES

    def __repr__(self) -> str:
        precision = "bfloat16" if self.device.type == "cuda" else "float32"
        threads = torch.get_num_threads()
        return f"TorchBackend(precision={precision!r}, device={str(self.device)!r}, threads={threads})"

    def put(self, array: NDArray[np.generic]) -> Tensor:
        """Return the array on the device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def autocast(self) -> torch.autocast:
        """Return the context the network runs in."""
        return torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.device.type == "cuda")

    def score(self, batch: Batch) -> TorchScores:
        """Return the scores of ``batch``."""
        arrays = (batch.ids_BL, batch.types_BL, batch.mask_BL, batch.firsts_BW[:, :-1], batch.condition_B)
        inputs = Inputs(*(self.put(array) for array in arrays))
        with torch.inference_mode(), self.autocast():
            states = self.network.encode(inputs)
            edits = self.network.score_edits(states, inputs.firsts_BW)
        return TorchScores(read_edits(_fetch(edits), batch), self, inputs, states)


def _fetch(scores: Tensor) -> ScoreArray:
    fetched: ScoreArray = scores.float().cpu().numpy()
    return fetched
