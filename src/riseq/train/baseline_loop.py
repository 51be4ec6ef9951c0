"""A baseline's training: settings, model card, and epochs over the pairs with their targets given."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from riseq.baselines.tasks import EncoderDecoderTask, LanguageModelTask, Task
from riseq.data.dataset import load_dataset
from riseq.files import replace_file
from riseq.metrics.scores import score
from riseq.model.network import pick_device
from riseq.train.card import describe_choice, describe_licences, lay_out
from riseq.train.corpus import MAX_WORDS, split_pair
from riseq.train.loop import TrainResult
from riseq.train.optimiser import Average, rate_at, set_rates
from riseq.train.prefetch import run_ahead
from riseq.train.random_streams import Stream, derive_seed, make_rng
from riseq.train.resume import BEST, load_progress, open_run, save_progress
from riseq.train.settings import cast_settings, read_values
from riseq.train.states import cut_batches
from riseq.train.tracking import Tracker
from riseq.types import Example, InputError


@dataclass(frozen=True, slots=True)
class BaselineSettings:
    """A baseline's training run; each field's comment is its help text."""

    system: Literal["trans++", "qgdiv", "querysim"]  # whose network and decoding
    # The network
    backbone: str = "weights/gte"  # folder or hub id: an encoder, or for querysim a language model
    decoder_layers: int = 6  # of trans++ and qgdiv, started from the encoder's last ones
    dropout: float = 0.1  # of trans++ and qgdiv
    beams: int = 5  # of qgdiv's beam search; the others decode greedily
    # The data
    train: tuple[str, ...] = ("canard/train.qonly",)  # files, or sets' names under RISEQ_DATA
    dev: tuple[str, ...] = ("canard/dev.qonly",)  # the first one chooses the checkpoint
    limit: int | None = None  # use only the first rows of each file
    # The optimiser
    epochs: int = 6  # copying ones counted
    copy_epochs: int = 0  # first epochs in which the target is the question: for a decoder that is not pretrained
    batch: int = 128  # pairs a step
    lr: float = 1e-4  # peak rate of what is pretrained
    head_lr: float = 4e-4  # of the decoder and what is new
    warmup_steps: int = 100  # steps of linear warm-up
    schedule: Literal["cosine", "constant"] = "cosine"  # after the warm-up; cosine falls to a twentieth
    weight_decay: float = 0.01  # of matrices
    smoothing: float = 0.0  # share of the probability that the target's piece gives to all pieces
    clip: float = 1.0  # the largest norm of a step's gradient
    ema: float = 0.0  # decay of the averaged weights that are scored and kept; 0: none
    # The run
    seed: int = 1  # decides everything random
    device: str = "auto"  # auto, cpu, cuda, cuda:1 ...
    scored_from: int = 1  # the first epoch whose dev scores are taken
    resumable: bool = True  # keep the last finished epoch on disk, to go on from after a kill
    half: bool = False  # store the best model in float16

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch < 1 or self.decoder_layers < 1 or self.beams < 1:
            raise InputError("epochs, batch, decoder_layers and beams are 1 or more")
        if not 0 <= self.copy_epochs < self.epochs:
            raise InputError(f"copy_epochs: {self.copy_epochs}; expected 0 or more, and fewer than epochs")
        if not self.copy_epochs < self.scored_from <= self.epochs:
            raise InputError(f"scored_from: {self.scored_from}; expected after copy_epochs, up to epochs")
        if not self.train or not self.dev:
            raise InputError("train and dev name at least one data set each")
        if self.seed < 0:
            raise InputError("seed is 0 or more")


def baseline_settings(values: Mapping[str, Any], source: str = "settings") -> BaselineSettings:
    """Return the settings of a mapping, every name and type checked."""
    return cast_settings(BaselineSettings, values, source)


def read_baseline_recipe(path: str | Path, overrides: Mapping[str, Any] | None = None) -> BaselineSettings:
    """Return the settings of a baseline's YAML recipe, with ``overrides`` on top."""
    return baseline_settings({**read_values(path), **(overrides or {})}, str(path))


_ABOUT = {
    "trans++": "Trans++ (Vakulenko et al., 2020): an encoder-decoder whose next piece is a learned mixture of "
    "generating, copying from the question and copying from the context; greedy decoding.",
    "qgdiv": "QGDiv (Sultan et al., 2020): an encoder-decoder with beam search.",
    "querysim": "QuerySim (Yu et al., 2020): a language model that writes the conversational question after context "
    "and question; greedy decoding.",
}


def write_baseline_card(facts: Mapping[str, Any]) -> str:
    """Return the model card of a trained baseline as Markdown."""
    settings, system = facts["settings"], facts["system"]
    points = [
        f"Started from `{settings['backbone']}`; {facts['parameters']:,} parameters",
        describe_choice(facts),
        f"Trained on {', '.join(f'`{name}`' for name in settings['train'])}",
        describe_licences(settings),
        f"Use: `riseq evaluate --system {system} --model FOLDER --data FILE`",
    ]
    return lay_out(f"{system}, a baseline", _ABOUT[system], points, facts["scores"])


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
