"""States of training: a question as it stands, in its context, on its way to its target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.packed import Packed
from riseq.model.inputs import Batch, collate, take_ragged
from riseq.train.corpus import Corpus


@dataclass(frozen=True, slots=True)
class States:
    """Questions as they stand: ``words`` of state k belong to example ``example[k]`` of the corpus."""

    example: NDArray[np.int64]
    words: Packed

    def __len__(self) -> int:
        return len(self.example)

    def take(self, index: NDArray[np.int64]) -> States:
        """Return the states at ``index``."""
        return States(self.example[index], take(self.words, index))


def take(packed: Packed, index: NDArray[np.int64]) -> Packed:
    """Return the sequences at ``index``."""
    values, lengths = take_ragged(packed.values, packed.offsets, index)
    return Packed(values.astype(np.int32), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def concatenate(parts: list[States]) -> States:
    """Return all states of ``parts``."""
    lengths = np.concatenate([part.words.lengths for part in parts])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = Packed(np.concatenate([part.words.values for part in parts]), offsets)
    return States(np.concatenate([part.example for part in parts]), words)


def start_states(corpus: Corpus) -> States:
    """Return every pair's first state, y^0 = x."""
    return States(np.arange(len(corpus), dtype=np.int64), corpus.sources)


def lengths_in_pieces(states: States, corpus: Corpus, table: Packed) -> NDArray[np.int64]:
    """Return how many pieces the network reads for each state."""
    pieces = table.lengths[states.words.values]
    ends = np.concatenate([[0], np.cumsum(pieces)])
    question = ends[states.words.offsets[1:]] - ends[states.words.offsets[:-1]]
    lengths: NDArray[np.int64] = corpus.contexts.lengths[states.example] + question + 1
    return lengths


def cut_batches(
    lengths: NDArray[np.int64], size: int, rng: np.random.Generator, pool: int = 64
) -> list[NDArray[np.int64]]:
    """Return shuffled batches of states of like length, sorted within pools of ``pool`` batches."""
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), size * pool):
        part = order[start : start + size * pool]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[at : at + size] for at in range(0, len(part), size)]
    return [batches[k] for k in rng.permutation(len(batches))]


def sorted_batches(lengths: NDArray[np.int64], tokens: int) -> list[NDArray[np.int64]]:
    """Return batches in order of length, each of at most ``tokens`` padded pieces."""
    order = np.argsort(lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and lengths[order[end]] * (end + 1 - start) <= tokens:
            end = min(end + max(1, (end - start) // 4), len(order))
        while end - 1 > start and lengths[order[end - 1]] * (end - start) > tokens:
            end -= 1
        batches.append(order[start:end])
        start = end
    return batches


def collate_states(
    states: States, corpus: Corpus, table: Packed, sep_id: int, pad_id: int, pad_width: Callable[[int], int]
) -> Batch:
    """Return the padded batch of ``states``."""
    contexts = take_ragged(corpus.contexts.values, corpus.contexts.offsets, states.example)
    return collate(
        contexts,
        (states.words.values.astype(np.int64), states.words.lengths),
        (table.values, table.offsets),
        sep_id,
        pad_id,
        pad_width,
    )
