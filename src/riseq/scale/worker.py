"""A worker: one engine, which does one block after the other."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any, BinaryIO

from riseq.data.rows import RESULT_COLUMNS, BadRow, flat_row, result_row
from riseq.scale.blocks import Block, read_block
from riseq.scale.storage import Folder, Source
from riseq.systems.bulk import simplify_chunk
from riseq.systems.protocol import System
from riseq.types import InputError

BAD = "_bad"
"""The folder of the rows that were left out, below the output."""
MOST_DEATHS = 5
"""How many workers may die over a block before it is given up: a row that kills one would else kill for ever."""


@dataclass(frozen=True, slots=True)
class Input:
    """A file as workers need it."""

    source: Source
    header: bytes


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a worker tells of one block."""

    file: int
    first: int
    rows: int
    bad: int = 0
    """How many of the rows were left out."""
    written: int = 0
    """How many bytes became of the rest."""
    seconds: float = 0.0
    memory: int = 0
    """The worker's resident memory in bytes, after the block; 0 where the system does not tell."""
    worker: str = ""
    error: str = ""
    """Why there is no output."""
    hopeless: bool = False
    """Whether no other block would fare better."""


class Worker:
    """Does blocks: what Ray Data keeps in each process of its pool.

    The output of a block appears with one rename, under a name that its file and rows decide, after its bad rows:
    a block that is done again, after its worker was killed or by a worker thought dead, gives the same file.
    """

    def __init__(self, make_system: Callable[[], System], inputs: Sequence[Input], output: Folder, suffix: str) -> None:
        """Take how the engine is made, which happens with the first block; its complaints can be told from there."""
        self._make_system, self._inputs, self._output, self._suffix = make_system, inputs, output, suffix
        self._system: System | None = None
        self._opened: tuple[int, BinaryIO] | None = None
        self._closing = ExitStack()

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[object]]:
        """Do the blocks of a batch, as Ray Data has them: a column a field; return their receipts as such."""
        columns = [field.name for field in fields(Block)]
        blocks = [Block(*map(int, row)) for row in zip(*(batch[column] for column in columns), strict=True)]
        receipts = [asdict(self.do(block)) for block in blocks]
        return {field.name: [receipt[field.name] for receipt in receipts] for field in fields(Receipt)}

    def do(self, block: Block) -> Receipt:
        """Write what becomes of a block, and return the receipt; an error is told there and stops no other block."""
        began = perf_counter()
        worker = f"{socket.gethostname()}:{os.getpid()}"
        try:
            system = self._load()
        except InputError as error:
            return Receipt(block.file, block.first, block.rows, worker=worker, error=str(error), hopeless=True)
        name = block.name(self._inputs[block.file].source.path)
        try:
            # Ray tries a block again when its worker has died, and does not count: the folder does.
            if self._output.begin(name) >= MOST_DEATHS:
                raise InputError(f"{MOST_DEATHS} workers died over it")
            bad, written = self._write(block, name, system)
            self._output.end(name)
        except Exception as error:
            self._close()
            told = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            return Receipt(block.file, block.first, block.rows, worker=worker, error=told)
        seconds = perf_counter() - began
        return Receipt(block.file, block.first, block.rows, bad, written, seconds, read_memory(), worker)

    def _load(self) -> System:
        if self._system is None:
            self._system = self._make_system()
        return self._system

    def _write(self, block: Block, name: str, system: System) -> tuple[int, int]:
        source = self._inputs[block.file].source
        rows = read_block(self._open(block.file), source, block, self._inputs[block.file].header)
        results, bad = [], []
        for number, outcome in enumerate(simplify_chunk(system, rows, source.name), block.first + 1):
            if isinstance(outcome, BadRow):
                bad.append({"row": number, **outcome.to_row()})
            else:
                row = result_row(outcome.example, outcome.result)
                results.append(row if self._suffix == ".jsonl" else flat_row(row))
        if bad:
            self._output.write_rows(f"{BAD}/{name}.jsonl", bad, ())
        return len(bad), self._output.write_rows(f"{name}{self._suffix}", results, RESULT_COLUMNS)

    def _open(self, place: int) -> BinaryIO:
        """Return the file, which stays open: blocks come in its order, and what is unpacked need not be so again."""
        if self._opened is None or self._opened[0] != place:
            self._close()
            self._opened = place, self._closing.enter_context(self._inputs[place].source.open())
        return self._opened[1]

    def _close(self) -> None:
        self._opened = None
        self._closing.close()


def read_memory() -> int:
    """Return this process's resident memory in bytes; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
