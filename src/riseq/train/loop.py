"""Iterative reinforce training (Algorithm 1): epochs over a pool of states, the best checkpoint by dev BLEU-4."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from riseq.model.checkpoint import Checkpoint, save_checkpoint
from riseq.train.actions import take_actions
from riseq.train.card import write_card
from riseq.train.learner import Learner, StepLog, Work
from riseq.train.optimiser import Average, build_optimiser, rate_at, set_rates
from riseq.train.predictions import score_passes
from riseq.train.prefetch import run_ahead
from riseq.train.preparation import Setup, load_teacher, prepare, sampler_threads
from riseq.train.processes import Processes
from riseq.train.random_streams import Stream, derive_seed, make_rng
from riseq.train.resume import BEST, load_progress, open_run, save_progress
from riseq.train.settings import TrainSettings
from riseq.train.state_pool import Pool
from riseq.train.states import States, cut_batches, lengths_in_pieces
from riseq.train.tracking import Tracker

Index = NDArray[np.int64]

POOLED = 64
"""Batches that are sorted by length together: more would make their order less random, fewer their padding larger."""


@dataclass(frozen=True, slots=True)
class TrainResult:
    """How a run ended: its best epoch's dev scores, and where the model is."""

    folder: Path
    best_epoch: int
    scores: dict[str, dict[str, float]]
    states_per_s: float


def train(
    settings: TrainSettings, out: str | Path, resume: bool = False, tracker: Tracker | None = None
) -> TrainResult:
    """Train a model into ``out/best`` and return how it did.

    ``resume`` goes on from ``out/last`` where it exists, to the result the run would have had; without it, a folder
    that holds a run is refused.
    """
    out = Path(out)
    processes = Processes.current()
    if processes.is_main:
        open_run(out, resume)
    processes.wait()
    with sampler_threads(settings.workers):
        setup = prepare(settings)
        with closing(tracker or Tracker(out, quiet=not processes.is_main)) as told:
            run = _Run(settings, setup, out, processes, told)
            if resume:
                run.resume()
            return run.go()


class _Run:
    def __init__(
        self, settings: TrainSettings, setup: Setup, out: Path, processes: Processes, tracker: Tracker
    ) -> None:
        self.settings, self.setup, self.out, self.processes, self.tracker = settings, setup, out, processes, tracker
        self.learner = Learner(setup.policy, settings, load_teacher(settings, setup))
        self.network = setup.policy.network
        self.pool = Pool(setup.train, setup.policy, settings, processes)
        self.optimiser = build_optimiser(self.network, settings)
        self.average = Average(self.network, settings.ema) if settings.ema else None
        self.epoch = 0
        self.step = 0
        self.best: dict[str, Any] = {"epoch": -1, "bleu4": -1.0, "scores": {}}
        self.states_seen, self.seconds = 0, 0.0

    def resume(self) -> None:
        found = load_progress(self.out, self.setup.fingerprint, self.network, self.optimiser, self.average)
        if found is not None:
            self.epoch, self.step, self.best = found["epoch"], found["step"], found["best"]
        self.tracker.rewind(self.step, self.epoch)

    def go(self) -> TrainResult:
        while self.epoch < self.settings.epochs:
            self._run_epoch()
            if self.epoch + 1 >= self.settings.scored_from:
                self._choose()
            self.epoch += 1
            if self.processes.is_main and self.settings.resumable:
                state = {"epoch": self.epoch, "step": self.step, "best": self.best}
                save_progress(self.out, self.setup.fingerprint, self.network, self.optimiser, self.average, state)
        rate = self.states_seen / self.seconds if self.seconds else 0.0
        return TrainResult(self.out / BEST, self.best["epoch"], self.best["scores"], rate)

    def _choose(self) -> None:
        """Score the epoch and keep it where it is the best so far."""
        scores = self._evaluate()
        first = scores[self.settings.dev[0]]
        if first["bleu4"] > self.best["bleu4"]:
            self.best = {"epoch": self.epoch + 1, "bleu4": first["bleu4"], "scores": scores}
            self._save_best()

    def _run_epoch(self) -> None:
        settings, epoch = self.settings, self.epoch
        # Processes draw their own dropout masks and share everything else.
        torch.manual_seed(derive_seed(settings.seed, Stream.NETWORK, epoch, self.processes.index))
        rng = make_rng(settings.seed, Stream.EPOCH, epoch)
        states = self.pool.fill(epoch, rng)
        lengths = lengths_in_pieces(states, self.setup.train, self.setup.policy.table)
        batches = cut_batches(lengths, settings.batch, rng, POOLED)
        seeds = [rng.integers(0, 2**63, size=len(index), dtype=np.uint64) for index in batches]
        total_steps = max(1, len(batches) * settings.epochs)
        frozen = epoch < settings.frozen_epochs
        for parameter in self.network.encoder.parameters():
            parameter.requires_grad_(not frozen)
        if epoch in (0, settings.frozen_epochs):
            for graphs in self.learner.graphs:
                graphs.forget()
        polish = epoch >= settings.epochs - settings.polish_epochs
        self.network.train()
        began = time.perf_counter()
        self.tracker.start_epoch(epoch, settings.epochs, len(batches))
        for parts, whole in run_ahead(self._works(states, batches, seeds)):
            set_rates(self.optimiser, rate_at(self.step, total_steps, settings))
            forwards = [self.learner.forward(work, slot) for slot, work in enumerate(parts)]
            for forward in forwards:
                self.learner.learn(forward, whole, polish)
            self.processes.sum_gradients(self.network)
            nn.utils.clip_grad_norm_(self.network.parameters(), settings.clip, foreach=True)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            if self.average is not None:
                self.average.update()
            self.step += 1
            if self.tracker.wants(self.step):
                self._report(began)
        if self.setup.policy.device.type == "cuda":
            torch.cuda.synchronize()
        self._report(began)
        self.seconds += time.perf_counter() - began

    def _works(
        self, states: States, batches: list[Index], seeds: list[NDArray[np.uint64]]
    ) -> Iterator[tuple[list[Work], int]]:
        """Yield this process's part of each step in micro-batches, with the number of states of the whole step."""
        settings, corpus = self.settings, self.setup.train
        gold = self.pool.align(states) if settings.method == "mle" else None
        for index, drawn in zip(batches, seeds, strict=True):
            mine = np.arange(len(index))[self.processes.share(len(index))]
            works = []
            for part in np.array_split(mine, settings.micro_batches):
                if len(part):
                    taken = states.take(index[part])
                    known = None if gold is None else take_actions(gold, states.words.offsets, index[part])
                    works.append(self.learner.prepare(taken, corpus, drawn[part], known))
            yield works, len(index) * (2 if settings.consistency else 1)

    def _report(self, began: float) -> None:
        log, self.learner.log = self.learner.log, StepLog()
        means = log.read(self.processes, self.setup.policy.device)
        if means.states:
            self.states_seen += means.states
            self.tracker.step(self.step, **asdict(means), elapsed=time.perf_counter() - began)

    def _evaluate(self) -> dict[str, dict[str, float]]:
        if self.average is not None:
            self.average.swap()
        try:
            scores = {
                name: score_passes(self.setup.policy, self.setup.lexicon, corpus, self.settings.passes)[-1].as_dict()
                for name, corpus in self.setup.dev.items()
            }
        finally:
            if self.average is not None:
                self.average.swap()
        self.tracker.scores(self.epoch + 1, scores)
        return scores

    def _save_best(self) -> None:
        if not self.processes.is_main:
            return
        if self.average is not None:
            self.average.swap()
        try:
            lexicon = self.setup.lexicon
            facts = {"settings": asdict(self.settings), "scores": self.best["scores"], "epoch": self.best["epoch"]}
            checkpoint = Checkpoint(self.network, lexicon.phrases, lexicon.pieces, facts)
            save_checkpoint(self.out / BEST, checkpoint, write_card(facts))
        finally:
            if self.average is not None:
                self.average.swap()
