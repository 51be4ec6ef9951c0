"""Hold ``riseq simplify --engine ray`` against plain processes, watch its memory, and reckon what a billion costs.

First two plain processes on half of the questions each, then Ray with two workers on all of them, whole commands with
their start, one thread an engine; every text is compared. Then many questions, most of them without a dialogue, which
the engine answers without its network, so that the time goes into reading, handing out and writing: memory of driver
and workers is read at ten points. Run it from the repository's root:
``python benchmarks/bench_scale.py [--rows N] [--memory-rows N] [--asked SHARE] [--data FILE] [--model FOLDER]
[--write]``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from results import EVERYDAY, OUTPUTS, ROOT, describe_run, format_table, make_examples, say_met, write_section
from riseq.data.tables import read_records
from riseq.files import write_text
from riseq.scale import Spread
from riseq.scale.blocks import split_file
from riseq.scale.run import BLOCK_ROWS, open_run
from riseq.scale.storage import find_sources
from riseq.systems.registry import SystemChoice
from riseq.types import Example

WORKERS = 2
POINTS = 10
OUTPUT = OUTPUTS / "scale.txt"
LEAST_RATIO, MOST_GROWTH = 0.8, 0.05
"""What is asked for: throughput against plain processes', and how far memory may grow after its first points."""
BILLION = 1_000_000_000
LARGE_BLOCK = 20_000
"""Rows of a block where there are a billion: fifty thousand files."""
RISEQ = str(Path(sys.executable).parent / "riseq")


@dataclass(frozen=True, slots=True)
class Overhead:
    """Ray against plain processes, on the same questions."""

    rows: int
    plain_seconds: float
    ray_seconds: float
    work_seconds: float
    """What the workers' blocks took, all together."""
    split_seconds: float
    bytes_in: int
    bytes_out: int
    wrong: int
    load: float
    """The machine's load before, by others."""

    @property
    def ratio(self) -> float:
        """Ray's throughput as a share of the plain processes'."""
        return self.plain_seconds / self.ray_seconds

    @property
    def rate(self) -> float:
        """Questions a second that one worker of the Ray run did, its start and its waiting counted."""
        return self.rows / self.ray_seconds / WORKERS


@dataclass(frozen=True, slots=True)
class Point:
    """Memory in bytes when ``rows`` were done: the driver's and the largest worker's."""

    rows: int
    driver: int
    worker: int


@dataclass(frozen=True, slots=True)
class Memory:
    """How memory went over a long run."""

    rows: int
    asked: float
    blocks: int
    seconds: float
    points: tuple[Point, ...]

    @property
    def growth(self) -> tuple[float, float]:
        """How much larger driver and workers were in the last three points than in the second to fourth, at most."""
        early, late = self.points[1:4], self.points[-3:]
        return (
            max(one.driver for one in late) / max(one.driver for one in early) - 1,
            max(one.worker for one in late) / max(one.worker for one in early) - 1,
        )


def write_questions(path: Path, examples: Iterator[Example], asked: float = 1.0) -> Path:
    """Write the examples as JSONL; of every 1 / ``asked`` rows one keeps its dialogue."""
    every = round(1 / asked)
    with path.open("w", encoding="utf-8") as file:
        for index, one in enumerate(examples):
            context = one.context if index % every == 0 else ()
            file.write(json.dumps({"id": one.id, "context": context, "question": one.question}) + "\n")
    return path


def read_engine() -> str:
    """Return a fingerprint of the code and the model that ship: both legs have to run the same."""
    files = sorted((*(ROOT / "src").rglob("*.py"), *(ROOT / "models").rglob("*.*")))
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def run_all(commands: Sequence[Sequence[str]]) -> float:
    """Run the commands side by side and return how long the last of them took."""
    started = time.perf_counter()
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    for process in processes:
        _, told = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}: {told}")
    return time.perf_counter() - started


def measure_overhead(folder: Path, rows: int, data: Path, model: str | None) -> Overhead:
    """Return what the same questions take by plain processes and by Ray."""
    load = os.getloadavg()[0]
    source = write_questions(folder / "in.jsonl", islice(make_examples(data), rows))
    halves = [
        write_questions(folder / f"half-{half}.jsonl", islice(make_examples(data), half, rows, WORKERS))
        for half in range(WORKERS)
    ]
    told = ["--model", model] if model else []
    engine = read_engine()
    outputs = [folder / f"out-{half}.jsonl" for half in range(WORKERS)]
    plain = run_all(
        [
            [RISEQ, "simplify", str(half), str(output), "--threads", "1", *told]
            for half, output in zip(halves, outputs, strict=True)
        ]
    )
    out = folder / "out"
    # JSONL, for its size does not hang on how alike these made-up dialogues are, as Parquet's does.
    told = ["--engine", "ray", "--workers", str(WORKERS), "--format", "jsonl", *told]
    by_ray = run_all([[RISEQ, "simplify", str(source), str(out), *told]])
    if read_engine() != engine:
        raise RuntimeError("the code or the model was changed while this ran; what it gave cannot be compared")
    expected = {record.example.id: record.row["text"] for output in outputs for record in read_records(output)}
    got = [record for part in out.glob("*.jsonl") for record in read_records(part)]
    wrong = abs(len(got) - len(expected)) + sum(expected.get(one.example.id) != one.row["text"] for one in got)
    manifest = json.loads((out / "_riseq.json").read_text(encoding="utf-8"))
    (run,) = manifest["runs"]
    started = time.perf_counter()
    split_file(find_sources(str(source))[0], 0, BLOCK_ROWS)
    split = time.perf_counter() - started
    size = source.stat().st_size
    return Overhead(rows, plain, by_ray, run["work seconds"], split, size, run["bytes"], wrong, load)


def measure_memory(folder: Path, rows: int, asked: float, data: Path, model: str | None) -> Memory:
    """Return the memory of driver, which is this process, and workers over a run of ``rows`` questions."""
    source = write_questions(folder / "many.jsonl", islice(make_examples(data), rows), asked)
    choice = SystemChoice("rise", Path(model).resolve() if model else None, threads=1)
    make_system, settings = choice.load, {"benchmark": "memory"}
    points: list[Point] = []
    workers: dict[str, int] = {}
    done, started = 0, time.perf_counter()
    block_rows = max(1, rows // max(POINTS * WORKERS, rows // BLOCK_ROWS))
    output = str(folder / "many")
    spread = Spread(block_rows=block_rows, workers=WORKERS)
    with open_run(str(source), output, make_system, settings, spread) as run:
        for result in run.results():
            done += result.block.rows
            # Its processes are on this machine.
            workers[result.worker] = read_memory(result.worker.rpartition(":")[2])
            if done >= rows * (len(points) + 1) / POINTS:
                points.append(Point(done, read_memory(), max(workers.values())))
        manifest = run.finish()
    if manifest.written != rows:
        raise RuntimeError(f"{manifest.written} of {rows} questions were written: {manifest.failures}")
    return Memory(rows, asked, len(run.missing), time.perf_counter() - started, tuple(points))


def read_memory(process: str = "self") -> int:
    """Return the resident memory of a process in bytes; 0 where it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def describe(overhead: Overhead, memory: Memory, run: str) -> str:
    """Return the section of the results' page; ``run`` is the command, the machine and the day."""
    driver, worker = memory.growth
    fast, flat = say_met(overhead.ratio >= LEAST_RATIO), say_met(max(driver, worker) <= MOST_GROWTH)
    legs = {
        f"{WORKERS} plain processes, half of them each": overhead.plain_seconds,
        f"Ray with {WORKERS} workers": overhead.ray_seconds,
    }
    rates = [(leg, f"{taken:,.1f}", f"{overhead.rows / taken:,.1f}") for leg, taken in legs.items()]
    points = [(f"{one.rows:,}", f"{one.driver / 1e6:,.0f} MB", f"{one.worker / 1e6:,.0f} MB") for one in memory.points]
    return f"""{run}; the load by others was {overhead.load:.1f} before it. Raw output: `outputs/{OUTPUT.name}`.

{overhead.rows:,} dialogues of mixed lengths, whole commands with their start, one thread an engine:

{format_table(("", "seconds", "questions a second"), rates)}

Ray at {overhead.ratio:.2f} of the plain processes' throughput (asked: {LEAST_RATIO}): {fast}.
Texts that differ: {overhead.wrong}.

Memory over {memory.rows:,} questions in {memory.seconds:,.0f} s; {memory.asked:.0%} of them have a dialogue and go
through the network:

{format_table(("questions done", "driver", "largest worker"), points)}

From points two to four to the last three: driver {driver:+.1%}, workers {worker:+.1%} (asked: flat, at most
{MOST_GROWTH:+.0%}): {flat}.
"""


def describe_cost(overhead: Overhead, memory: Memory, run: str) -> str:
    """Return the section on a billion questions: the measured figures, multiplied out."""
    hours = BILLION / overhead.rate / 3_600
    alone = overhead.rows / overhead.work_seconds
    split = overhead.rows / overhead.split_seconds
    bytes_in, bytes_out = overhead.bytes_in / overhead.rows, overhead.bytes_out / overhead.rows
    files = f"{BILLION // LARGE_BLOCK:,} files with `--block-rows {LARGE_BLOCK}`"
    worker, driver = (max(getattr(one, name) for one in memory.points) / 1e6 for name in ("worker", "driver"))
    lines = {
        "a worker of one core": (
            f"{overhead.rate:,.1f} questions a second, start and waiting counted",
            f"{hours:,.0f} core-hours",
        ),
        "the blocks alone": (f"{alone:,.1f} questions a second", f"{BILLION / alone / 3_600:,.0f} core-hours"),
        "finding the blocks (JSONL)": (
            f"{split:,.0f} questions a second",
            f"{BILLION / split / 3_600:,.1f} core-hours, one task a file",
        ),
        "input (JSONL), read three times": (f"{bytes_in:,.0f} bytes a question", f"{bytes_in:,.0f} GB"),
        "output (JSONL; Parquet is smaller)": (f"{bytes_out:,.0f} bytes a question", f"{bytes_out:,.0f} GB in {files}"),
        "memory of a worker": (f"{worker:,.0f} MB", "the same"),
        "memory of the driver": (
            f"{driver:,.0f} MB with {memory.blocks:,} blocks",
            "grows with the number of blocks, not of questions",
        ),
    }
    table = [(name, *cells) for name, cells in lines.items()]
    spread = [(f"{cores:,}", format_hours(hours / cores)) for cores in (100, 1_000, 10_000)]
    return f"""From the figures of {run}
({overhead.rows:,} questions by Ray with {WORKERS} workers):
multiplied out, not run. Other processors, longer dialogues and another model change them in proportion.

{format_table(("", "measured", "for 1,000,000,000"), table)}

{format_table(("cores", "hours"), spread)}
"""


def format_hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:,.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="questions for Ray against plain processes")
    parser.add_argument("--memory-rows", type=int, default=1_000_000, help="questions for the memory")
    parser.add_argument("--asked", type=float, default=0.02, help="the share of those that have a dialogue")
    parser.add_argument("--data", type=Path, default=EVERYDAY, help="dialogues to make them of")
    parser.add_argument("--model", help="a model's folder; the one that ships without it")
    parser.add_argument("--write", action="store_true", help="replace the sections of RESULTS.md and docs/scale.md")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        overhead = measure_overhead(Path(folder), asked.rows, asked.data, asked.model)
        print(f"overhead: {overhead}", flush=True)
        memory = measure_memory(Path(folder), asked.memory_rows, asked.asked, asked.data, asked.model)
    section, cost = describe(overhead, memory, describe_run()), describe_cost(overhead, memory, describe_run())
    print(section)
    print(cost)
    if overhead.wrong:
        sys.exit("Ray gave other texts than one process")
    if asked.write:
        raw = (describe_run(), overhead, *memory.points, replace(memory, points=()))
        write_text(OUTPUT, "\n".join(map(str, raw)) + "\n")
        write_section("Scale", section)
        write_section("What a billion questions cost", cost, ROOT / "docs" / "scale.md")


if __name__ == "__main__":
    main()
