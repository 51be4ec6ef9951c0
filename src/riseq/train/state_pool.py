"""The pool of states an epoch learns from (Algorithm 1, lines 2 and 13), and their gold edits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from riseq.train.actions import Actions, gold_actions, reach
from riseq.train.corpus import MAX_WORDS, Corpus
from riseq.train.policy import Policy
from riseq.train.processes import Processes
from riseq.train.settings import TrainSettings
from riseq.train.states import States, concatenate, start_states


@dataclass(slots=True)
class Pool:
    """A run's training pairs and the states met on the way to their targets."""

    corpus: Corpus
    policy: Policy
    settings: TrainSettings
    processes: Processes
    _aligned: Actions | None = field(default=None, init=False)

    def fill(self, epoch: int, rng: np.random.Generator) -> States:
        """Return the epoch's states: every pair's start, states the policy reached itself, finished ones."""
        settings, corpus = self.settings, self.corpus
        start = start_states(corpus)
        parts = [start]
        if settings.own_share and epoch and settings.method != "mle":
            chosen = np.flatnonzero(rng.random(len(corpus)) < min(1.0, settings.own_share))
            parts.append(self._meet(start.take(chosen)))
        if settings.stop_share:
            done = np.flatnonzero(rng.random(len(corpus)) < settings.stop_share)
            parts.append(States(np.arange(len(corpus)), corpus.targets).take(done))
        return concatenate(parts)

    def _meet(self, states: States) -> States:
        """Return where the policy's own greedy pass takes ``states``, less those that teach nothing new.

        Each process edits its part and all of them get the whole, so that their batches stay the same.
        """
        mine = states.take(np.arange(len(states))[self.processes.share(len(states))])
        ops, phrases = self.policy.act(mine, self.corpus)
        reached = States(mine.example, reach(mine.words, ops, phrases, self.policy.index))
        # A state that is where it was, or that lost every word, teaches nothing new.
        moved = [
            k
            for k in range(len(mine))
            if 1 < len(reached.words[k]) <= MAX_WORDS + 1 and not np.array_equal(reached.words[k], mine.words[k])
        ]
        return concatenate(self.processes.gather(reached.take(np.array(moved, dtype=np.int64))))

    def align(self, states: States) -> Actions:
        """Return the gold edits of start and finished states; aligning is slow, so each pair is aligned once."""
        if self._aligned is None:
            self._aligned = gold_actions(self.corpus.sources, self.corpus.targets, self.policy.index)
        start = self._aligned
        rest = len(states.words.values) - len(self.corpus.sources.values)
        return Actions(
            ops=np.concatenate([start.ops, np.zeros(rest, dtype=np.int8)]),
            phrases=np.concatenate([start.phrases, np.full(rest, -1, dtype=np.int64)]),
            weights=np.ones(len(states)),
            lost=np.concatenate([start.lost, np.zeros(rest, dtype=np.bool_)]),
        )
