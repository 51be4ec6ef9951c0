"""How the server does: counts for Prometheus, and whether work is welcome."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from riseq import __version__
from riseq.server.engines import EngineInfo, Question
from riseq.server.errors import ApiError
from riseq.types import Simplification

if TYPE_CHECKING:
    from riseq.server.batcher import Batcher

Clock = Callable[[], float]
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_ITEMS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_PASSES = (0, 1, 2, 3, 4, 5, 10)
PROBE = Question("When was Alien released?", ("Who directed Alien?",))
TRIES = 3  # a probe that shared a batch with nothing may fail by chance; one that fails so often does not


class Metrics:
    """Counts of one server; several in a process don't mix."""

    def __init__(self, info: EngineInfo) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        seconds = partial(histogram, buckets=_SECONDS)
        self.requests = counter("riseq_requests", "Requests answered.", ["route", "status"])
        self.seconds = seconds("riseq_request_seconds", "From a request's head to its answer's end.", ["route"])
        self.items = counter("riseq_items", "Questions by what became of them: answered, failed, dropped.", ["outcome"])
        self.waited = seconds("riseq_queue_seconds", "How long questions waited for a worker.")
        self.batches = histogram("riseq_batch_items", "Questions in a batch.", buckets=_ITEMS)
        self.batch_seconds = seconds("riseq_batch_seconds", "How long a batch was at work.")
        self.passes = histogram("riseq_passes", "Passes that edited a question.", buckets=_PASSES)
        self.truncations = counter("riseq_truncations", "Questions with dialogue or words out of the model's sight.")
        self.queue = gauge("riseq_queue_items", "Questions that wait for a worker.")
        about = gauge("riseq_info", "The server; always 1.", ["version", "model", "engine"])
        about.labels(__version__, info.name, info.engine).set(1)
        for outcome in ("answered", "failed", "dropped"):
            self.items.labels(outcome)

    def batch_done(self, count: int, seconds: float) -> None:
        """Count a batch of ``count`` questions."""
        self.batches.observe(count)
        self.batch_seconds.observe(seconds)

    def item_done(self, result: Simplification, waited: float) -> None:
        """Count an answer, and how long its question stood in the queue."""
        self.items.labels("answered").inc()
        self.waited.observe(waited)
        self.passes.observe(len(result.steps))
        if result.truncated:
            self.truncations.inc()

    def write(self) -> bytes:
        """Return everything as Prometheus reads it."""
        return generate_latest(self.registry)


class Readiness:
    """Whether work is welcome: a real question was answered lately, if need be one of its own, and there is room."""

    def __init__(self, batcher: Batcher, fresh_s: float, timeout_s: float = 5.0, clock: Clock = time.monotonic) -> None:
        self._batcher, self._fresh_s, self._timeout_s, self._clock = batcher, fresh_s, timeout_s, clock
        self._probe: asyncio.Task[str | None] | None = None

    async def check(self) -> str | None:
        """Return why the server is not ready, None where it is."""
        if self._batcher.draining:
            return "shutting down"
        if self._batcher.full:
            return "the queue is full"
        last = self._batcher.last_success
        if last is not None and self._clock() - last <= self._fresh_s:
            return None
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._try())
        # Many may ask at once, and some go away: one probe serves them all.
        return await asyncio.shield(self._probe)

    async def _try(self) -> str | None:
        try:
            async with asyncio.timeout(self._timeout_s):
                for _ in range(TRIES):
                    try:
                        await self._batcher.simplify(PROBE)
                        return None
                    except ApiError as error:
                        if error.status != 500:
                            return error.message
        except TimeoutError:
            return f"a question was not answered within {self._timeout_s:g} s"
        return "questions fail"
