"""The workers of a Ray cluster: actors with one engine each, which do one block after the other."""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from riseq.data.rows import BadRow, find_kinds, flat_rows, result_row
from riseq.extras import needs_extra
from riseq.model.folder import is_exported, load_exported
from riseq.scale.blocks import Block, read_block
from riseq.scale.storage import Folder
from riseq.systems import System
from riseq.systems.bulk import simplify_chunk
from riseq.systems.registry import SystemChoice
from riseq.types import InputError

BAD = "_bad"  # the folder of the rows that were left out, below the output
MAX_DEATHS = 5
"""How many workers may die over a block before it is given up: a row that kills one would else kill for ever."""


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What became of one block."""

    block: Block
    worker: str = ""
    """The machine and the process that did it."""
    bad: int = 0
    """How many of its rows were left out."""
    output_bytes: int = 0
    seconds: float = 0.0
    error: str = ""
    """Why there is no file."""


class Worker:
    """An engine that turns blocks into files of ``output``.

    A block's file appears with one rename, under a name that the block alone decides, after that of its bad rows: when
    it is done again, after its worker was killed or by one thought dead, it gives the same file.
    """

    def __init__(self, make_system: Callable[[], System], output: Folder, suffix: str) -> None:
        self._make_system, self._output, self._suffix = make_system, output, suffix
        self._opened: tuple[int, BinaryIO] | None = None
        self._closing = ExitStack()

    @cached_property
    def _system(self) -> System:
        return self._make_system()

    def load(self) -> str:
        """Load the engine and return its name; an error as Ray makes the actor would be a death without a message."""
        return self._system.name

    def process(self, block: Block) -> BlockResult:
        """Write the results of a block; an error in it is returned, and stops no other block."""
        self.load()  # Ray has started this worker anew where it is not loaded
        began = perf_counter()
        worker = f"{socket.gethostname()}:{os.getpid()}"
        try:
            bad, size = self._write(block)
        except Exception as error:
            self._opened = None
            reason = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            return BlockResult(block, worker, error=reason)
        return BlockResult(block, worker, bad, size, perf_counter() - began)

    def _write(self, block: Block) -> tuple[int, int]:
        if self._opened is None or self._opened[0] != block.index:
            # It stays open: blocks come in their file's order, and what is unpacked need not be so again.
            self._closing.close()
            self._opened = block.index, self._closing.enter_context(block.source.open())
        rows = read_block(self._opened[1], block)
        results, bad = [], []
        for number, outcome in enumerate(simplify_chunk(self._system, rows, block.source.name), block.first + 1):
            if isinstance(outcome, BadRow):
                bad.append({"row": number, **outcome.to_row()})
            else:
                results.append(result_row(*outcome))
        if bad:
            self._output.write_rows(f"{BAD}/{block.name}.jsonl", bad, ())
        kinds = find_kinds(results)
        shown = results if self._suffix == ".jsonl" else flat_rows(results, kinds)
        return len(bad), self._output.write_rows(f"{block.name}{self._suffix}", shown, kinds)


def load_same(choice: SystemChoice, settings: Mapping[str, object]) -> System:
    """Return the system, on whatever machine this is, where it is the one that ``settings`` describe."""
    here = choice.resolve().settings()
    for name, value in settings.items():
        if here.get(name) != value:
            other = f"the worker on {socket.gethostname()} has another {name} ({here.get(name)})"
            raise InputError(f"{other}; expected {value}, as where the run was started")
    return choice.load()


def prepare(choice: SystemChoice, gpus: float | None) -> SystemChoice:
    """Return the choice as it holds on other machines, in other folders, and for one worker of many."""
    if choice.model is not None and choice.model.exists():
        choice = replace(choice, model=choice.model.resolve())
    if (check := choice.round_trip) is not None and check.resolver.exists():
        choice = replace(choice, round_trip=replace(check, resolver=check.resolver.resolve()))
    file, colon, name = choice.system.rpartition(":")
    if colon and Path(file).is_file():
        choice = replace(choice, system=f"{os.path.abspath(file)}:{name}")
    if not choice.edits:
        return choice
    folder = choice.resolve().model if gpus and choice.device is None else None
    if folder is not None and is_exported(folder) and load_exported(folder).precision != "float32":
        choice = replace(choice, device="cuda")  # by itself it would run on the CPU
    return choice if choice.threads else replace(choice, threads=1)


def define_worker(ray: Any, threads: int, gpus: float | None) -> Any:
    """Return the actor class of workers with so many cores and GPUs; one that dies is started again, with its block."""
    return ray.remote(Worker).options(num_cpus=threads, num_gpus=gpus, max_restarts=-1, max_task_retries=MAX_DEATHS - 1)


def run_blocks(ray: Any, start: Callable[[], Any], workers: int, blocks: Sequence[Block]) -> Iterator[BlockResult]:
    """Yield the result of each block as it comes from ``workers`` actors, each of which ``start`` starts.

    An actor has one block at a time, and none before its engine is loaded: one that waits for a machine keeps no block
    from the others. An InputError of an engine ends everything: no other would fare better.
    """
    waiting, left = deque(blocks), len(blocks)
    running: dict[Any, tuple[Any, Block | None]] = {}
    try:
        for _ in range(min(workers, left)):
            actor = start()
            running[actor.load.remote()] = actor, None
        while left:
            (ready,), _ = ray.wait(list(running))
            actor, block = running.pop(ready)
            try:
                result = get_result(ray, ready)
            except ray.exceptions.RayError as error:
                if block is None or isinstance(error, ray.exceptions.RayTaskError):  # it does not load; others may
                    if not running:
                        raise InputError(f"no worker starts: {str(error).strip().splitlines()[-1]}") from None
                    waiting.extendleft([block] if block else [])
                    continue
                result = BlockResult(block, error=f"{MAX_DEATHS} workers died over it")
            if block is not None:
                left -= 1
                yield result
            if waiting:
                block = waiting.popleft()
                running[actor.process.remote(block)] = actor, block
            else:
                ray.kill(actor)  # its cores are free for one that waits for some
    finally:
        for actor, _ in running.values():
            ray.kill(actor)


def get_result(ray: Any, reference: Any) -> Any:
    """Return what a task returned; an InputError in it is raised as one."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, InputError):
            raise InputError(str(error.cause)) from None
        raise


def import_ray() -> Any:
    """Return the package ray."""
    # Ray tells its makers of every cluster unless it is told not to, and its log repeats what is told here.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    with needs_extra("scale", "--engine ray"):
        import ray
    return ray


@contextmanager
def connect(ray: Any, address: str | None, cpus: float | None) -> Iterator[None]:
    """Connect to the cluster at ``address``, else to a new one with ``cpus``; a program that is connected stays so."""
    if address not in (None, "auto"):
        _check_address(str(address))
    if ray.is_initialized():
        yield
        return
    # Only blocks and their results go through the shared memory, no rows.
    own = {} if address else {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": 256 << 20}
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"no Ray cluster: {f'{address} gave' if address else 'got'} {reason!r}") from None
    try:
        yield
    finally:
        ray.shutdown()


def has_room(ray: Any, cpus: float, gpus: float | None) -> bool:
    """Return whether a machine of the cluster, as it is now, is large enough for a worker."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    return any(one.get("CPU", 0) >= cpus and one.get("GPU", 0) >= (gpus or 0) for one in machines)


def _check_address(address: str) -> None:
    """Raise where nobody listens at ``address``: Ray itself would wait for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise InputError(f"--address: got {address!r}, expected HOST:PORT or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(f"--address {address}: no Ray cluster answers there ({error.strerror or error})") from None
