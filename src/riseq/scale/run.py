"""A run: a folder of questions in, a folder of results out, by the workers of a Ray cluster."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

from riseq.jobs import check_same
from riseq.scale import FORMATS, Spread
from riseq.scale.blocks import Block, split_file
from riseq.scale.storage import Folder, find_folder, find_sources
from riseq.scale.workers import BAD, BlockResult, connect, define_worker, get_result, has_room, import_ray, run_blocks
from riseq.systems import System
from riseq.types import InputError

BLOCK_ROWS = 2_048
"""Rows of a block: two of the engine's windows, half a minute of work for one core, and all a killed worker loses."""
MANIFEST = "_riseq.json"


@dataclass(slots=True, kw_only=True)
class Manifest:
    """What made an output folder, what is in it, and what went wrong: the content of ``_riseq.json``."""

    state: str = "running"
    settings: dict[str, Any]
    rows: int
    written: int = 0
    bad: int = 0
    failed: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    """The blocks without a file, each with its name, rows and reason."""
    runs: list[dict[str, Any]]
    """The workers, counts and times of this run and of those before it."""
    files: list[dict[str, object]]


@contextmanager
def open_run(
    source: str,
    output: str,
    make_system: Callable[[], System],
    settings: Mapping[str, object],
    spread: Spread,
    threads: int = 1,
    resume: bool = False,
) -> Iterator[Run]:
    """Give the run from ``source`` to ``output``, with its cluster and its input in blocks; nothing is simplified yet.

    ``make_system`` makes an engine, on a worker's machine; ``settings`` is everything that decides a result, as JSON.
    The cluster is that of RAY_ADDRESS where ``spread`` has no address, else a new one here; it has as many workers as
    fit by default, each with ``threads`` cores.
    """
    ray = import_ray()
    folder = find_folder(output)
    # Results may lie below the questions, and are none of them.
    sources = [one for one in find_sources(source) if not one.path.startswith(f"{folder.path}/")]
    if not sources:
        raise InputError(f"{source}: has nothing but what is in {output}, which is for the results")
    before = _read_manifest(folder, resume)
    made_with = before.get("settings", {})
    block_rows = int(spread.block_rows or made_with.get("block-rows") or BLOCK_ROWS)
    form = str(spread.format or made_with.get("format") or FORMATS[0])
    address, gpus = spread.address or os.environ.get("RAY_ADDRESS") or None, spread.gpus
    with connect(ray, address, spread.workers * threads if spread.workers else None):
        room = has_room(ray, threads, gpus)
        if address is None and not room:  # a named cluster may grow, when machines are asked for
            worker = describe_worker(threads, gpus)
            raise InputError(f"this machine has no room for a worker with {worker}; ask for less, or for a cluster")
        split = ray.remote(split_file)
        parts = get_result(ray, [split.remote(one, index, block_rows) for index, one in enumerate(sources)])
        files, blocks = [file for file, _ in parts], [block for _, some in parts for block in some]
        contents = hashlib.sha256("\n".join(file["sha256"] for file in files).encode()).hexdigest()[:16]
        now = {"input": contents, **settings, "block-rows": block_rows, "format": form}
        if before:
            check_same(f"{folder.name}: its blocks", made_with, now, "delete the folder to start again")
        fitting = ray.cluster_resources().get("GPU" if gpus else "CPU", 0) // (gpus or threads)
        workers = spread.workers or max(1, int(fitting))
        started = datetime.now(UTC).isoformat(timespec="seconds")
        counts = {"started": started, "workers": workers, "threads": threads, "gpus": gpus or 0.0}
        runs = [*before.get("runs", []), counts]
        manifest = Manifest(settings=now, rows=sum(block.rows for block in blocks), runs=runs, files=files)
        finished = folder.list()
        missing = [block for block in blocks if f"{block.name}.{form}" not in finished]
        start = partial(define_worker(ray, threads, gpus).remote, make_system, folder, f".{form}")
        run = Run(folder, manifest, missing, room, run_blocks(ray, start, workers, missing))
        try:
            yield run
        except BaseException:
            run.close("stopped")
            raise


class Run:
    """A run under way: ``results`` does its work, ``finish`` ends it."""

    def __init__(
        self, output: Folder, manifest: Manifest, missing: list[Block], has_room: bool, work: Iterator[BlockResult]
    ) -> None:
        self._output, self.manifest, self.missing, self._work = output, manifest, missing, work
        self.has_room, self._began = has_room, perf_counter()
        """Whether the cluster can have a worker at all; else the run waits until it has grown."""
        self.done = manifest.rows - sum(block.rows for block in missing)
        """How many rows are in blocks that an earlier run finished."""
        finished = output.list(BAD) - {f"{block.name}.jsonl" for block in missing}
        manifest.bad = sum(output.read(f"{BAD}/{name}").count(b"\n") for name in finished)
        manifest.written = self.done - manifest.bad
        self._counts = manifest.runs[-1]
        self._counts |= {"rows": 0, "bytes": 0, "seconds": 0.0, "work seconds": 0.0}
        output.remove_temporary()
        self.close("running")

    def results(self) -> Iterator[BlockResult]:
        """Yield the result of each missing block as it is done; those that fail are in the manifest."""
        processes: set[str] = set()
        for result in self._work:
            rows = result.block.rows
            if result.error:
                self.manifest.failed += rows
                self.manifest.failures.append({"block": result.block.name, "rows": rows, "reason": result.error})
                continue
            processes.add(result.worker)
            self.manifest.bad += result.bad
            self.manifest.written += rows - result.bad
            self._counts["rows"] += rows
            self._counts["bytes"] += result.output_bytes
            self._counts["work seconds"] = round(self._counts["work seconds"] + result.seconds, 3)
            self._counts["worker processes"] = len(processes)
            yield result

    def finish(self) -> Manifest:
        """Return the manifest of a run whose results have all come, after it was written."""
        self.close("incomplete" if self.manifest.failures else "finished")
        self._output.remove_temporary()
        return self.manifest

    def close(self, state: str) -> None:
        """Write the manifest, with how the run stands."""
        self._counts["seconds"] = round(perf_counter() - self._began, 3)
        self.manifest.state = state
        self._output.write_json(MANIFEST, asdict(self.manifest))


def describe_worker(threads: int, gpus: float | None) -> str:
    """Return what a worker needs, in words."""
    cores = f"{threads} core{'s' if threads > 1 else ''}"
    if not gpus:
        return cores
    return f"{cores} and {gpus:g} {'of a GPU' if gpus < 1 else 'GPUs' if gpus > 1 else 'GPU'}"


def _read_manifest(folder: Folder, resume: bool) -> dict[str, Any]:
    """Return the manifest of an earlier run into ``folder``, which ``resume`` has to allow; empty for a new folder."""
    files = folder.list()
    if files and MANIFEST not in files:
        has = f"{folder.name}: has files ({min(files)} and others)"
        raise InputError(f"{has} but no {MANIFEST}; expected a new or empty folder")
    if not files:
        return {}
    try:
        manifest: dict[str, Any] = json.loads(folder.read(MANIFEST))
        manifest["settings"].items()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{folder.name}/{MANIFEST}: is no manifest of riseq; name another folder") from None
    if not resume:
        has = f"{folder.name}: has the output of a run ({manifest.get('state')})"
        raise InputError(f"{has}; --resume does what is missing, or delete the folder to start again")
    return manifest
