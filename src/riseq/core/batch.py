"""The core on packed integer arrays, for whole batches: the same functions as on plain sequences, compiled.

A phrase is a slice of an array of words: the sampler's phrases are slices of the targets' values. Results depend on the
seeds alone, not on the number of threads. Needs the extra ``train``.
"""

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from riseq.core import chain_kernels
from riseq.core import kernels as compiled
from riseq.core.edits import Op
from riseq.core.packed import Ints, Offsets, Packed
from riseq.core.sampler import Method

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The merged edits of a batch: one entry a source position in every array but ``ok``, one a pair there."""

    ops: NDArray[np.int8]
    phrase_start: Offsets
    """Where the phrase starts in the targets' values: at each INSERT and the first of a run of SUBSTITUTEs; else -1."""
    phrase_end: Offsets
    ok: NDArray[np.bool_]
    """False where no path has mass; there every position is KEEP."""


@dataclass(frozen=True, slots=True, eq=False)
class PhraseIndex:
    """A phrase vocabulary sorted by hash: ``ids[k]`` is the index in ``phrases`` of the phrase with ``hashes[k]``."""

    phrases: Packed
    hashes: NDArray[np.uint64]
    ids: Offsets


def distances(sources: Packed, targets: Packed) -> Ints:
    """Return the Levenshtein distance of each source to its target."""
    _check_pairs(sources, targets)
    found = np.empty(len(sources), dtype=np.int32)
    compiled.distances(sources.values, sources.offsets, targets.values, targets.offsets, found)
    return found


def sample_seeded(
    sources: Packed,
    targets: Packed,
    log_policies: NDArray[np.float32],
    seeds: NDArray[np.uint64],
    method: Method = "dps",
) -> Sampled:
    """Return drawn edits that turn each source into its target, a seed each; policies lie as the sources' values do.

    A policy has four scores a word, or for a joint one four after each operation (``riseq.core.chain``).
    """
    _check_pairs(sources, targets)
    _check_markers(sources)
    _check_markers(targets)
    if method not in get_args(Method):
        raise ValueError(f"the method is one of {', '.join(get_args(Method))}; got {method!r}")
    total = len(sources.values)
    if log_policies.shape not in ((total, 4), (total, 4, 4)):
        raise ValueError(f"policies of shape {log_policies.shape}, expected {(total, 4)} or {(total, 4, 4)}")
    if not log_policies.max(initial=0.0) < np.inf:  # a nan is not below anything
        raise ValueError("a policy holds log-probabilities, finite or -inf; got nan or inf")
    if seeds.shape != (len(sources),) or seeds.dtype != np.uint64:
        raise ValueError(f"one uint64 seed a pair; got {seeds.shape} {seeds.dtype} for {len(sources)} pairs")
    start, end = np.empty((2, total), dtype=np.int64)
    results = (np.empty(total, dtype=np.int8), start, end, np.empty(len(sources), dtype=np.bool_))
    arrays = (sources.values, sources.offsets, targets.values, targets.offsets)
    policies = np.ascontiguousarray(log_policies, dtype=np.float32)
    draw = chain_kernels.sample if policies.ndim == 3 else compiled.sample
    draw(*arrays, policies, seeds, method == "dps", *results)
    return Sampled(*results)


def index_phrases(phrases: Packed) -> PhraseIndex:
    """Return the index of ``phrases``, a vocabulary in interned words, in its order."""
    hashes = np.empty(len(phrases), dtype=np.uint64)
    compiled.hashes(phrases.values, phrases.offsets[:-1], phrases.offsets[1:], hashes)
    order = np.argsort(hashes, kind="stable")
    return PhraseIndex(phrases, hashes[order], order.astype(np.int64))


def lookup_phrases(words: Ints, start: Offsets, end: Offsets, index: PhraseIndex) -> Offsets:
    """Return the index in the vocabulary of each slice ``words[start:end]``, -1 where there is no slice or phrase."""
    _check_slices(words, start, end)
    found = np.empty(len(start), dtype=np.int64)
    compiled.lookup(words, start, end, index.phrases.values, index.phrases.offsets, index.hashes, index.ids, found)
    return found


def phrase_slices(phrases: Packed, ids: Offsets) -> tuple[Offsets, Offsets]:
    """Return where each phrase starts and ends in the values of ``phrases``, -1 and -1 where its id is -1."""
    known = ids >= 0
    at = np.where(known, ids, 0)
    if not len(phrases):
        return np.full_like(ids, -1), np.full_like(ids, -1)
    return np.where(known, phrases.offsets[at], -1), np.where(known, phrases.offsets[at + 1], -1)


def apply(sources: Packed, ops: NDArray[np.int8], words: Ints, start: Offsets, end: Offsets) -> Packed:
    """Return what the edits make of each source; a phrase is ``words[start:end]``, nothing where ``start`` is -1."""
    for name, array in (("ops", ops), ("starts", start), ("ends", end)):
        if array.shape != sources.values.shape:
            raise ValueError(f"{len(array)} {name} for {len(sources.values)} source positions")
    _check_markers(sources)
    _check_slices(words, start, end)
    if not np.isin(ops[sources.offsets[:-1]], (Op.KEEP, Op.INSERT)).all():
        raise ValueError("the marker is only kept or inserted after")
    lengths = np.where((ops == Op.KEEP) | (ops == Op.INSERT), 1, 0) + (end - start)
    offsets = np.zeros(len(sources) + 1, dtype=np.int64)
    offsets[1:] = np.concatenate([[0], np.cumsum(lengths)])[sources.offsets[1:]]
    values = np.empty(offsets[-1], dtype=np.int32)
    compiled.apply(sources.values, sources.offsets, ops, words, start, end, values, offsets)
    return Packed(values, offsets)


def rewards(sources: Packed, reached: Packed, targets: Packed, ops: NDArray[np.int8]) -> Floats:
    """Return the reward (Eq. 7) of each pass that made ``reached`` of its source by the edits ``ops``.

    A phrase outside the vocabulary cannot be said: ``reached`` comes from ``apply`` with the phrases of
    ``lookup_phrases``, lacks it, and is that much further from the target.
    """
    before, after = distances(sources, targets), distances(reached, targets)
    running = np.concatenate([[0], np.cumsum(ops != Op.KEEP)])
    edit_counts = running[sources.offsets[1:]] - running[sources.offsets[:-1]]
    gains: Floats = (before - after - edit_counts + 1) / (1.0 + after)
    return gains


def _check_pairs(sources: Packed, targets: Packed) -> None:
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources for {len(targets)} targets")


def _check_markers(sequences: Packed) -> None:
    if len(sequences) and not sequences.lengths.min():
        raise ValueError(f"a sequence starts with its marker; sequence {sequences.lengths.argmin()} is empty")


def _check_slices(words: Ints, start: Offsets, end: Offsets) -> None:
    # Compiled code does not check bounds: a wrong slice would read foreign memory.
    if len(start) != len(end):
        raise ValueError(f"{len(start)} starts of phrases for {len(end)} ends")
    if len(start) and (start.min() < -1 or (end < start).any() or end.max() > len(words)):
        raise ValueError(f"a phrase is a slice of the {len(words)} words or -1 and -1")
