"""A joint editing policy: each operation's probability depends on the operation before it.

Scores are log-probabilities ``[B, W, P, E]`` of operation E at word W after operation P; ``P`` is 1 where a policy is
independent. The marker's operation comes after KEEP. Each row sums to one, so the log-probability of a question's
operations is the sum of their scores, and no normalising constant is needed.
"""

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Op

Scores = NDArray[np.float32]
Index = NDArray[np.int64]


def max_marginals(scores_BWPE: Scores, real_BW: NDArray[np.bool_]) -> Scores:
    """Return, as log-probabilities [B, W, E], how good a row's best operations are with operation E at word W.

    At each word the best of them is that of the best path (Viterbi), and what lies between two of them is what it costs
    to have the other there, with its neighbours as they then are best. What is not a real word has no meaning.
    """
    rows, width, before, count = scores_BWPE.shape
    if before == 1:
        return scores_BWPE[:, :, 0]
    # A word that is not real adds nothing, so that the best operation of the last real one decides.
    scores = np.where(real_BW[:, :, None, None], scores_BWPE, np.float32(0))
    best = np.zeros((rows, width, count), dtype=np.float32)
    best[:, 0] = scores[:, 0, Op.KEEP]
    for word in range(1, width):
        best[:, word] = (best[:, word - 1, :, None] + scores[:, word]).max(1)
    after = np.zeros((rows, count), dtype=np.float32)
    for word in range(width - 1, 0, -1):
        best[:, word] += after
        after = (scores[:, word] + after[:, None, :]).max(2)
    best[:, 0] += after
    normalised: Scores = best - np.logaddexp.reduce(best, axis=2, keepdims=True)
    return normalised


def best_path(scores_BWPE: Scores, real_BW: NDArray[np.bool_]) -> Index:
    """Return the most probable operations [B, W] of each row, KEEP where a word is not real."""
    return np.where(real_BW, max_marginals(scores_BWPE, real_BW).argmax(-1), int(Op.KEEP))


def draw(scores_BWPE: Scores, rng: np.random.Generator, samples: int, epsilon: float | None = None) -> Index:
    """Return ``samples`` draws [K, B, W] of each row's operations.

    With ``epsilon`` a word has its best operation after the one before it, or with that probability any operation that
    has mass there.
    """
    rows, width, before = scores_BWPE.shape[:3]
    ops = np.zeros((samples, rows, width), dtype=np.int64)
    last = np.zeros((samples, rows), dtype=np.int64)
    for word in range(width):
        here_KBE = scores_BWPE[np.arange(rows), word, last if before > 1 else 0 * last]
        noise = rng.gumbel(size=here_KBE.shape)
        drawn = (here_KBE + noise).argmax(-1)
        if epsilon is not None:
            anything = np.where(here_KBE > -1e3, noise, -np.inf).argmax(-1)
            drawn = np.where(rng.random(drawn.shape) < epsilon, anything, here_KBE.argmax(-1))
        ops[:, :, word] = last = drawn
    return ops
