"""``riseq simplify --engine ray``: a folder of questions on a cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riseq.cli.shared import SystemChoice, count, notify, show_progress
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.cli.simplify import Handling
    from riseq.scale.run import Run
    from riseq.scale.workers import BlockResult
    from riseq.systems.protocol import System

INCOMPLETE = 4
"""The exit code where blocks could not be done."""


def _option(metavar: str, text: str) -> Any:
    return field(default=None, metadata={"metavar": metavar, "help": text})


@dataclass(frozen=True, slots=True)
class Spread:
    """How the work is spread over a cluster; None where nothing was said."""

    address: str | None = _option("HOST:PORT", "The Ray cluster; a new one here where it is not said.")
    workers: int | None = _option("N", "With ray, N engines; as many as fit where it is not said.")
    gpus: float | None = _option("SHARE", "With ray, how much of a GPU each worker has: 1, 0.25.")
    block_rows: int | None = _option("N", "With ray, rows of each file of results: 2048.")
    format: str | None = _option("NAME", "With ray, parquet or jsonl; parquet where not said.")

    def check(self, threads: int | None) -> None:
        """Raise what is wrong with the values."""
        from riseq.scale.run import FORMATS

        for name, value in (("workers", self.workers), ("block-rows", self.block_rows), ("threads", threads)):
            if value is not None and value < 1:
                raise InputError(f"--{name}: got {value}, expected 1 or more")
        if self.gpus and (self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus))):
            raise InputError(f"--gpus: got {self.gpus:g}, expected a share of one GPU, or a whole number of them")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"--format: got {self.format!r}, expected {' or '.join(FORMATS)}")

    def check_unset(self) -> None:
        """Raise where anything is set, for it goes with a cluster alone."""
        for name, value in asdict(self).items():
            if value is not None:
                raise InputError(f"--{name.replace('_', '-')} goes with --engine ray")


def simplify_folder(
    source: str, output: str, choice: SystemChoice, handling: Handling, spread: Spread, resume: bool = False
) -> int:
    """Write the results of the files that ``source`` stands for into the folder ``output``; return the exit code."""
    from riseq.scale.run import describe_worker, open_run
    from riseq.scale.storage import display_name

    if handling.strict:
        raise InputError(
            "--strict goes with one process, which reads every row before it begins; not with --engine ray"
        )
    spread.check(choice.threads)
    choice = _prepare(choice, spread.gpus)
    threads = choice.threads or 1
    settings = choice.resolve().settings()
    make_system = partial(load_same, choice, settings)
    shown = display_name(output)
    with open_run(source, output, make_system, settings, threads=threads, resume=resume, **asdict(spread)) as run:
        if run.done:
            notify(f"going on after {count(run.done, 'finished row')}")
        if run.missing and not run.has_room:
            worker = describe_worker(threads, spread.gpus)
            notify(f"no machine of the cluster has room for a worker with {worker} yet: waiting for one")
        try:
            with closing(_watch(run, choice.system)) as results:
                for _ in results:
                    pass
        except KeyboardInterrupt:
            notify(f"finished blocks are kept in {shown}; the same command with --resume goes on")
            raise
        manifest = run.finish()
    for failure in manifest.failures:
        notify(f"{failure['block']}: {count(failure['rows'], 'row')} not done: {failure['reason']}")
    notify(f"wrote {count(manifest.written, 'question')} to {shown}")
    if manifest.bad:
        notify(f"left out {count(manifest.bad, 'bad row')} of {manifest.rows:,}; the reasons are in {shown}/_bad")
    if manifest.failures:
        notify(f"{count(len(manifest.failures), 'block')} not done; the same command with --resume tries again")
        return INCOMPLETE
    return handling.code(manifest.bad)


def load_same(choice: SystemChoice, settings: Mapping[str, object]) -> System:
    """Return the system, on whatever machine this is, where it is the one that ``settings`` describe."""
    here = choice.resolve().settings()
    for name, value in settings.items():
        if here.get(name) != value:
            raise InputError(
                f"the worker on {socket.gethostname()} has another {name} ({here.get(name)}); expected {value}, "
                "as where the run was started"
            )
    return choice.load()


def _prepare(choice: SystemChoice, gpus: float | None) -> SystemChoice:
    """Return the choice as it holds on other machines, in other folders, and for one worker of many."""
    if choice.model is not None and choice.model.exists():
        choice = replace(choice, model=choice.model.resolve())
    file, colon, name = choice.system.rpartition(":")
    if colon and Path(file).is_file():
        choice = replace(choice, system=f"{os.path.abspath(file)}:{name}")
    if choice.system != "rise":
        return choice
    if gpus:
        _check_gpu(choice)
    return choice if choice.threads else replace(choice, threads=1)


def _check_gpu(choice: SystemChoice) -> None:
    from riseq.model.folder import is_exported, load_exported

    folder = choice.resolve().model
    if folder is not None and is_exported(folder) and load_exported(folder).precision == "int8":
        raise InputError(f"{folder}: an int8 model runs on the CPU; --gpus goes with a checkpoint or one of float32")


def _watch(run: Run, title: str) -> Generator[BlockResult]:
    return show_progress(run.results(), run.manifest.rows, title, run.done, size=lambda result: result.block.rows)
