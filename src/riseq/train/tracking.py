"""What a run tells while it goes: a progress bar, a CSV file, and TensorBoard where it is installed."""

from __future__ import annotations

import csv
import importlib.util
import io
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from riseq.files import replace_file

COLUMNS = ("step", "epoch", "loss", "reward", "edited", "states_per_s", "sampling_share", "elapsed")


class Tracker:
    """Progress on the terminal, ``log.csv`` and ``scores.csv`` in the run's folder."""

    def __init__(self, out: Path, quiet: bool = False, every: int = 20) -> None:
        self.out, self.quiet, self.every = out, quiet, every
        self.console = Console(stderr=True)
        self.progress: Progress | None = None
        self.epoch, self.states = 0, 0
        self.board: Any = None
        if not quiet:
            out.mkdir(parents=True, exist_ok=True)
            if importlib.util.find_spec("tensorboard") is not None:
                from torch.utils.tensorboard.writer import SummaryWriter

                self.board = SummaryWriter(str(out / "tensorboard"))

    def rewind(self, step: int, epoch: int) -> None:
        """Forget what was told after ``step`` and ``epoch``, where a resumed run goes on: it will be told again."""
        if not self.quiet:
            for name, column, last in (("log.csv", "step", step), ("scores.csv", "epoch", epoch)):
                _keep_rows(self.out / name, column, last)

    def wants(self, step: int) -> bool:
        """Whether this step is told."""
        return step % self.every == 0

    def start_epoch(self, epoch: int, epochs: int, steps: int) -> None:
        """Begin the bar of an epoch."""
        self.epoch, self.states, self.last_elapsed, self.last_sampling = epoch, 0, 0.0, 0.0
        if self.quiet:
            return
        self._stop_bar()
        self.progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[told]}"),
            TimeRemainingColumn(),
            console=self.console,
            disable=not sys.stderr.isatty(),
        )
        self.progress.start()
        self.bar = self.progress.add_task("train", total=steps, epoch=f"{epoch + 1}/{epochs}", told="")
        self.first_step: int | None = None

    def step(
        self,
        step: int,
        *,
        loss: float,
        states: int,
        elapsed: float,
        reward: float | None = None,
        edited: float | None = None,
        sampling_s: float | None = None,
    ) -> None:
        """Tell how the steps since the last telling went; a method without rewards or samples leaves those out."""
        if self.quiet:
            return
        self.states += states
        passed = max(1e-9, elapsed - self.last_elapsed)
        self.last_elapsed = elapsed
        rate, share = states / passed, None if sampling_s is None else sampling_s / passed
        row = (
            step,
            self.epoch + 1,
            f"{loss:.6f}",
            _cell(reward),
            _cell(edited),
            f"{rate:.0f}",
            _cell(share),
            f"{elapsed:.2f}",
        )
        self._append("log.csv", COLUMNS, row)
        if self.board is not None:
            for name, value in (("loss", loss), ("reward", reward), ("edited", edited), ("states_per_s", rate)):
                if value is not None:
                    self.board.add_scalar(f"train/{name}", value, step)
        if self.progress is not None:
            if self.first_step is None:
                self.first_step = step - min(step, self.every)
            rewarded = "" if reward is None else f" reward {reward:.3f}"
            told = f"loss {loss:.3f}{rewarded} {rate:,.0f} states/s"
            self.progress.update(self.bar, completed=step - self.first_step, told=told)

    def scores(self, epoch: int, scores: dict[str, dict[str, float]]) -> None:
        """Tell the dev scores after an epoch."""
        if self.quiet:
            return
        self._stop_bar()
        for name, found in scores.items():
            told = "  ".join(f"{k} {found[k]:.2f}" for k in ("bleu4", "rougeL", "cider", "exact"))
            self.console.print(f"epoch {epoch}  {name}  {told}", highlight=False)
            self._append("scores.csv", ("epoch", "data", *found), (epoch, name, *(f"{v:.4f}" for v in found.values())))
            if self.board is not None:
                for key in ("bleu4", "rougeL", "cider", "exact"):
                    self.board.add_scalar(f"{name}/{key}", found[key], epoch)

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
        new = not path.exists() or not path.stat().st_size
        with path.open("a", newline="", encoding="utf-8") as f:
            writer = csv.writer(f)
            if new:
                writer.writerow(header)
            writer.writerow(row)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _keep_rows(path: Path, column: str, last: int) -> None:
    """Leave only the rows whose ``column`` is at most ``last`` in a CSV file, in one move."""
    if not path.is_file():
        return
    with path.open(newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    text = io.StringIO(newline="")
    if rows:
        header = rows[0]
        place = header.index(column)
        # A kill can cut the last row short.
        kept = [row for row in rows[1:] if len(row) == len(header) and int(row[place]) <= last]
        csv.writer(text).writerows([header, *kept])
    with replace_file(path) as out:
        out.write(text.getvalue().encode())
