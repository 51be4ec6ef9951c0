"""A baseline's training: epochs over the pairs with their targets given, the best checkpoint by dev BLEU-4."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from riseq.data.dataset import load_dataset
from riseq.data.sink import replace_file
from riseq.metrics.scores import score
from riseq.model.device import pick_device
from riseq.train.baselines.card import write_baseline_card
from riseq.train.baselines.causal import LanguageModelTask
from riseq.train.baselines.encoder_decoder import EncoderDecoderTask
from riseq.train.baselines.settings import BaselineSettings
from riseq.train.baselines.task import Task
from riseq.train.corpus import MAX_WORDS, split_pair
from riseq.train.feed import run_ahead
from riseq.train.loop import TrainResult
from riseq.train.optimiser import Average, rate_at, set_rates
from riseq.train.resume import BEST, load_progress, open_run, save_progress
from riseq.train.seeds import Stream, derive_seed, make_rng
from riseq.train.states import cut_batches
from riseq.train.tracking import Tracker
from riseq.types import Example, InputError

POOLED = 64
"""Batches that are sorted by length together: more would make their order less random, fewer their padding larger."""


def train_baseline(
    settings: BaselineSettings, out: str | Path, resume: bool = False, tracker: Tracker | None = None
) -> TrainResult:
    """Train a baseline into ``out/best`` and return how it did; ``resume`` goes on from ``out/last``.

    One process trains it. Batches follow from the seed and the epoch, so a resumed run ends as the whole one does.
    """
    out = Path(out)
    open_run(out, resume)
    torch.manual_seed(settings.seed)
    examples = gather_pairs(settings)
    build = LanguageModelTask if settings.system == "querysim" else EncoderDecoderTask
    task = build(settings, examples, pick_device(settings.device))
    dev = {name: load_dataset(name, need_target=True)[: settings.limit] for name in settings.dev}
    with closing(tracker or Tracker(out)) as told:
        run = _Run(settings, task, dev, out, _fingerprint(settings, examples), told)
        if resume:
            run.resume()
        return run.go()


def gather_pairs(settings: BaselineSettings) -> list[Example]:
    """Return the training pairs: those with a context and a target, neither side longer than RISE's."""
    rows = [e for name in settings.train for e in load_dataset(name)[: settings.limit] if e.context and e.target]
    kept = [e for e in rows if max(map(len, split_pair(e))) <= MAX_WORDS + 1]
    if not kept:
        raise InputError(f"{', '.join(settings.train)}: no pair with a context and a target to learn from")
    return kept


def build_plain_optimiser(task: Task, settings: BaselineSettings) -> torch.optim.AdamW:
    """Return AdamW with one rate for what is pretrained and one for the rest; vectors do not decay."""
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in task.network.named_parameters():
        rate = settings.lr if task.is_pretrained(name) else settings.head_lr
        decay = settings.weight_decay if parameter.dim() > 1 else 0.0
        groups.setdefault((rate, decay), []).append(parameter)
    return torch.optim.AdamW(
        [{"params": p, "lr": lr, "weight_decay": wd, "peak": lr} for (lr, wd), p in groups.items()],
        betas=(0.9, 0.98),
        eps=1e-6,
        fused=task.device.type == "cuda",
    )


class _Run:
    def __init__(
        self,
        settings: BaselineSettings,
        task: Task,
        dev: dict[str, list[Example]],
        out: Path,
        fingerprint: str,
        tracker: Tracker,
    ) -> None:
        self.settings, self.task, self.dev, self.out = settings, task, dev, out
        self.fingerprint, self.tracker = fingerprint, tracker
        self.optimiser = build_plain_optimiser(task, settings)
        self.average = Average(task.network, settings.ema) if settings.ema else None
        self.epoch, self.step = 0, 0
        self.best: dict[str, Any] = {"epoch": -1, "bleu4": -1.0, "scores": {}}
        self.pairs_seen, self.seconds = 0, 0.0

    def resume(self) -> None:
        found = load_progress(self.out, self.fingerprint, self.task.network, self.optimiser, self.average)
        if found is not None:
            self.epoch, self.step, self.best = found["epoch"], found["step"], found["best"]
            self.pairs_seen, self.seconds = found["pairs_seen"], found["seconds"]
        self.tracker.rewind(self.step, self.epoch)

    def go(self) -> TrainResult:
        while self.epoch < self.settings.epochs:
            self._run_epoch()
            if self.epoch + 1 >= self.settings.scored_from:
                self._choose()
            self.epoch += 1
            if self.settings.resumable:
                state = {"epoch": self.epoch, "step": self.step, "best": self.best}
                state |= {"pairs_seen": self.pairs_seen, "seconds": self.seconds}
                save_progress(self.out, self.fingerprint, self.task.network, self.optimiser, self.average, state)
        _add_facts(self.out / BEST / "config.json", self._measured())
        return TrainResult(self.out / BEST, self.best["epoch"], self.best["scores"], self._rate())

    def _run_epoch(self) -> None:
        settings, task, epoch = self.settings, self.task, self.epoch
        torch.manual_seed(derive_seed(settings.seed, Stream.NETWORK, epoch, 0))
        rng = make_rng(settings.seed, Stream.EPOCH, epoch)
        batches = cut_batches(task.lengths, settings.batch, rng, POOLED)
        steps = max(1, len(batches) * settings.epochs)
        copy = epoch < settings.copy_epochs

        def prepared() -> Iterator[tuple[Any, int]]:
            for index in batches:
                yield task.prepare(index, copy), len(index)

        task.network.train()
        self.tracker.start_epoch(epoch, settings.epochs, len(batches))
        began = time.perf_counter()
        losses: list[Tensor] = []
        pairs = 0
        for batch, count in run_ahead(prepared()):
            set_rates(self.optimiser, rate_at(self.step, steps, settings))
            with self._autocast():
                loss = task.loss(batch)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(task.network.parameters(), settings.clip, foreach=True)
            self.optimiser.step()
            self.optimiser.zero_grad(set_to_none=True)
            if self.average is not None:
                self.average.update()
            losses.append(loss.detach())
            pairs += count
            self.pairs_seen += count
            self.step += 1
            if self.tracker.wants(self.step):
                self._report(losses, pairs, began)
                losses, pairs = [], 0
        self._report(losses, pairs, began)
        self.seconds += time.perf_counter() - began

    def _report(self, losses: list[Tensor], pairs: int, began: float) -> None:
        if losses:
            mean = float(torch.stack(losses).mean())  # waits for the device
            self.tracker.step(self.step, loss=mean, states=pairs, elapsed=time.perf_counter() - began)

    def _autocast(self) -> AbstractContextManager[object]:
        if self.task.device.type == "cuda":
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def _choose(self) -> None:
        """Score the epoch and keep it where it is the best so far."""
        with self._averaged():
            scores = {name: _score(self.task, rows) for name, rows in self.dev.items()}
            self.tracker.scores(self.epoch + 1, scores)
            first = scores[self.settings.dev[0]]["bleu4"]
            if first > self.best["bleu4"]:
                self.best = {"epoch": self.epoch + 1, "bleu4": first, "scores": scores}
                facts = {
                    "system": self.settings.system,
                    "settings": asdict(self.settings),
                    "scores": scores,
                    "epoch": self.epoch + 1,
                    **self._measured(),
                }
                self.task.save(self.out / BEST, facts, write_baseline_card(facts))

    @contextlib.contextmanager
    def _averaged(self) -> Iterator[None]:
        """Let the averaged weights take the network's place while the block runs."""
        if self.average is not None:
            self.average.swap()
        try:
            yield
        finally:
            if self.average is not None:
                self.average.swap()

    def _measured(self) -> dict[str, Any]:
        device = self.task.device
        return {
            "parameters": sum(parameter.numel() for parameter in self.task.network.parameters()),
            "train_seconds": round(self.seconds, 2),
            "states_per_s": round(self._rate(), 1),
            "device": torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        }

    def _rate(self) -> float:
        return self.pairs_seen / self.seconds if self.seconds else 0.0


def _score(task: Task, rows: Sequence[Example]) -> dict[str, float]:
    return score(task.write(rows), [row.target or "" for row in rows]).as_dict()


def _add_facts(path: Path, facts: dict[str, Any]) -> None:
    """Put what the whole run measured into the best model's config."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config.get("riseq", config).update(facts)
    with replace_file(path) as out:
        out.write((json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode())


def _fingerprint(settings: BaselineSettings, examples: Sequence[Example]) -> str:
    decisive = {name: value for name, value in asdict(settings).items() if name not in ("resumable", "half")}
    digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode())
    for example in examples:
        digest.update(json.dumps([example.context, example.question, example.target]).encode())
    return digest.hexdigest()[:16]
