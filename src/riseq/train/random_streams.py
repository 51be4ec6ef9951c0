"""Where a run's randomness comes from: every generator follows from the seed, a stream and a place."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What is random; streams of one seed are independent of each other."""

    DATA = 1
    """The extra training pairs; no place."""
    EPOCH = 2
    """An epoch's pool, the cut and order of its batches, a seed for each state's sampler; the place is the epoch."""
    NETWORK = 3
    """Torch's own: dropout and the polish's samples; the places are the epoch and the process."""


def make_rng(seed: int, stream: Stream, *place: int) -> np.random.Generator:
    """Return the generator of a stream at a place, so that a resumed run repeats the epochs it never finished."""
    return np.random.default_rng([seed, int(stream), *place])


def derive_seed(seed: int, stream: Stream, *place: int) -> int:
    """Return a 32-bit seed for another library's generator; numpy's seed sequence mixes it, alike on every machine."""
    return int(np.random.SeedSequence([seed, int(stream), *place]).generate_state(1)[0])
