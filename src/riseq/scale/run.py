"""A run: a folder of questions in, a folder of results out, by the workers of a Ray cluster."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from riseq.jobs import check_same
from riseq.scale.blocks import Block, Cut, cut_file
from riseq.scale.cluster import connect, has_room, import_ray
from riseq.scale.manifest import MANIFEST, SETTINGS, read_manifest
from riseq.scale.storage import Folder, Source, find_folder, find_sources
from riseq.scale.worker import BAD, Input, Receipt, Worker
from riseq.systems.protocol import System
from riseq.types import InputError

BLOCK_ROWS = 2_048
"""Rows of a block: two of the engine's windows, half a minute of work for one core, and all a killed worker loses."""
FORMATS = ("parquet", "jsonl")


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done, and by whom."""

    source: str
    output: str
    make_system: Callable[[], System]
    """Makes a worker's engine, on the worker's machine."""
    settings: Mapping[str, object]
    """Everything that decides what becomes of a question, as JSON has it."""
    format: str | None = None
    block_rows: int | None = None
    address: str | None = None
    workers: int | None = None
    """All that fit on the cluster where it is None."""
    threads: int = 1
    gpus: float = 0.0
    """How much of a GPU each worker has."""
    resume: bool = False

    @property
    def on_a_cluster(self) -> bool:
        """Whether a cluster is named, which may grow: machines are added to some when they are asked for."""
        return bool(self.address or os.environ.get("RAY_ADDRESS"))

    @property
    def share(self) -> str:
        """What a worker has, in words."""
        cores = f"{self.threads} core{'s' if self.threads > 1 else ''}"
        gpus = f"{self.gpus:g} of a GPU" if self.gpus < 1 else f"{self.gpus:g} GPU{'s' if self.gpus > 1 else ''}"
        return f"{cores} and {gpus}" if self.gpus else cores

    def check(self) -> None:
        """Raise what is wrong with the numbers."""
        for name, value in (
            ("--workers", self.workers),
            ("--block-rows", self.block_rows),
            ("--threads", self.threads),
        ):
            if value is not None and value < 1:
                raise InputError(f"{name}: got {value}, expected 1 or more")
        if self.gpus < 0 or (self.gpus > 1 and self.gpus != int(self.gpus)):
            raise InputError(f"--gpus: got {self.gpus:g}, expected a share of one GPU, or a whole number of them")
        if self.format is not None and self.format not in FORMATS:
            raise InputError(f"--format: got {self.format!r}, expected {' or '.join(FORMATS)}")


@dataclass(frozen=True, slots=True)
class Failure:
    """A block without output."""

    block: str
    rows: int
    reason: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What is in the output when a run has ended."""

    rows: int
    """The rows of the input, all of them."""
    written: int
    bad: int
    failures: tuple[Failure, ...]


@contextmanager
def open_run(job: Job) -> Iterator[Run]:
    """Give the run of ``job``, with its cluster and its input cut into blocks; nothing is simplified yet."""
    job.check()
    import_ray()
    output = find_folder(job.output)
    # Results may lie below the questions, and are none of them.
    sources = [one for one in find_sources(job.source) if not one.path.startswith(f"{output.path}/")]
    if not sources:
        raise InputError(f"{job.source}: has nothing but what is in {job.output}, which is for the results")
    before = read_manifest(output, job.resume)
    said = before[SETTINGS] if before else {}
    rows = int(job.block_rows or said.get("block-rows") or BLOCK_ROWS)
    kind = str(job.format or said.get("format") or FORMATS[0])
    with connect(job.address, job.workers * job.threads if job.workers else None) as ray:
        if not job.on_a_cluster and not has_room(ray, job.threads, job.gpus):
            raise InputError(f"this machine has no room for a worker with {job.share}; ask for less, or for a cluster")
        cuts = _cut_all(ray, sources, rows)
        contents = hashlib.sha256("\n".join(cut.digest for cut in cuts).encode()).hexdigest()[:16]
        settings = {"input": contents, **job.settings, "block-rows": rows, "format": kind}
        if before:
            check_same(f"{output.name}: its blocks", said, settings, "delete the folder to start again")
        output.make()
        output.sweep()
        run = Run(job, ray, output, sources, cuts, f".{kind}", settings, before or {})
        try:
            yield run
        except BaseException:
            run.close("stopped")
            raise


def _cut_all(ray: Any, sources: Sequence[Source], rows: int) -> list[Cut]:
    cut = ray.remote(cut_file)
    try:
        cuts: list[Cut] = ray.get([cut.remote(source, place, rows) for place, source in enumerate(sources)])
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, InputError):
            raise InputError(str(error.cause)) from None
        raise
    return cuts


@dataclass(slots=True)
class Run:
    """A run under way."""

    job: Job
    ray: Any
    output: Folder
    sources: Sequence[Source]
    cuts: Sequence[Cut]
    suffix: str
    settings: Mapping[str, object]
    before: Mapping[str, Any]
    missing: list[Block] = field(init=False)
    rows: int = field(init=False)
    """How many rows the input has."""
    done: int = field(init=False)
    """How many of them are in blocks that an earlier run finished."""
    workers: int = field(init=False)
    _bad: int = field(init=False)
    _counts: dict[str, Any] = field(init=False)
    _failures: list[Failure] = field(init=False, default_factory=list)
    _began: float = field(init=False, default_factory=perf_counter)

    def __post_init__(self) -> None:
        there = self.output.list()
        blocks = [block for cut in self.cuts for block in cut.blocks]
        self.missing = [block for block in blocks if self._name(block) + self.suffix not in there]
        self.rows = sum(block.rows for block in blocks)
        self.done = self.rows - sum(block.rows for block in self.missing)
        self.workers = self.job.workers or self._fill_cluster()
        missing = set(map(self._name, self.missing))
        self._bad = sum(
            self.output.read(f"{BAD}/{name}").count(b"\n")
            for name in self.output.list(BAD)
            if name.removesuffix(".jsonl") not in missing
        )
        self._counts = {
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "workers": self.workers,
            "threads": self.job.threads,
            "gpus": self.job.gpus,
            "rows": 0,
            "bytes": 0,
            "seconds": 0.0,
            "work seconds": 0.0,
        }
        self._tell("running")

    @property
    def has_room(self) -> bool:
        """Whether the cluster, as it is now, can have a worker at all; else the run waits until it has grown."""
        return has_room(self.ray, self.job.threads, self.job.gpus)

    def receipts(self) -> Iterator[Receipt]:
        """Yield the receipt of each missing block as it is done; a block that fails is told by ``finish``."""
        left = {(block.file, block.first): block for block in self.missing}
        processes: set[str] = set()
        for receipt in self._work() if left else ():
            block = left.pop((receipt.file, receipt.first), None)
            if block is None:
                continue
            if receipt.hopeless:
                raise InputError(receipt.error)
            if receipt.error:
                self._failures.append(Failure(self._name(block), block.rows, receipt.error))
                continue
            processes.add(receipt.worker)
            self._bad += receipt.bad
            self._counts["rows"] += receipt.rows
            self._counts["bytes"] += receipt.written
            self._counts["work seconds"] += receipt.seconds
            self._counts["worker processes"] = len(processes)
            yield receipt
        for block in left.values():
            self._failures.append(Failure(self._name(block), block.rows, "Ray gave it up"))

    def finish(self) -> Summary:
        """Write the manifest of a run whose receipts have all come, and return what there is."""
        lost = sum(failure.rows for failure in self._failures)
        self.close("incomplete" if lost else "finished")
        if not lost:
            self.output.sweep()
        return Summary(self.rows, self.rows - lost - self._bad, self._bad, tuple(self._failures))

    def close(self, state: str) -> None:
        """Write how the run ended."""
        self._counts["seconds"] = round(perf_counter() - self._began, 3)
        self._counts["work seconds"] = round(self._counts["work seconds"], 3)
        self._tell(state)

    def _work(self) -> Iterator[Receipt]:
        """Yield the workers' receipts.

        What goes through Ray Data is where the blocks are, not their rows: its own writers name files by task and
        attempt, so that a task which is tried again after it wrote would leave its rows twice. Here a worker reads
        the block, and writes it under a name that only the block decides. Ray Data does the rest: it keeps the pool,
        hands out blocks in order, starts workers anew and gives their blocks to them again.
        """
        data = self.ray.data
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.max_errored_blocks = -1  # a block is given up, not the run
        inputs = [Input(source, cut.header) for source, cut in zip(self.sources, self.cuts, strict=True)]
        receipts = data.from_items([asdict(block) for block in self.missing], override_num_blocks=len(self.missing))
        receipts = receipts.map_batches(
            Worker,
            fn_constructor_args=(self.job.make_system, inputs, self.output, self.suffix),
            batch_size=1,
            # One at a time: a block that waits at a busy worker is not there for an idle one.
            compute=data.ActorPoolStrategy(size=min(self.workers, len(self.missing)), max_tasks_in_flight_per_actor=1),
            num_cpus=self.job.threads,
            num_gpus=self.job.gpus or None,
        )
        for row in receipts.iter_rows():
            yield Receipt(**row)

    def _fill_cluster(self) -> int:
        kind, share = ("GPU", self.job.gpus) if self.job.gpus else ("CPU", self.job.threads)
        return max(1, int(self.ray.cluster_resources().get(kind, 0) // share))

    def _name(self, block: Block) -> str:
        return block.name(self.sources[block.file].path)

    def _tell(self, state: str) -> None:
        lost = sum(failure.rows for failure in self._failures)
        finished = self.done + self._counts["rows"]
        files = [
            {"file": source.name, "rows": cut.rows, "blocks": len(cut.blocks), "bytes": cut.size, "sha256": cut.digest}
            for source, cut in zip(self.sources, self.cuts, strict=True)
        ]
        self.output.write_json(
            MANIFEST,
            {
                "state": state,
                SETTINGS: dict(self.settings),
                "rows": self.rows,
                "written": finished - self._bad,
                "bad": self._bad,
                "failed": lost,
                "failures": [asdict(failure) for failure in self._failures],
                "runs": [*self.before.get("runs", ()), self._counts],
                "files": files,
            },
        )
