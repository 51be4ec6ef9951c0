"""``riseq simplify --engine ray``: a folder of questions on a cluster."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from riseq.cli.shared import Wishes, count, load_asked, say
from riseq.types import InputError

if TYPE_CHECKING:
    from riseq.cli.files import Handling
    from riseq.scale.run import Run
    from riseq.scale.workers import BlockResult
    from riseq.systems.protocol import System

INCOMPLETE = 4
"""The exit code where blocks could not be done."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How the work is spread over a cluster; None where nothing was said."""

    address: str | None = None
    workers: int | None = None
    gpus: float | None = None
    block_rows: int | None = None
    format: str | None = None

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
    source: str, output: str, wishes: Wishes, handling: Handling, spread: Spread, resume: bool = False
) -> int:
    """Write the results of the files that ``source`` stands for into the folder ``output``; return the exit code."""
    from riseq.scale.run import describe_worker, open_run
    from riseq.scale.storage import display_name

    if handling.strict:
        raise InputError(
            "--strict goes with one process, which reads every row before it begins; not with --engine ray"
        )
    spread.check(wishes.threads)
    wishes = _prepare(wishes, spread.gpus)
    threads = wishes.threads or 1
    settings = wishes.resolve().settings()
    make_system = partial(load_same, wishes, settings)
    shown = display_name(output)
    with open_run(source, output, make_system, settings, threads=threads, resume=resume, **asdict(spread)) as run:
        if run.done:
            say(f"going on after {count(run.done, 'finished row')}")
        if run.missing and not run.has_room:
            worker = describe_worker(threads, spread.gpus)
            say(f"no machine of the cluster has room for a worker with {worker} yet: waiting for one")
        try:
            with closing(_watch(run, wishes.system)) as results:
                for _ in results:
                    pass
        except KeyboardInterrupt:
            say(f"finished blocks are kept in {shown}; the same command with --resume goes on")
            raise
        manifest = run.finish()
    for failure in manifest.failures:
        say(f"{failure['block']}: {count(failure['rows'], 'row')} not done: {failure['reason']}")
    say(f"wrote {count(manifest.written, 'question')} to {shown}")
    if manifest.bad:
        say(f"left out {count(manifest.bad, 'bad row')} of {manifest.rows:,}; the reasons are in {shown}/_bad")
    if manifest.failures:
        say(f"{count(len(manifest.failures), 'block')} not done; the same command with --resume tries again")
        return INCOMPLETE
    return handling.code(manifest.bad)


def load_same(wishes: Wishes, settings: Mapping[str, object]) -> System:
    """Return the system, on whatever machine this is, where it is the one that ``settings`` describe."""
    here = wishes.resolve().settings()
    for name, value in settings.items():
        if here.get(name) != value:
            raise InputError(
                f"the worker on {socket.gethostname()} has another {name} ({here.get(name)}); expected {value}, "
                "as where the run was started"
            )
    return load_asked(wishes)


def _prepare(wishes: Wishes, gpus: float | None) -> Wishes:
    """Return the wishes as they hold on other machines, in other folders, and for one worker of many."""
    if wishes.model is not None and wishes.model.exists():
        wishes = replace(wishes, model=wishes.model.resolve())
    file, colon, name = wishes.system.rpartition(":")
    if colon and Path(file).is_file():
        wishes = replace(wishes, system=f"{os.path.abspath(file)}:{name}")
    if wishes.system != "rise":
        return wishes
    if gpus:
        _check_gpu(wishes)
    return wishes if wishes.threads else replace(wishes, threads=1)


def _check_gpu(wishes: Wishes) -> None:
    from riseq.model.onnx_folder import is_exported, read_exported

    folder = wishes.resolve().model
    if folder is not None and is_exported(folder) and read_exported(folder).precision == "int8":
        raise InputError(f"{folder}: an int8 model runs on the CPU; --gpus goes with a checkpoint or one of float32")


def _watch(run: Run, title: str) -> Generator[BlockResult]:
    from riseq.terminal.progress import report, track

    def rows(result: BlockResult) -> int:
        return result.block.rows

    if sys.stderr.isatty():
        return track(run.results(), run.manifest.rows, title, done=run.done, size=rows)
    return report(run.results(), run.manifest.rows, say, done=run.done, size=rows)
