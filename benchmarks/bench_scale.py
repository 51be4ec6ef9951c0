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
import datetime
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from riseq.cli.shared import SystemChoice
from riseq.data.dataset import load_dataset
from riseq.data.tables import read_records
from riseq.reproduce.facts import describe_machine
from riseq.scale.blocks import cut_file
from riseq.scale.run import BLOCK_ROWS, Job, open_run
from riseq.scale.storage import find_sources
from riseq.scale.worker import read_memory
from riseq.types import Example

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("RESULTS.md")
COST_PAGE = ROOT / "docs" / "scale.md"
HEADING, COST_HEADING = "## Scale", "## What a billion questions cost"
WORKERS = 2
POINTS = 10
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
    cut_seconds: float
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


def make_examples(data: Path, seed: int = 7) -> Iterator[Example]:
    """Yield dialogues of mixed lengths without end: those of ``data``, each after some others' utterances."""
    rng = random.Random(seed)
    known = load_dataset(data)
    place = 0
    while True:
        one = rng.choice(known)
        before = [text for other in rng.sample(known, rng.randint(0, 2)) for text in other.context]
        yield Example(str(place), (*before, *one.context), one.question)
        place += 1


def write_questions(path: Path, examples: Iterator[Example], asked: float = 1.0) -> Path:
    """Write the examples as JSONL; of every 1 / ``asked`` rows one keeps its dialogue."""
    every = round(1 / asked)
    with path.open("w", encoding="utf-8") as file:
        for place, one in enumerate(examples):
            context = one.context if place % every == 0 else ()
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
    cut_file(find_sources(str(source))[0], 0, BLOCK_ROWS)
    cut = time.perf_counter() - started
    size = source.stat().st_size
    return Overhead(rows, plain, by_ray, run["work seconds"], cut, size, run["bytes"], wrong, load)


def measure_memory(folder: Path, rows: int, asked: float, data: Path, model: str | None) -> Memory:
    """Return the memory of driver, which is this process, and workers over a run of ``rows`` questions."""
    source = write_questions(folder / "many.jsonl", islice(make_examples(data), rows), asked)
    choice = SystemChoice("rise", Path(model).resolve() if model else None, threads=1)
    blocks = max(POINTS * WORKERS, rows // BLOCK_ROWS)
    job = Job(
        str(source),
        str(folder / "many"),
        choice.load,
        {"benchmark": "memory"},
        block_rows=max(1, rows // blocks),
        workers=WORKERS,
    )
    points: list[Point] = []
    workers: dict[str, int] = {}
    done, started = 0, time.perf_counter()
    with open_run(job) as run:
        for receipt in run.receipts():
            done += receipt.rows
            workers[receipt.worker] = receipt.memory
            if done >= rows * (len(points) + 1) / POINTS:
                points.append(Point(done, read_memory(), max(workers.values())))
        summary = run.finish()
    if summary.written != rows:
        raise RuntimeError(f"{summary.written} of {rows} questions were written: {summary.failures}")
    return Memory(rows, asked, len(run.missing), time.perf_counter() - started, tuple(points))


def describe(overhead: Overhead, memory: Memory, command: str) -> str:
    """Return the section of the results' page."""
    met = {True: "met", False: "not met"}
    driver, worker = memory.growth
    fast, flat = met[overhead.ratio >= LEAST_RATIO], met[max(driver, worker) <= MOST_GROWTH]
    legs = {
        f"{WORKERS} plain processes, half of them each": overhead.plain_seconds,
        f"Ray with {WORKERS} workers": overhead.ray_seconds,
    }
    rates = "\n".join(f"| {leg} | {taken:,.1f} | {overhead.rows / taken:,.1f} |" for leg, taken in legs.items())
    points = "\n".join(
        f"| {one.rows:,} | {one.driver / 1e6:,.0f} MB | {one.worker / 1e6:,.0f} MB |" for one in memory.points
    )
    return f"""{HEADING}

`{command}`, {describe_machine()}, {datetime.date.today()}; the load by others was {overhead.load:.1f} before it.

{overhead.rows:,} dialogues of mixed lengths, whole commands with their start, one thread an engine:

| | seconds | questions a second |
|---|---|---|
{rates}

Ray at {overhead.ratio:.2f} of the plain processes' throughput (asked: {LEAST_RATIO}): {fast}.
Texts that differ: {overhead.wrong}.

Memory over {memory.rows:,} questions in {memory.seconds:,.0f} s; {memory.asked:.0%} of them have a dialogue and go
through the network:

| questions done | driver | largest worker |
|---|---|---|
{points}

From points two to four to the last three: driver {driver:+.1%}, workers {worker:+.1%} (asked: flat, at most
{MOST_GROWTH:+.0%}): {flat}.
"""


def describe_cost(overhead: Overhead, memory: Memory, command: str) -> str:
    """Return the section on a billion questions: the measured figures, multiplied out."""
    hours = BILLION / overhead.rate / 3_600
    alone = overhead.rows / overhead.work_seconds
    cut = overhead.rows / overhead.cut_seconds
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
            f"{cut:,.0f} questions a second",
            f"{BILLION / cut / 3_600:,.1f} core-hours, one task a file",
        ),
        "input (JSONL), read three times": (f"{bytes_in:,.0f} bytes a question", f"{bytes_in:,.0f} GB"),
        "output (JSONL; Parquet is smaller)": (f"{bytes_out:,.0f} bytes a question", f"{bytes_out:,.0f} GB in {files}"),
        "memory of a worker": (f"{worker:,.0f} MB", "the same"),
        "memory of the driver": (
            f"{driver:,.0f} MB with {memory.blocks:,} blocks",
            "grows with the number of blocks, not of questions",
        ),
    }
    table = "\n".join(f"| {name} | {measured} | {many} |" for name, (measured, many) in lines.items())
    spread = "\n".join(f"| {cores:,} | {_say_hours(hours / cores)} |" for cores in (100, 1_000, 10_000))
    return f"""{COST_HEADING}

From the figures of `{command}`
({describe_machine()}, {datetime.date.today()}; {overhead.rows:,} questions by Ray with {WORKERS} workers):
multiplied out, not run. Other processors, longer dialogues and another model change them in proportion.

| | measured | for 1,000,000,000 |
|---|---|---|
{table}

| cores | hours |
|---|---|
{spread}
"""


def _say_hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:,.1f}"


def replace_section(page: str, heading: str, section: str) -> str:
    """Return the page with the section of the heading replaced, or added at the end."""
    found = re.search(rf"^{re.escape(heading)}\n.*?(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        return f"{page.rstrip()}\n\n{section}"
    rest = page[found.end() :]
    return page[: found.start()] + section + (f"\n{rest}" if rest else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="questions for Ray against plain processes")
    parser.add_argument("--memory-rows", type=int, default=1_000_000, help="questions for the memory")
    parser.add_argument("--asked", type=float, default=0.02, help="the share of those that have a dialogue")
    parser.add_argument(
        "--data", type=Path, default=ROOT / "examples" / "everyday.jsonl", help="dialogues to make them of"
    )
    parser.add_argument("--model", help="a model's folder; the one that ships without it")
    parser.add_argument("--write", action="store_true", help="replace the sections of RESULTS.md and docs/scale.md")
    asked = parser.parse_args()
    command = " ".join(["python benchmarks/bench_scale.py", *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as folder:
        overhead = measure_overhead(Path(folder), asked.rows, asked.data, asked.model)
        print(f"overhead: {overhead}", flush=True)
        memory = measure_memory(Path(folder), asked.memory_rows, asked.asked, asked.data, asked.model)
    section, cost = describe(overhead, memory, command), describe_cost(overhead, memory, command)
    print(section)
    print(cost)
    if overhead.wrong:
        sys.exit("Ray gave other texts than one process")
    if asked.write:
        for page, heading, text in ((RESULTS, HEADING, section), (COST_PAGE, COST_HEADING, cost)):
            page.write_text(replace_section(page.read_text("utf-8"), heading, text), "utf-8")


if __name__ == "__main__":
    main()
