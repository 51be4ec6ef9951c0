"""A policy's own outputs: rollouts of one editing pass or several, with their log-probabilities and closeness.

A rollout ends where a pass changes nothing, which is a choice like others and counts in its probability, or after the
last pass. Two that reach the same words in different ways are two: their odds and gradients add up to those of the
words.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from riseq.core import chain
from riseq.core.closeness import measure_closeness
from riseq.core.packed import Packed, pack
from riseq.model.inputs import SpanBatch, find_spans
from riseq.model.network import CopyInputs, Inputs, RiseNetwork, Spans
from riseq.train import actions
from riseq.train.actions import Actions, Index, reach
from riseq.train.corpus import MAX_WORDS, States, take_rows
from riseq.train.policy import Policy
from riseq.train.risk import BEST, GUIDED, Outputs
from riseq.train.step import Forward

Met = Iterable[tuple[Index, Forward, Actions]]
"""States in batches: which of them, the policy's answer, and guided edits of each."""
Meet = Callable[[States, np.random.Generator], Met]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A network that keeps nothing for the backward pass and computes again there: a step's rollouts are many."""

    network: RiseNetwork

    def encode(self, inputs: Inputs) -> Tensor:
        """Return the states of every piece."""
        states: Tensor = checkpoint(self.network.encode, inputs, use_reentrant=False)
        return states

    def score_phrases(self, inputs: Inputs, states: Tensor, spans: Spans, copies: CopyInputs | None = None) -> Tensor:
        """Return the phrases' log-probabilities for each span."""
        scores: Tensor = checkpoint(self.network.score_phrases, inputs, states, spans, copies, use_reentrant=False)
        return scores


@dataclass(frozen=True, slots=True)
class Pass:
    """What each of N rollouts does in one pass."""

    scores_N: Tensor
    """Its log-probability under the policy."""
    lost_N: NDArray[np.bool_]
    """Whether it is guided to what the vocabulary cannot say."""
    ends_N: NDArray[np.bool_]
    """Whether no pass follows: it changes nothing, is lost, or leaves no question that one would be trained on."""
    reached: Packed
    taken: list[bytes]
    """Its operations and phrases, as something to compare."""


def draw_outputs(policy: Policy, forward: Forward, guided: Actions, count: int, passes: int, meet: Meet) -> Outputs:
    """Return ``count`` outputs of each state after up to ``passes`` passes: guided, the policy's best, and draws.

    The ``guided`` edits are those of the first pass; ``meet`` has the policy's answer to the states that it reaches.
    """
    part, later = forward.part, replace(policy, network=Recomputed(policy.network))
    rng, states = np.random.default_rng(int(part.seeds[0]) + 2), np.arange(len(part.states))
    first_N, kind_N = np.tile(states, count), np.repeat(np.arange(count), len(states))
    scores_N = forward.edits.new_zeros(len(first_N))
    lost_N, ends_N = np.zeros((2, len(first_N)), dtype=np.bool_)
    words, paths = [part.states.words[k] for k in first_N], [k.tobytes() for k in first_N]
    met: Met = [(states, forward, guided)]
    going, state_N = np.arange(len(first_N)), first_N
    for number in range(passes):
        if number:
            going = np.flatnonzero(~ends_N)
            if not len(going):
                break
            different, state_N = find_different(part.states.example[first_N[going]], [words[n] for n in going])
            met, policy = meet(different, rng), later
        for index, there, led in met:
            row_of_state = np.full(int(state_N.max()) + 1, -1)
            row_of_state[index] = np.arange(len(index))
            mine_N = row_of_state[state_N] >= 0
            here = going[mine_N]
            made = take_pass(policy, there, led, row_of_state[state_N[mine_N]], kind_N[here], rng)
            scores_N = scores_N.index_add(0, policy.put(here), made.scores_N)
            lost_N[here], ends_N[here] = made.lost_N, made.ends_N
            for n, reached, taken in zip(here, made.reached, made.taken, strict=True):
                words[n] = reached
                paths[n] += taken
    closeness = measure_closeness(pack(words), take_rows(part.targets, first_N)).astype(np.float32)
    before = measure_closeness(part.states.words, part.targets).astype(np.float32)
    numbers = scores_N, policy.put(closeness), policy.put(lost_N | find_repeated(paths))
    scores_KB, closeness_KB, out_KB = (numbers_N.view(count, -1) for numbers_N in numbers)
    return Outputs(scores_KB, closeness_KB, policy.put(before), out_KB)


def take_pass(
    policy: Policy, forward: Forward, guided: Actions, row_N: Index, kind_N: Index, rng: np.random.Generator
) -> Pass:
    """Return a pass of N rollouts, each at a state of ``forward``; kinds are guided, the policy's best, and draws."""
    part, put = forward.part, policy.put
    words, batch = take_rows(part.states.words, row_N), part.batch.take(row_N)
    real_NW, scores_NWPE = batch.real_BW[:, :-1], forward.as_chain()[row_N]
    led_N, best_N, drawn_N = kind_N == GUIDED, kind_N == BEST, kind_N > BEST
    known, led = actions.take_actions(guided, part.states.words.offsets, row_N), np.repeat(led_N, words.lengths)
    ops_NW = np.zeros(real_NW.shape, dtype=np.int64)
    ops_NW[real_NW & led_N[:, None]] = known.ops[led]
    ops_NW[best_N] = chain.best_path(scores_NWPE[best_N], real_NW[best_N])
    ops_NW[drawn_N] = chain.draw(scores_NWPE[drawn_N], rng, 1)[0] * real_NW[drawn_N]
    ops, phrases = ops_NW[real_NW].astype(np.int8), np.where(led, known.phrases, -1)
    scores_N = score_ops(policy, forward, row_N, ops_NW, real_NW)
    found = find_spans(batch, ops_NW)
    if len(found.row_N):
        spans, at = actions.merge_spans([SpanBatch(row_N[found.row_N], found.word_N, found.start_N, found.end_N)])
        scores = policy.score_phrases(forward.inputs, forward.encoded, spans, forward.copies, part.copyable)
        place, kind = words.offsets[found.row_N] + found.word_N, kind_N[found.row_N]
        chosen = np.where(kind == BEST, scores.best()[at], scores.draw(at))
        phrases[place] = np.where(kind == GUIDED, phrases[place], chosen)
        added_N = scores_N.new_zeros(len(row_N)).index_add(0, put(found.row_N), scores.take(at, phrases[place]))
        scores_N = scores_N + added_N
    reached = reach(words, ops, phrases, policy.index, part.copyable, row_N)
    lost_N = led_N & (np.bincount(np.repeat(np.arange(len(row_N)), words.lengths), known.lost, len(row_N)) > 0)
    stays_N = np.array([np.array_equal(new, old) for new, old in zip(reached, words, strict=True)], dtype=np.bool_)
    ends_N = lost_N | stays_N | (reached.lengths < 2) | (reached.lengths > MAX_WORDS + 1)
    cuts = list(zip(words.offsets[:-1], words.offsets[1:], strict=True))
    return Pass(scores_N, lost_N, ends_N, reached, [ops[a:b].tobytes() + phrases[a:b].tobytes() for a, b in cuts])


def score_ops(policy: Policy, forward: Forward, row_N: Index, ops_NW: Index, real_NW: NDArray[np.bool_]) -> Tensor:
    """Return the log-probability of each rollout's operations, where they are of ``real`` words."""
    codes_NW = actions.code_ops(ops_NW, joint=forward.edits.ndim == 4)
    width, count = ops_NW.shape[1], forward.edits[0, 0].numel()
    place_NW = (row_N[:, None] * width + np.arange(width)) * count + codes_NW
    taken = forward.edits.flatten().index_select(0, policy.put(place_NW.ravel()))
    return (taken.view(place_NW.shape) * policy.put(real_NW)).sum(-1)


def find_different(example_N: Index, words: Sequence[NDArray[np.integer]]) -> tuple[States, Index]:
    """Return the different states, and for each of the N which of them it is.

    >>> states, which = find_different(np.array([3, 3, 4, 3]), [np.array(row) for row in ([0, 7], [0], [0], [0])])
    >>> states.example.tolist(), which.tolist()
    ([3, 3, 4], [0, 1, 2, 1])
    """
    keys = [(example, row.tobytes()) for example, row in zip(example_N.tolist(), words, strict=True)]
    first = {key: n for n, key in reversed(list(enumerate(keys)))}
    kept = sorted(first.values())
    numbers = {n: number for number, n in enumerate(kept)}
    return States(example_N[kept], pack([words[n] for n in kept])), np.array([numbers[first[key]] for key in keys])


def find_repeated(paths: Sequence[bytes]) -> NDArray[np.bool_]:
    """Return which are like an earlier one.

    >>> find_repeated([b"a", b"b", b"a"]).tolist()
    [False, False, True]
    """
    first = {path: n for n, path in reversed(list(enumerate(paths)))}
    return np.array([first[path] != n for n, path in enumerate(paths)], dtype=np.bool_)
