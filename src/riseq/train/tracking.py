"""What a run shows while it goes and leaves in its folder: logs, progress to resume from, its model card."""

import csv
import hashlib
import importlib.util
import io
import json
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from riseq.files import make_folder, recover_folder, write_json, write_text
from riseq.model.card import SHARED_ALIKE, make_metadata, name_licences, replace_metadata
from riseq.terminal.results import SCORE_TITLES, score_digits
from riseq.train.optimiser import Average, load_optimiser, optimiser_tensors
from riseq.train.settings import TrainSettings
from riseq.train.task import StepMeans, Task
from riseq.types import Example, InputError

LAST, BEST, PROGRESS = "last", "best", "progress.json"
LOGS = ("log.csv", "scores.csv")
FORMAT = 2  # of what ``last`` holds; 1 had a schedule that began anew with each epoch
COLUMNS = ("step", "epoch", "loss", "reward", "edited", "states_per_s", "sampling_share", "elapsed")


class Tracker:
    """Progress on the terminal, ``log.csv`` (a row ``every`` so many steps) and ``scores.csv`` in the run's folder."""

    def __init__(self, out: Path, quiet: bool = False, every: int = 20) -> None:
        self.out, self.quiet, self.every = out, quiet, every
        self.console = Console(stderr=True)
        self.progress: Progress | None = None
        self.epoch = 0
        self.board: Any = None
        if not quiet:
            out.mkdir(parents=True, exist_ok=True)
            if importlib.util.find_spec("tensorboard") is not None:
                from torch.utils.tensorboard.writer import SummaryWriter

                self.board = SummaryWriter(str(out / "tensorboard"))

    def rewind(self, step: int, epoch: int) -> None:
        """Drop the rows after ``step`` and ``epoch``, where a resumed run goes on: they will be written again."""
        for name, column, last in (("log.csv", "step", step), ("scores.csv", "epoch", epoch)):
            path = self.out / name
            if self.quiet or not path.is_file():
                continue
            with path.open(newline="", encoding="utf-8") as f:
                header, *rows = list(csv.reader(f)) or [[]]
            # A kill can cut the last row short.
            kept = [row for row in rows if len(row) == len(header) and int(row[header.index(column)]) <= last]
            text = io.StringIO(newline="")
            csv.writer(text).writerows([header, *kept] if header else [])
            write_text(path, text.getvalue())

    def start_epoch(self, epoch: int, epochs: int, steps: int) -> None:
        """Begin the bar of an epoch."""
        self.epoch, self.last_elapsed = epoch, 0.0
        if self.quiet:
            return
        self._stop_bar()
        epoch_text, message = TextColumn("epoch {task.fields[epoch]}"), TextColumn("{task.fields[message]}")
        columns = epoch_text, BarColumn(), MofNCompleteColumn(), message, TimeRemainingColumn()
        self.progress = Progress(*columns, console=self.console, disable=not sys.stderr.isatty())
        self.progress.start()
        self.bar = self.progress.add_task("train", total=steps, epoch=f"{epoch + 1}/{epochs}", message="")
        self.first_step: int | None = None

    def step(self, step: int, means: StepMeans, elapsed: float) -> None:
        """Report the steps since the last report; what a method does not measure stays empty."""
        if self.quiet:
            return
        loss, reward, edited = means.loss, means.reward, means.edited
        passed = max(1e-9, elapsed - self.last_elapsed)
        self.last_elapsed = elapsed
        rate = means.states / passed
        share = None if means.sampling_s is None else means.sampling_s / passed
        first, second, third = ("" if value is None else f"{value:.4f}" for value in (reward, edited, share))
        numbers = (f"{loss:.6f}", first, second, f"{rate:.0f}", third, f"{elapsed:.2f}")
        self._append("log.csv", COLUMNS, (step, self.epoch + 1, *numbers))
        if self.board is not None:
            for name, value in (("loss", loss), ("reward", reward), ("edited", edited), ("states_per_s", rate)):
                if value is not None:
                    self.board.add_scalar(f"train/{name}", value, step)
        if self.progress is not None:
            if self.first_step is None:
                self.first_step = step - min(step, self.every)
            rewarded = "" if reward is None else f" reward {reward:.3f}"
            message = f"loss {loss:.3f}{rewarded} {rate:,.0f} states/s"
            self.progress.update(self.bar, completed=step - self.first_step, message=message)

    def scores(self, epoch: int, scores: dict[str, dict[str, float]]) -> None:
        """Report the dev scores after an epoch."""
        if self.quiet:
            return
        self._stop_bar()
        for name, found in scores.items():
            shown_keys = ("bleu4", "rougeL", "cider", "exact", "term_f1", "unchanged")
            main = {key: found[key] for key in shown_keys if key in found}
            shown = "  ".join(f"{key} {value:.2f}" for key, value in main.items())
            self.console.print(f"epoch {epoch}  {name}  {shown}", highlight=False)
            self._append("scores.csv", ("epoch", "data", *found), (epoch, name, *(f"{v:.4f}" for v in found.values())))
            if self.board is not None:
                for key, value in main.items():
                    self.board.add_scalar(f"{name}/{key}", value, epoch)

    def close(self) -> None:
        """End the bar and the files."""
        self._stop_bar()
        if self.board is not None:
            self.board.close()

    def _stop_bar(self) -> None:
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def _append(self, name: str, header: tuple[str, ...], row: tuple[object, ...]) -> None:
        path = self.out / name
        is_new = not path.exists() or not path.stat().st_size
        with path.open("a", newline="", encoding="utf-8") as f:
            csv.writer(f).writerows([header, row] if is_new else [row])


@dataclass(slots=True)
class RunState:
    """Where a run stands after its last finished epoch."""

    epoch: int = 0
    scored: int = 0
    """The last epoch that was scored where that was wanted: this one, or the one before it."""
    step: int = 0
    warmed_up: float = 0.0  # see Schedule
    states_seen: int = 0
    seconds: float = 0.0
    best: dict[str, Any] = field(default_factory=lambda: {"epoch": -1, "bleu4": -1.0, "scores": {}})

    @property
    def states_per_s(self) -> float:
        """How many states a second the run has learnt from so far."""
        return self.states_seen / self.seconds if self.seconds else 0.0


def open_run(out: Path, resume: bool) -> None:
    """Make sure that a run may write to ``out``: it is new, or ``resume`` goes on there; clear what a kill left."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file, expected the run's folder")
    found = [name for name in (LAST, BEST, *LOGS) if (out / name).exists()]
    if found and not resume:
        raise InputError(f"{out}: holds a run already ({', '.join(found)}); resume it, or train into another folder")
    for name in (LAST, BEST):
        if resume:
            recover_folder(out / name)
        for half in out.glob(f".{name}.*"):
            shutil.rmtree(half, ignore_errors=True)


@dataclass(slots=True)
class SavedEpoch:
    """The last finished epoch on disk, in the folder ``last`` of a run: what is trained and how."""

    folder: Path
    task: Task
    optimiser: torch.optim.Optimizer
    average: Average | None

    def save(self, state: RunState) -> None:
        """Write the folder whole: weights, optimiser, averaged weights, and where the run stands."""
        tensors = {f"network.{k}": v.detach().cpu().clone() for k, v in self.task.network.state_dict().items()}
        tensors |= {f"optimiser.{k}": v for k, v in optimiser_tensors(self.optimiser).items()}
        if self.average is not None:
            tensors |= {f"average.{k}": v.cpu() for k, v in enumerate(self.average.kept)}
        with make_folder(self.folder) as work:
            save_file(tensors, work / "state.safetensors")
            write_json(work / PROGRESS, self._describe(state))

    def note(self, state: RunState) -> None:
        """Write down where the run stands; the weights are still those that were saved."""
        write_json(self.folder / PROGRESS, self._describe(state))

    def _describe(self, state: RunState) -> dict[str, Any]:
        found = {"fingerprint": self.task.fingerprint, **asdict(state)}
        return found if self.average is None else {**found, "average_steps": self.average.steps}

    def load(self) -> RunState:
        """Put back what the folder holds and return where the run stands: at its beginning where it holds nothing."""
        if not (self.folder / PROGRESS).is_file():
            return RunState()
        found: dict[str, Any] = json.loads((self.folder / PROGRESS).read_text(encoding="utf-8"))
        made, now = found.pop("fingerprint"), self.task.fingerprint
        if made != now:
            raise InputError(
                f"{self.folder}: made with other data, phrases or settings (fingerprint {made}, "
                f"now {now}); resume with the same ones or train into another folder"
            )
        try:
            tensors = load_file(self.folder / "state.safetensors")
        except (OSError, SafetensorError) as error:
            unread = f"{self.folder}: state.safetensors cannot be read"
            raise InputError(f"{unread} ({error}); train into another folder") from error
        parts: dict[str, dict[str, torch.Tensor]] = {"network": {}, "optimiser": {}, "average": {}}
        for key, tensor in tensors.items():
            part, _, name = key.partition(".")
            parts[part][name] = tensor
        self.task.network.load_state_dict(parts["network"])
        load_optimiser(self.optimiser, parts["optimiser"])
        if self.average is not None:
            self.average.steps = found.pop("average_steps")
            for number, kept in enumerate(self.average.kept):
                kept.copy_(parts["average"][str(number)])
        found.setdefault("scored", found["epoch"])  # a run of before this was written down
        return RunState(**found)


def make_fingerprint(settings: TrainSettings, examples: Iterable[Example], more: Iterable[str] = ()) -> str:
    """Return what changes with the settings, the examples and ``more`` that decide a run's result."""
    # How many threads sample, how a model is stored and whether a run can be resumed change nothing in its result.
    decisive = {k: v for k, v in asdict(settings).items() if k not in ("workers", "half", "resumable")}
    digest = hashlib.sha256(json.dumps([FORMAT, decisive], sort_keys=True).encode())
    for example in examples:
        digest.update(json.dumps([example.context, example.question, example.target]).encode())
    for line in more:
        digest.update(line.encode())
    return digest.hexdigest()[:16]


def add_facts(path: Path, facts: Mapping[str, Any]) -> None:
    """Put what the whole run measured into its best model's ``config.json``; a language model has a part of ours."""
    config = json.loads(path.read_text(encoding="utf-8"))
    config.get("riseq", config).update(facts)
    write_json(path, config)


def write_card(task: Task, facts: Mapping[str, Any]) -> str:
    """Return the model card of a task's model as Markdown, with metadata for the Hugging Face hub at its top."""
    settings = facts["settings"]
    everyday, conditioned = settings.get("everyday", ()), settings.get("with_truth", ())
    learnt, chosen_by = [*settings["train"], *conditioned, *everyday], settings["dev"][0]
    found = name_licences(settings)
    licences = "; ".join(found) or "those of the named files"
    shared = " The model is shared alike: CC BY-SA 4.0." if any(SHARED_ALIKE in text for text in found) else ""
    trained_on = ", ".join(f"`{name}`" for name in learnt)
    made = "\n- The everyday dialogues are synthetic: a language model wrote them, and nobody looked up their facts"
    rows = ""
    for name, scores in facts["scores"].items():
        numbers = (f"{scores[key]:{score_digits(key)}}" for key in SCORE_TITLES)
        rows += f"| {name} | {int(scores['n'])} | {' | '.join(numbers)} |\n"
    body = f"""# {task.title}

{task.about}

- {task.made_from}; {facts["parameters"]:,} parameters
- Seed {settings["seed"]}, epoch {facts["epoch"]} of {settings["epochs"]}, chosen by BLEU-4 on `{chosen_by}`
- Trained on {trained_on}; files named `qonly` have contexts of questions alone{made if everyday else ""}
- Data licences: {licences}.{shared}
- Use: `riseq evaluate --system {facts["system"]} --model FOLDER --data FILE`

| data | n | B-1 | B-2 | B-3 | B-4 | R-L | CIDEr | exact |
|---|---|---|---|---|---|---|---|---|
{rows}
Scores are in the paper's form: lower-cased word pieces cut to 30, COCO-caption metrics, percent but CIDEr.
"""
    return replace_metadata(body, make_metadata(facts))
