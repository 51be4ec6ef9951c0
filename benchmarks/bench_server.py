"""Load ``riseq serve`` on loopback and hold it against the engine itself, in one run.

64 clients ask for 30 s, dialogues of mixed lengths, one request in a hundred a bad one: every answer is compared with
the engine's own, every bad request must get its 4xx. Then one client asks alone, in turn with direct calls. Run it from
the repository's root: ``python benchmarks/bench_server.py [--seconds N] [--clients N] [--threads N] [--write]``,
and ``-- FLAGS`` for those of ``riseq serve``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import results
from results import OUTPUTS, describe_run, say_met, write_section
from riseq import Example, Simplifier
from riseq.files import write_text

BAD_SHARE = 0.01
LEAST_SHARE, MOST_EXTRA_MS, MOST_GROWTH = 0.85, 5.0, 0.05
"""What is asked for: throughput against the engine's, latency above a direct call, and how far memory may grow."""
OUTPUT = OUTPUTS / "server.txt"
BAD: tuple[tuple[bytes, int], ...] = (
    (b'{"question": ""}', 422),
    (b'{"question": "Q?", "strength": 2}', 422),
    (b'{"question": "Q?", "context": 5}', 422),
    (b'{"question": "Q?"', 400),
    (b'{"question": "caf\xe9"}', 400),
    (b'{"items": [' + b",".join([b'{"question": "Q?"}'] * 257) + b"]}", 413),
)


@dataclass(slots=True)
class Tally:
    """What came back."""

    good: int = 0
    bad: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ids: Counter[str] = field(default_factory=Counter)
    memory: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured."""

    seconds: float
    clients: int
    tally: Tally
    bulk_rates: tuple[float, float]
    rate: float
    direct_ms: float
    served_ms: float
    batch: float

    @property
    def share(self) -> float:
        """The server's throughput as a share of the engine's own."""
        return self.rate / statistics.mean(self.bulk_rates)

    @property
    def growth(self) -> float:
        """How much larger the process was in the last third of the load than in the second."""
        third = len(self.tally.memory) // 3
        return statistics.median(self.tally.memory[-third:]) / statistics.median(self.tally.memory[third:-third]) - 1


def make_examples(count: int) -> list[Example]:
    """Return so many dialogues of mixed lengths."""
    return list(itertools.islice(results.make_examples(), count))


@contextmanager
def run_server(flags: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Give host and port of ``riseq serve``, at its defaults but for ``flags``."""
    command = [str(Path(sys.executable).parent / "riseq"), "serve", "--port", "0", "--log-level", "error", *flags]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        split = urlsplit(said.rpartition(" ")[2].strip())
        if split.hostname is None or split.port is None:
            raise RuntimeError(f"no server: {said}{process.stderr.read()}")
        yield split.hostname, split.port
    finally:
        process.terminate()
        process.wait(30)


class Connection:
    """One keep-alive connection, as lean as can be: the clients share the server's cores."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, host: str, port: int) -> Connection:
        """Return a connection to the server."""
        return cls(*await asyncio.open_connection(host, port))

    async def ask(
        self, body: bytes | None, path: str = "/v1/simplify", request_id: str = "-"
    ) -> tuple[int, str, bytes]:
        """Send one request; return the status, the request's id as it came back, and the body."""
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: {request_id}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.writer.write(f"{head}\r\n".encode() + (body or b""))
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"content-length: (\d+)", answer)
        told = re.search(r"x-request-id: (\S+)", answer)
        assert length is not None
        assert told is not None
        return int(answer.split(" ", 2)[1]), told[1], await self.reader.readexactly(int(length[1]))

    def close(self) -> None:
        """Hang up."""
        self.writer.close()


def write_body(example: Example) -> bytes:
    return json.dumps({"question": example.question, "context": example.context}).encode()


async def load(
    host: str,
    port: int,
    examples: Sequence[Example],
    expected: Sequence[str],
    clients: int,
    seconds: float,
    bad_share: float = BAD_SHARE,
) -> Tally:
    """Let ``clients`` ask one after the other for ``seconds``."""
    tally, rng, numbers = Tally(), random.Random(11), itertools.count()
    bodies = [write_body(example) for example in examples]
    until = time.perf_counter() + seconds

    async def talk() -> None:
        connection = await Connection.open(host, port)
        while time.perf_counter() < until:
            number = next(numbers)
            bad = rng.random() < bad_share
            index = rng.randrange(len(BAD) if bad else len(bodies))
            body, status = BAD[index] if bad else (bodies[index], 200)
            started = time.perf_counter()
            got, told, answer = await connection.ask(body, request_id=str(number))
            taken = time.perf_counter() - started
            tally.ids[told] += 1
            if told != str(number) or got != status:
                tally.wrong.append(f"request {number}: {got} for {told}, expected {status}")
            elif bad:
                tally.bad += 1
            elif (found := json.loads(answer))["text"] != expected[index] or found["question"] != examples[
                index
            ].question:
                tally.wrong.append(f"request {number}: {found['text']!r}, expected {expected[index]!r}")
            else:
                tally.good += 1
                tally.seconds.append(taken)
        connection.close()

    async def watch() -> None:
        connection = await Connection.open(host, port)
        while time.perf_counter() < until:
            tally.memory.append(await read_metric(connection, "process_resident_memory_bytes"))
            await asyncio.sleep(seconds / 60)
        connection.close()

    await asyncio.gather(watch(), *(talk() for _ in range(clients)))
    assert len(tally.ids) == next(numbers)
    assert set(tally.ids.values()) == {1}
    return tally


async def read_metric(connection: Connection, name: str) -> float:
    _, _, text = await connection.ask(None, "/metrics")
    found = re.search(rf"^{name} (\S+)$", text.decode(), re.MULTILINE)
    assert found is not None
    return float(found[1])


async def ask_alone(
    host: str, port: int, examples: Sequence[Example], simplifier: Simplifier
) -> tuple[list[float], list[float], float]:
    """Return the milliseconds of direct calls and of requests, in turn; and how many questions a batch had so far."""
    connection = await Connection.open(host, port)
    batch = await read_metric(connection, "riseq_batch_items_sum") / await read_metric(
        connection, "riseq_batch_items_count"
    )
    direct, served = [], []
    for example in examples:
        body = write_body(example)
        # A pause before each, so that neither meets the threads that the other left spinning.
        await asyncio.sleep(0.03)
        started = time.perf_counter()
        simplifier(example.question, example.context)
        direct.append(1000 * (time.perf_counter() - started))
        await asyncio.sleep(0.03)
        started = time.perf_counter()
        await connection.ask(body)
        served.append(1000 * (time.perf_counter() - started))
    connection.close()
    return direct, served, batch


def measure_bulk(simplifier: Simplifier, examples: Sequence[Example], seconds: float) -> tuple[float, list[str]]:
    """Return how many questions a second the engine does of itself, and what it says."""
    done, texts = 0, []
    started = time.perf_counter()
    while time.perf_counter() - started < seconds or not done:
        texts = [result.text for result in simplifier.batch(examples)]
        done += len(texts)
    return done / (time.perf_counter() - started), texts


def measure(clients: int, seconds: float, count: int, threads: int | None, flags: Sequence[str]) -> Report:
    """Return everything: the engine before and after, the server in between, each alone on the machine."""
    examples = make_examples(count)
    simplifier = Simplifier.load(threads=threads)
    list(simplifier.batch(examples[:8]))
    before, expected = measure_bulk(simplifier, examples, seconds / 3)
    told = [] if threads is None else ["--threads", str(threads)]
    with run_server([*told, *flags]) as (host, port):
        asyncio.run(load(host, port, examples, expected, 4, min(2.0, seconds / 4)))
        started = time.perf_counter()
        tally = asyncio.run(load(host, port, examples, expected, clients, seconds))
        taken = time.perf_counter() - started
        direct, served, batch = asyncio.run(ask_alone(host, port, examples[:100], simplifier))
    after, _ = measure_bulk(simplifier, examples, seconds / 3)
    return Report(
        seconds,
        clients,
        tally,
        (before, after),
        tally.good / taken,
        statistics.median(direct),
        statistics.median(served),
        batch,
    )


def describe(report: Report) -> str:
    """Return the section of the results' page."""
    tally, extra = report.tally, report.served_ms - report.direct_ms
    ranks = statistics.quantiles(tally.seconds, n=100)
    before, after = report.bulk_rates
    return f"""{describe_run()}, for server and clients together;
`riseq serve` with the model that ships, {report.clients} clients on loopback for {report.seconds:g} s, everyday
dialogues of mixed lengths. Raw output: `outputs/{OUTPUT.name}`.

| | |
|---|---|
| right answers | {tally.good:,} |
| wrong, lost or doubled answers | {len(tally.wrong)} |
| bad requests, each with its 4xx | {tally.bad:,} |
| throughput | {report.rate:.1f} questions a second |
| the engine's own bulk rate, before and after | {before:.1f} and {after:.1f} |
| share of it (asked: {LEAST_SHARE:.0%}) | {report.share:.0%}, {say_met(report.share >= LEAST_SHARE)} |
| latency under this load, median and 99% | {1000 * ranks[49]:,.0f} and {1000 * ranks[98]:,.0f} ms |
| questions a batch, mean | {report.batch:.1f} |
| memory, second third to last third of the load | {report.growth:+.1%}, {tally.memory[-1] / 1e6:.0f} MB at the end |
| one client alone, median | {report.served_ms:.1f} ms |
| direct call in turn with it, median | {report.direct_ms:.1f} ms |
| above it (asked: {MOST_EXTRA_MS:g} ms) | {extra:.1f} ms, {say_met(extra <= MOST_EXTRA_MS)} |
"""


def list_raw(report: Report) -> str:
    """Return everything that was measured, as JSON."""
    tally = report.tally
    told = {
        "run": describe_run(),
        "good": tally.good,
        "bad": tally.bad,
        "wrong": tally.wrong,
        "rate": report.rate,
        "bulk_rates": report.bulk_rates,
        "batch": report.batch,
        "direct_ms": report.direct_ms,
        "served_ms": report.served_ms,
        "memory": tally.memory,
        "latencies_ms": [round(1000 * seconds) for seconds in tally.seconds],
    }
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in told.items()) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--threads", type=int, help="the cores that a batch may use, in both; all without it")
    parser.add_argument("--write", action="store_true", help="replace the server's section of RESULTS.md")
    parser.add_argument("flags", nargs="*", help="flags of riseq serve, after --")
    asked = parser.parse_args()
    report = measure(asked.clients, asked.seconds, asked.questions, asked.threads, asked.flags)
    section = describe(report)
    print(section)
    for line in report.tally.wrong[:20]:
        print(line)
    if report.tally.wrong or report.growth > MOST_GROWTH:
        sys.exit("the server gave wrong answers, or grew")
    if asked.write:
        write_text(OUTPUT, list_raw(report))
        write_section("Server", section)


if __name__ == "__main__":
    main()
