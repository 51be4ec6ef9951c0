"""A network at work on packed states: batches in, edits and phrases out."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core.batch import PhraseIndex, index_phrases
from riseq.core.packed import Packed
from riseq.model.inputs import Batch, SpanBatch, find_spans
from riseq.model.network import Inputs, Spans
from riseq.train.actions import Ops, reach
from riseq.train.corpus import Corpus, Lexicon
from riseq.train.cuda_graphs import pad_width
from riseq.train.states import States, collate_states, lengths_in_pieces, sorted_batches, start_states

ROLLOUT_PIECES = 131_072
"""Padded pieces in one batch of a rollout on a GPU; a CPU takes a sixteenth."""


@dataclass(slots=True)
class Policy:
    """A network with what it needs to read states and to say phrases."""

    network: Any  # a RiseNetwork, or an Ensemble of them
    table: Packed
    index: PhraseIndex
    sep_id: int
    pad_id: int
    device: torch.device

    @classmethod
    def build(cls, network: Any, lexicon: Lexicon, device: torch.device) -> Policy:
        """Return the network's policy over the lexicon's words."""
        index = index_phrases(lexicon.phrase_words())
        return cls(network, lexicon.piece_table(), index, lexicon.pieces.sep_id, lexicon.pieces.pad_id, device)

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context the network runs in: bfloat16 on a GPU, float32 elsewhere."""
        if self.device.type == "cuda":
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def collate(self, states: States, corpus: Corpus) -> Batch:
        """Return the padded batch of ``states``."""
        return collate_states(states, corpus, self.table, self.sep_id, self.pad_id, pad_width)

    def send(self, batch: Batch) -> Inputs:
        """Return the batch on the device."""
        firsts = batch.firsts_BW[:, :-1]
        return Inputs(self.put(batch.ids_BL), self.put(batch.types_BL), self.put(batch.mask_BL), self.put(firsts))

    def send_spans(self, spans: SpanBatch) -> Spans:
        """Return the spans on the device."""
        return Spans(self.put(spans.row_N), self.put(spans.start_N), self.put(spans.end_N))

    def put(self, array: NDArray[np.generic]) -> Tensor:
        """Return the array on the device; pinning such small arrays one by one costs more than it saves."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    @torch.no_grad()
    def act(self, states: States, corpus: Corpus) -> tuple[Ops, NDArray[np.int64]]:
        """Return the greedy edits and phrases of one pass over all ``states``, packed as their words are."""
        ops = np.zeros(len(states.words.values), dtype=np.int8)
        phrases = np.full(len(states.words.values), -1, dtype=np.int64)
        self.network.eval()
        for index, batch in self._batches(states, corpus):
            inputs = self.send(batch)
            with self.autocast():
                encoded = self.network.encode(inputs)
                best_BW = self.network.score_edits(encoded, inputs.firsts_BW).argmax(-1).cpu().numpy()
                spans = find_spans(batch, best_BW)
                best_N = np.zeros(0, dtype=np.int64)
                if len(spans.row_N):
                    best_N = (
                        self.network.score_phrases(inputs, encoded, self.send_spans(spans)).argmax(-1).cpu().numpy()
                    )
            at = states.words.offsets[index]
            real = batch.real_BW[:, :-1]
            ops[(at[:, None] + np.arange(real.shape[1])[None, :])[real]] = best_BW[real]
            phrases[at[spans.row_N] + spans.word_N] = best_N
        return ops, phrases

    def roll_out(self, corpus: Corpus, passes: int) -> list[Packed]:
        """Return every question after each of up to ``passes`` passes; a pass that changes nothing is the last."""
        current = start_states(corpus)
        outputs = []
        # A question with no dialogue before it has nothing to refer to.
        active = np.flatnonzero(corpus.has_context)
        words = list(current.words)
        for _ in range(passes):
            if not len(active):
                break
            states = current.take(active)
            ops, phrases = self.act(states, corpus)
            reached = reach(states.words, ops, phrases, self.index)
            moved = [k for k in range(len(active)) if not np.array_equal(reached[k], states.words[k])]
            for k in moved:
                words[active[k]] = reached[k]
            active = active[moved]
            current = States(current.example, _pack(words))
            outputs.append(current.words)
        return outputs or [current.words]

    def _batches(self, states: States, corpus: Corpus) -> Iterator[tuple[NDArray[np.int64], Batch]]:
        lengths = lengths_in_pieces(states, corpus, self.table)
        budget = ROLLOUT_PIECES if self.device.type == "cuda" else ROLLOUT_PIECES // 16
        for index in sorted_batches(lengths, budget):
            yield index, self.collate(states.take(index), corpus)


def _pack(rows: list[NDArray[np.int32]]) -> Packed:
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return Packed(np.concatenate(rows), offsets)
