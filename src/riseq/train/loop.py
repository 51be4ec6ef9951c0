"""The training loop: epochs over a task's batches, the best checkpoint by BLEU-4 on the first dev set."""

import time
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from riseq.metrics.resolving import score_resolved
from riseq.metrics.scores import score
from riseq.train.optimiser import Average, Schedule, build_optimiser, set_rates
from riseq.train.processes import Processes, prefetch
from riseq.train.settings import TrainSettings
from riseq.train.task import StepLog, Stream, Task, derive_seed, find_task, make_rng
from riseq.train.tracking import BEST, LAST, RunState, SavedEpoch, Tracker, add_facts, open_run, write_card
from riseq.types import Example


@dataclass(frozen=True, slots=True)
class TrainResult:
    """How a run ended: its best epoch's dev scores, and where the model is."""

    folder: Path
    best_epoch: int
    scores: dict[str, dict[str, float]]
    states_per_s: float
    is_main: bool = True  # the first of the run's processes, the one that writes and shows

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it."""
        rate = round(self.states_per_s, 1)
        return {"model": str(self.folder), "best_epoch": self.best_epoch, "states_per_s": rate, "scores": self.scores}


def train(
    settings: TrainSettings, out: str | Path, resume: bool = False, tracker: Tracker | None = None
) -> TrainResult:
    """Train what the settings' ``system`` names into ``out/best`` and return how it did.

    ``resume`` goes on from ``out/last`` where it exists, to the result the run would have had; without it, a folder
    that holds a run is refused.
    """
    out, processes = Path(out), Processes.current()
    if processes.is_main:
        open_run(out, resume)
    processes.wait()
    task = find_task(settings.system)(settings, processes)
    with task.running(), closing(tracker or Tracker(out, quiet=not processes.is_main)) as shown:
        run = _Run(settings, task, out, processes, shown)
        if resume:
            run.resume()
        return run.go()


class _Run:
    def __init__(self, settings: TrainSettings, task: Task, out: Path, processes: Processes, tracker: Tracker) -> None:
        self.settings, self.task, self.out, self.processes, self.tracker = settings, task, out, processes, tracker
        self.optimiser = build_optimiser(task.network, task.peak_rate, settings.weight_decay)
        self.average = Average(task.network, settings.ema) if settings.ema else None
        self.saved = SavedEpoch(out / LAST, task, self.optimiser, self.average)
        self.schedule = Schedule(settings.warmup_steps, settings.schedule)
        self.state = RunState()

    def resume(self) -> None:
        self.state = self.saved.load()
        self.schedule.warmed_up = self.state.warmed_up
        self.tracker.rewind(self.state.step, self.state.scored)

    def go(self) -> TrainResult:
        state, is_main = self.state, self.processes.is_main
        kept = is_main and self.settings.resumable
        while state.scored < self.settings.epochs:
            if state.scored == state.epoch:
                self._run_epoch()
                state.epoch += 1
                if kept:  # before it is scored: that takes a while, and a kill would cost the epoch
                    self.saved.save(state)
            if state.epoch >= self.settings.scored_from:
                self._choose()
            state.scored = state.epoch
            if kept:
                self.saved.note(state)
        if is_main:
            add_facts(self.out / BEST / "config.json", self._measured())
        return TrainResult(self.out / BEST, state.best["epoch"], state.best["scores"], state.states_per_s, is_main)

    def _run_epoch(self) -> None:
        settings, task, state, average = self.settings, self.task, self.state, self.average
        # Processes draw their own dropout masks and share everything else.
        torch.manual_seed(derive_seed(settings.seed, Stream.NETWORK, state.epoch, self.processes.index))
        steps, batches = task.start_epoch(state.epoch, make_rng(settings.seed, Stream.EPOCH, state.epoch))
        task.network.train()
        began = time.perf_counter()
        self.tracker.start_epoch(state.epoch, settings.epochs, steps)
        for number, batch in enumerate(prefetch(batches), start=1):
            progress = (state.epoch + number / steps) / settings.epochs
            set_rates(self.optimiser, self.schedule.share(state.step, progress))
            task.learn(batch)
            self.processes.sum_gradients(task.network)
            nn.utils.clip_grad_norm_(task.network.parameters(), settings.clip, foreach=True)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            if average is not None:
                average.update()
            state.step += 1
            if state.step % self.tracker.every == 0:
                self._report(began)
        if task.device.type == "cuda":
            torch.cuda.synchronize()
        self._report(began)
        state.seconds += time.perf_counter() - began
        state.warmed_up = self.schedule.warmed_up

    def _report(self, began: float) -> None:
        log, self.task.log = self.task.log, StepLog()
        means = log.read(self.processes, self.task.device)
        if means.states:
            self.state.states_seen += means.states
            self.tracker.step(self.state.step, means, time.perf_counter() - began)

    def _choose(self) -> None:
        """Score the epoch that has just ended, and keep it where it is the best so far."""
        task, state = self.task, self.state
        with nullcontext() if self.average is None else self.average.applied():
            scores = {name: self._score(task.predict(name), examples) for name, examples in task.dev.items()}
            self.tracker.scores(state.epoch, scores)
            first = scores[self.settings.dev[0]]["bleu4"]
            if first <= state.best["bleu4"]:
                return
            state.best = {"epoch": state.epoch, "bleu4": first, "scores": scores}
            if self.processes.is_main:
                settings = {"system": self.settings.system, "settings": asdict(self.settings)}
                facts = {**settings, "scores": scores, "epoch": state.epoch, **self._measured()}
                task.save(self.out / BEST, facts, write_card(task, facts))

    def _score(self, outputs: Sequence[str], examples: Sequence[Example]) -> dict[str, float]:
        """Return the scores of a dev set, and those of resolving where that is learnt."""
        targets = [example.target or "" for example in examples]
        scores: dict[str, float] = dict(score(outputs, targets).as_dict())
        if self.settings.direction == "resolve":
            scores |= score_resolved([example.question for example in examples], outputs, targets).as_dict()
        return scores

    def _measured(self) -> dict[str, Any]:
        device = self.task.device
        return {
            "parameters": sum(parameter.numel() for parameter in self.task.network.parameters()),
            "train_seconds": round(self.state.seconds, 2),
            "states_per_s": round(self.state.states_per_s, 1),
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        }
