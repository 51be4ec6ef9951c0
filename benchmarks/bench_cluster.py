"""Run millions of questions through ``riseq.scale`` on a simulated cluster, kill its workers, and check every row.

The cluster is Ray's, on this machine: eight worker processes with one thread each, more than it has cores. The real
model answers a sample of the rows in them. A stand-in answers the others and sleeps until the block has taken what the
model, measured before, would take for it, divided by ``--faster``: eight workers that are 25 times as fast want blocks
as often as 200. Workers are killed with SIGKILL at random. Whatever is written is then read back: every id once, every
text the one of a single process. Run it from the repository's root: ``python benchmarks/bench_cluster.py [--rows N]
[--workers N] [--faster K] [--real SHARE] [--kills N] [--block-rows N] [--seed N] [--data FILE] [--model FOLDER]
[--write]``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import ceil, sqrt
from pathlib import Path
from threading import Timer

from bench_scale import read_memory
from results import EVERYDAY, OUTPUTS, ROOT, describe_run, format_table, make_examples, say_met, write_section
from riseq.core.edits import Op
from riseq.files import write_text
from riseq.scale import Spread
from riseq.scale.run import BLOCK_ROWS, open_run
from riseq.scale.workers import import_ray
from riseq.systems.registry import SystemChoice
from riseq.types import Example, Simplification, Step, TextEdit

FILES, POINTS = 100, 10
DIALOGUES = 4_999
"""How many different dialogues the rows have; a prime, so that rows of the sample, evenly spaced, have all of them."""
MOST_WAITING = 0.05
"""What is asked for: the share of the workers' time that may go into waiting for a block."""
OUTSTANDING = 4_000
"""With how many results outstanding the driver's wait for the next is measured."""
MODEL_PAGE = ROOT / "docs" / "scale.md"
OUTPUT = OUTPUTS / "cluster.txt"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated."""

    rows: int
    workers: int
    faster: float
    """How many times as fast as the model blocks are done."""
    every: int
    """One row in so many is answered by the real model."""
    kills: int
    block_rows: int
    seed: int

    @property
    def real_workers(self) -> float:
        """How many real workers want blocks as often as these."""
        return self.workers * self.faster


@dataclass(frozen=True, slots=True)
class Point:
    """How a run stood when ``rows`` were done: seconds since its start, and bytes of driver and largest worker."""

    rows: int
    seconds: float
    killed: int
    driver_cpu: float
    driver: int
    worker: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a run on the simulated cluster took; times are in seconds."""

    plan: Plan
    blocks: int
    latency: float
    """Of the real model, for one question."""
    finding: float
    """From the start of the cluster until all blocks were known."""
    seconds: float
    """From then to the last block's result."""
    ending: float
    """From then until the manifest was written."""
    work: float
    """The workers' blocks, all together; the next three are of all workers together too."""
    waiting: float
    """Between two blocks of one process."""
    starting: float
    """Before a worker's first block."""
    idle: float
    """After a worker's last block."""
    driver_cpu: float
    wait_cpu: float
    """What one more worker adds to the driver's CPU time for a block."""
    killed: int
    again: int
    """How many blocks were begun again."""
    bytes_in: int
    bytes_out: int
    points: tuple[Point, ...]

    @property
    def total(self) -> float:
        """The time of all workers together."""
        return self.plan.workers * self.seconds

    @property
    def answering(self) -> float:
        """What the answers of all blocks took: the model's latency, compressed."""
        return self.plan.rows * self.latency / self.plan.faster

    @property
    def reading(self) -> float:
        """What the blocks took beyond their answers: reading and writing rows."""
        return self.work - self.answering

    @property
    def lost(self) -> float:
        """What kills took of the workers' time: blocks done in part, processes and engines started anew."""
        return self.total - self.work - self.waiting - self.starting - self.idle

    @property
    def most_workers(self) -> float:
        """How many real workers would keep a driver of one core busy all the time."""
        # N workers give N / block_seconds blocks a second, each of which takes own + wait_cpu * N of the driver.
        own, block_seconds = self.driver_cpu / self.blocks, self.plan.block_rows * self.latency
        return (sqrt(own**2 + 4 * self.wait_cpu * block_seconds) - own) / (2 * self.wait_cpu)


@dataclass(frozen=True, slots=True)
class Check:
    """What is wrong with the rows that were written."""

    missing: int
    doubled: int
    wrong: int
    """Rows whose dialogue or text is not the expected one."""
    real: int
    """How many rows the real model answered."""

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.missing or self.doubled or self.wrong)


class Sampled:
    """A system whose sampled rows the real model answers, and the others a stand-in of the model's latency."""

    name = "sampled"

    def __init__(self, choice: SystemChoice, every: int, latency: float, begun: Path) -> None:
        """Load the model; one row in ``every`` is its own, and a line in ``begun`` tells of each block."""
        self._real, self._every, self._latency, self._begun = choice.load(), every, latency, begun

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield the model's result or the stand-in's for each question, after as long as all of them should take."""
        began = time.perf_counter()
        held = list(examples)
        with self._begun.open("a", encoding="ascii") as file:
            file.write(f"{held[0].id}\n")
        real = iter(self._real.simplify([one for one in held if is_real(one.id, self._every)]))
        results = [next(real) if is_real(one.id, self._every) else shorten(one.question) for one in held]
        time.sleep(max(0.0, began + self._latency * len(held) - time.perf_counter()))
        return iter(results)


def is_real(name: str, every: int) -> bool:
    """Return whether the real model answers the row with this id."""
    return int(name) % every == 0


def shorten(question: str) -> Simplification:
    """Return the stand-in's result: the question without its first word."""
    first, _, rest = question.partition(" ")
    edit = TextEdit(Op.DELETE, 0, len(first) + 1, f"{first} ", "")
    return Simplification(question, rest, (Step(rest, (edit,)),))


def write_folder(folder: Path, dialogues: Sequence[Example], rows: int) -> int:
    """Write files of ``rows`` questions whose ids are their numbers, and return how many bytes they have."""
    folder.mkdir()
    texts = [json.dumps({"context": one.context, "question": one.question})[1:] for one in dialogues]
    size, each = 0, ceil(rows / FILES)
    for first in range(0, rows, each):
        with (folder / f"questions-{first // each:03d}.jsonl").open("w", encoding="utf-8") as file:
            numbers = range(first, min(first + each, rows))
            file.writelines(f'{{"id": "{number}", {texts[number % len(texts)]}\n' for number in numbers)
            size += file.tell()
    return size


def check_rows(output: Path, dialogues: Sequence[Example], texts: Sequence[str], plan: Plan) -> Check:
    """Return what is wrong with the files of ``output``; ``texts`` are the real model's for the dialogues."""
    real = [(list(one.context), one.question, text) for one, text in zip(dialogues, texts, strict=True)]
    others = [(list(one.context), one.question, shorten(one.question).text) for one in dialogues]
    seen = bytearray(plan.rows)
    doubled = wrong = by_model = 0
    for part in output.glob("*.jsonl"):
        with part.open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                number, sampled = int(row["id"]), is_real(row["id"], plan.every)
                doubled += seen[number]
                seen[number] = 1
                by_model += sampled
                expected = (real if sampled else others)[number % len(dialogues)]
                wrong += (row["context"], row["question"], row["text"]) != expected
    return Check(seen.count(0), doubled, wrong, by_model)


def measure_latency(choice: SystemChoice, dialogues: Sequence[Example]) -> tuple[float, list[str]]:
    """Return the seconds a question that the real model takes in one process, and its texts."""
    system = choice.load()
    list(system.simplify(dialogues[:32]))
    began = time.perf_counter()
    texts = [one.text for one in system.simplify(dialogues)]
    return (time.perf_counter() - began) / len(dialogues), texts


def measure_cluster(
    folder: Path, dialogues: Sequence[Example], choice: SystemChoice, latency: float, plan: Plan
) -> Cluster:
    """Return what a run from ``folder/in``, which is made, to ``folder/out`` took; its driver is this process."""
    rng = random.Random(plan.seed)
    source, output, begun = folder / "in", folder / "out", folder / "begun"
    bytes_in = write_folder(source, dialogues, plan.rows)
    make_system = partial(Sampled, choice, plan.every, latency / plan.faster, begun)
    spread = Spread(workers=plan.workers, block_rows=plan.block_rows, format="jsonl")
    last: dict[int, float] = {}
    chosen, killed = set[int](), list[int]()
    points: list[Point] = []

    def kill(process: int) -> None:
        os.kill(process, signal.SIGKILL)
        killed.append(process)

    done, waiting, starting = 0, 0.0, 0.0
    opened = time.perf_counter()
    with open_run(str(source), str(output), make_system, {"benchmark": "cluster"}, spread) as run:
        began, cpu_before, blocks = time.perf_counter(), time.process_time(), len(run.missing)
        # None near the end, where workers that have no more blocks are ended.
        due = sorted(rng.sample(range(blocks - 4 * plan.workers), plan.kills), reverse=True)
        for count, result in enumerate(run.results(), 1):
            now, process = time.perf_counter(), int(result.worker.rpartition(":")[2])
            before = now - result.seconds - last.get(process, began)
            if process in last:
                waiting += before
            elif len(last) < plan.workers:
                starting += before
            last[process] = now
            done += result.block.rows
            alive = sorted(last.keys() - chosen)
            if due and count >= due[-1] and len(last) >= plan.workers and alive:
                due.pop()
                victim = rng.choice(alive)
                chosen.add(victim)
                # Workers begin their blocks nearly together, so a result's arrival is no random moment.
                Timer(rng.random() * plan.block_rows * latency / plan.faster, kill, (victim,)).start()
            if done >= plan.rows * (len(points) + 1) / POINTS:
                cpu, worker = time.process_time() - cpu_before, max(read_memory(str(one)) for one in alive)
                points.append(Point(done, now - began, len(killed), cpu, read_memory(), worker))
                print(points[-1], flush=True)
        ended, driver_cpu = time.perf_counter(), time.process_time() - cpu_before
        manifest = run.finish()
        ending = time.perf_counter() - ended
        wait_cpu = measure_wait()
    if manifest.state != "finished":
        raise RuntimeError(f"the run is {manifest.state}: {manifest.failures}")
    return Cluster(
        plan=plan,
        blocks=blocks,
        latency=latency,
        finding=began - opened,
        seconds=ended - began,
        ending=ending,
        work=manifest.runs[-1]["work seconds"],
        waiting=waiting,
        starting=starting,
        idle=sum(ended - last[one] for one in last.keys() - chosen),
        driver_cpu=driver_cpu,
        wait_cpu=wait_cpu,
        killed=len(killed),
        again=begun.read_text(encoding="ascii").count("\n") - blocks,
        bytes_in=bytes_in,
        bytes_out=manifest.runs[-1]["bytes"],
        points=tuple(points),
    )


class Holder:
    """A worker that is busy for as long as it is told."""

    def hold(self, seconds: float) -> None:
        """Return after ``seconds``."""
        time.sleep(seconds)


def measure_wait(times: int = 20) -> float:
    """Return the CPU seconds that one more outstanding result adds to a ``ray.wait`` of this process."""
    ray = import_ray()
    actor = ray.remote(Holder).remote()
    ready = actor.hold.remote(0)
    ray.get(ready)
    outstanding = [actor.hold.remote(3_600) for _ in range(OUTSTANDING)]
    time.sleep(1)  # until they are sent
    began = time.process_time()
    for _ in range(times):
        ray.wait([*outstanding, ready])
    taken = time.process_time() - began
    ray.kill(actor)
    return taken / times / OUTSTANDING


def describe(cluster: Cluster, check: Check, run: str) -> str:
    """Return the section of the results' page; ``run`` is the command, the machine and the day."""
    one, plan = cluster, cluster.plan
    parts = {
        "answering: the model's latency, compressed": one.answering,
        "reading and writing rows, not compressed": one.reading,
        "waiting for the next block": one.waiting,
        "lost to kills: blocks done in part, processes and engines started anew": one.lost,
        "starting processes and engines": one.starting,
        "nothing left to do, at the end": one.idle,
    }
    shares = [(name, f"{seconds:,.1f}", f"{seconds / one.total:.2%}") for name, seconds in parts.items()]
    points = [
        (
            f"{at.rows:,}",
            f"{at.seconds:,.0f}",
            f"{at.killed}",
            f"{at.driver_cpu:,.1f} s",
            f"{at.driver / 1e6:,.0f} MB",
            f"{at.worker / 1e6:,.0f} MB",
        )
        for at in one.points
    ]
    fed, whole = say_met(one.waiting / one.total <= MOST_WAITING), say_met(check.passed)
    return f"""{run}. Raw output: `outputs/{OUTPUT.name}`.

{plan.rows:,} questions in a folder of {FILES} files, {one.blocks:,} blocks, by Ray with {plan.workers} workers of one
thread, all on this machine. The real model ({one.latency * 1e3:.1f} ms a question, measured before the run) answered
{check.real:,} of them. A stand-in answered the others, in the model's time divided by {plan.faster:g}: workers that are
so much faster want blocks as often as {plan.real_workers:,.0f} real ones. {one.killed} workers were killed with SIGKILL
at random moments, and {one.again} blocks were begun again.

Rows missing: {check.missing}; doubled: {check.doubled}; with another text or dialogue than in one process:
{check.wrong}. Asked: nothing lost when workers die at random: {whole}.

{one.seconds:,.0f} s, {plan.rows / one.seconds:,.0f} questions and {one.blocks / one.seconds:.1f} blocks a second.
Before it, {one.finding:.1f} s to start the cluster and to find the blocks; after the last block, {one.ending:.2f} s
to finish. Where the workers' {one.total:,.0f} s went:

{format_table(("", "seconds", "share"), shares)}

Waiting for a block (asked: at most {MOST_WAITING:.0%} of the workers' time): {fed}.

The driver's CPU time was {one.driver_cpu:.1f} s: {one.driver_cpu / one.blocks * 1e3:.2f} ms a block,
{one.driver_cpu / plan.rows * 1e6:.2f} µs a question, {one.driver_cpu / one.seconds:.1%} of one core. Every further
worker adds {one.wait_cpu * 1e6:.2f} µs a block (`ray.wait` with {OUTSTANDING:,} results outstanding). A driver of
one core would be busy all the time with {one.most_workers:,.0f} real workers: multiplied out, not run;
Ray's own servers and the storage are not counted in it.

{format_table(("questions done", "seconds", "killed", "driver's CPU time", "driver", "largest worker"), points)}
"""


def read_cost_model(page: str) -> dict[str, float]:
    """Return what the section on a billion questions says was measured, by the names of its lines."""
    section = page.partition("\n## What a billion questions cost\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| ([a-z].*?) \| ([\d,.]+) ", section, flags=re.MULTILINE)
    return {name: float(number.replace(",", "")) for name, number in lines}


def describe_cost(cluster: Cluster, model: dict[str, float], run: str) -> str:
    """Return the section that sets a run against ``model``, the figures of the cost model."""
    one, plan, rate = cluster, cluster.plan, model["a worker of one core"]
    expected = one.answering / plan.workers
    worker, driver = (max(getattr(at, name) for at in one.points) / 1e6 for name in ("worker", "driver"))
    lines = {
        "a worker of one core": (f"{rate:,.1f} questions a second", f"{1 / one.latency:,.1f}, the model alone"),
        "the blocks": (f"{plan.rows / rate / plan.real_workers:,.0f} s", f"{one.seconds:,.0f} s"),
        "the blocks, with this run's latency": (f"{expected:,.0f} s", f"{one.seconds:,.0f} s"),
        "finding the blocks": (
            f"{plan.rows / model['finding the blocks (JSONL)']:,.0f} core-seconds",
            f"{one.finding:,.1f} s, the cluster's start among them",
        ),
        "input": (
            f"{model['input (JSONL), read three times']:,.0f} bytes a question",
            f"{one.bytes_in / plan.rows:,.0f}",
        ),
        "output": (
            f"{model['output (JSONL; Parquet is smaller)']:,.0f} bytes a question",
            f"{one.bytes_out / plan.rows:,.0f}, most of it the stand-in's",
        ),
        "memory of a worker": (f"{model['memory of a worker']:,.0f} MB", f"{worker:,.0f} MB"),
        "memory of the driver": (
            f"{model['memory of the driver']:,.0f} MB",
            f"{driver:,.0f} MB with {one.blocks:,} blocks",
        ),
    }
    return f"""{run}:
{plan.rows:,} questions on {plan.workers} simulated workers, {plan.faster:g} times as fast as real ones;
{one.killed} were killed, and every row is there once. What is real and what is not is in `benchmarks/RESULTS.md`.

{format_table(("", "cost model", "this run"), [(name, *cells) for name, cells in lines.items()])}

The run took {one.seconds / expected:.2f} times what its own latency says. Of the workers' time
{one.reading / one.total:.1%} went into reading and writing rows, {one.lost / one.total:.1%} was lost to kills,
{(one.starting + one.idle) / one.total:.1%} went into start and end, and {one.waiting / one.total:.1%} into waiting for
blocks. None of these is compressed: beside the model at its real speed, reading and writing add
{one.reading / plan.rows / one.latency:.1%}. One driver was tried with the blocks of {plan.real_workers:,.0f} real
workers; by its own CPU time it would feed {one.most_workers:,.0f}, if Ray's servers and the storage do not fail before.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000, help="questions in the folder")
    parser.add_argument("--workers", type=int, default=8, help="processes of the simulated cluster")
    parser.add_argument(
        "--faster", type=float, default=25.0, help="how many times as fast as the model blocks are done"
    )
    parser.add_argument("--real", type=float, default=0.001, help="the share of the rows that the model answers")
    parser.add_argument("--kills", type=int, default=20, help="how many workers are killed")
    parser.add_argument("--block-rows", type=int, default=BLOCK_ROWS, help="rows of a block")
    parser.add_argument("--seed", type=int, default=7, help="of the kills")
    parser.add_argument("--data", type=Path, default=EVERYDAY, help="dialogues to make the questions of")
    parser.add_argument("--model", type=Path, help="a model's folder; the one that ships without it")
    parser.add_argument("--write", action="store_true", help="replace the sections of RESULTS.md and docs/scale.md")
    asked = parser.parse_args()
    run = f"{describe_run()}; the load by others was {os.getloadavg()[0]:.1f} before it"
    every = round(1 / asked.real)
    plan = Plan(asked.rows, asked.workers, asked.faster, every, asked.kills, asked.block_rows, asked.seed)
    dialogues = list(islice(make_examples(asked.data), min(DIALOGUES, plan.rows)))
    choice = SystemChoice("rise", asked.model.resolve() if asked.model else None, threads=1)
    latency, texts = measure_latency(choice, dialogues)
    with tempfile.TemporaryDirectory() as folder:
        cluster = measure_cluster(Path(folder), dialogues, choice, latency, plan)
        check = check_rows(Path(folder) / "out", dialogues, texts, plan)
    raw = "\n".join(map(str, (run, *cluster.points, replace(cluster, points=()), check)))
    print(raw, flush=True)
    if not check.passed:
        sys.exit("rows were lost, doubled or changed")
    section = describe(cluster, check, run)
    cost = describe_cost(cluster, read_cost_model(MODEL_PAGE.read_text(encoding="utf-8")), run)
    print(section)
    print(cost)
    if asked.write:
        write_section("A simulated cluster", section)
        write_section("The cost model against a simulated cluster", cost, MODEL_PAGE)
        write_text(OUTPUT, f"{raw}\n")


if __name__ == "__main__":
    main()
