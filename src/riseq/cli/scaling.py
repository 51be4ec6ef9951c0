"""``riseq simplify --engine ray``: a folder of questions on a cluster."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from riseq.cli.shared import Wishes, count, load_asked, say
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.cli.files import Handling
    from riseq.scale.run import Run
    from riseq.scale.worker import Receipt
    from riseq.systems.protocol import System

INCOMPLETE = 4
"""The exit code where blocks could not be done."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How the work is spread; None where nothing was said."""

    address: str | None = None
    workers: int | None = None
    gpus: float | None = None
    block_rows: int | None = None
    format: str | None = None

    def check_unsaid(self) -> None:
        """Raise where something was said, for only a cluster can be told so."""
        for name in self.__slots__:
            if getattr(self, name) is not None:
                raise InputError(f"--{name.replace('_', '-')} goes with --engine ray")


def simplify_folder(
    source: str, output: str, wishes: Wishes, handling: Handling, spread: Spread, resume: bool = False
) -> int:
    """Write the results of the files that ``source`` stands for into the folder ``output``; return the exit code."""
    from riseq.scale.run import Job, open_run
    from riseq.scale.storage import show_name

    if handling.strict:
        raise InputError(
            "--strict goes with one process, which reads every row before it begins; not with --engine ray"
        )
    wishes = _prepare(wishes, spread.gpus or 0.0)
    settings = wishes.resolve().settings()
    job = Job(
        source,
        output,
        partial(load_same, wishes, settings),
        settings,
        spread.format,
        spread.block_rows,
        spread.address,
        spread.workers,
        wishes.threads or 1,
        spread.gpus or 0.0,
        resume,
    )
    place = show_name(output)
    with open_run(job) as run:
        if run.done:
            say(f"going on after {count(run.done, 'finished row')}")
        if run.missing and not run.has_room:
            say(f"no machine of the cluster has room for a worker with {job.share} yet: waiting for one")
        try:
            with closing(_watch(run, wishes.system)) as receipts:
                for _ in receipts:
                    pass
        except KeyboardInterrupt:
            say(f"finished blocks are kept in {place}; the same command with --resume goes on")
            raise
        summary = run.finish()
    for failure in summary.failures:
        say(f"{failure.block}: {count(failure.rows, 'row')} not done: {failure.reason}")
    say(f"wrote {count(summary.written, 'question')} to {place}")
    if summary.bad:
        say(f"left out {count(summary.bad, 'bad row')} of {summary.rows:,}; the reasons are in {place}/_bad")
    if summary.failures:
        say(f"{count(len(summary.failures), 'block')} not done; the same command with --resume tries again")
        return INCOMPLETE
    return handling.code(summary.bad)


def load_same(wishes: Wishes, settings: Mapping[str, object]) -> System:
    """Return the system, on whatever machine this is, where it is the one that ``settings`` tell of."""
    here = wishes.resolve().settings()
    for name, value in settings.items():
        if here.get(name) != value:
            raise InputError(
                f"the worker on {socket.gethostname()} has another {name} ({here.get(name)}); expected {value}, "
                "as where the run was started"
            )
    return load_asked(wishes)


def _prepare(wishes: Wishes, gpus: float) -> Wishes:
    """Return the wishes as they hold on other machines, in other folders, and for one worker of many."""
    if wishes.model is not None and wishes.model.exists():
        wishes = replace(wishes, model=wishes.model.resolve())
    place, colon, name = wishes.system.rpartition(":")
    if colon and Path(place).is_file():
        wishes = replace(wishes, system=f"{os.path.abspath(place)}:{name}")
    if wishes.system != "rise":
        return wishes
    if gpus:
        _check_gpu(wishes)
    return wishes if wishes.threads else replace(wishes, threads=1)


def _check_gpu(wishes: Wishes) -> None:
    from riseq.model.folder import is_exported, load_exported

    folder = wishes.resolve().model
    if folder is not None and is_exported(folder) and load_exported(folder).precision == "int8":
        raise InputError(f"{folder}: an int8 model runs on the CPU; --gpus goes with a checkpoint or one of float32")


def _watch(run: Run, title: str) -> Generator[Receipt]:
    from riseq.terminal.progress import report, track

    def rows(receipt: Receipt) -> int:
        return receipt.rows

    if sys.stderr.isatty():
        return track(run.receipts(), run.rows, title, done=run.done, size=rows)
    return report(run.receipts(), run.rows, say, done=run.done, size=rows)
