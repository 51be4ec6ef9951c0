"""Dynamic batching: questions that arrive together are simplified together, off the event loop."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice

from riseq.server.engine import Ask, Engine
from riseq.types import Simplification

log = logging.getLogger("riseq.server")

FIRST_GUESS_S = 0.02
"""How long a question takes, before any has been answered: what Retry-After is reckoned from."""
SMOOTHING = 0.2
LONGEST_RETRY_S = 60


class QueueFullError(Exception):
    """There is no room for so many more questions now; ``retry_after`` seconds later there may be."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"try again in {retry_after} s")
        self.retry_after = retry_after


class DrainingError(Exception):
    """The batcher finishes what it has and takes nothing new."""


class FailedError(Exception):
    """This question made the engine fail, alone too; the cause is the engine's error."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How batches are made."""

    max_batch: int = 16
    wait_s: float = 0.002
    """How long the first of a batch waits for others."""
    max_queue: int = 1_024
    workers: int = 1


class Observer:
    """Is told what the batcher does; this one does not care."""

    def batch_done(self, asked: int, seconds: float) -> None:
        """Tell that a batch left the worker."""

    def item_done(self, result: Simplification, waited: float) -> None:
        """Tell that a question was answered, and how long it stood in the queue."""

    def item_failed(self, error: BaseException) -> None:
        """Tell that a question failed alone."""

    def item_dropped(self) -> None:
        """Tell that nobody waits for a question any more."""


@dataclass(eq=False, slots=True)
class _Job:
    ask: Ask
    future: asyncio.Future[Simplification]
    since: float
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class _Outcome:
    result: Simplification | None = None
    error: BaseException | None = None


class Batcher:
    """Holds what waits, and hands it in batches to worker threads that survive every exception.

    All methods belong to the event loop's thread.
    """

    def __init__(
        self,
        engine: Engine,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        observer: Observer | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take what simplifies, how batches are made, and who is told."""
        self.engine, self.limits = engine, limits
        self.last_success: float | None = None
        """When a question was last answered, by ``clock``."""
        self.draining = False
        self._observer = observer or Observer()
        self._clock = clock
        self._waiting: dict[_Job, None] = {}
        self._arrived = asyncio.Event()
        self._pool = ThreadPoolExecutor(limits.workers, thread_name_prefix="riseq-worker")
        self._workers: list[asyncio.Task[None]] = []
        self._at_work: set[_Job] = set()
        self._busy = 0
        self._calls: set[int] = set()
        self._seconds_each = FIRST_GUESS_S

    @property
    def queued(self) -> int:
        """How many questions wait; those at work are not counted."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether not even one question more would be taken."""
        return self.queued >= self.limits.max_queue

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is at work."""
        return not self._waiting and not self._at_work

    @property
    def hangs(self) -> bool:
        """Whether the engine is still in a call, even where nobody waits for it any more."""
        return bool(self._calls)

    def start(self) -> None:
        """Start the workers."""
        self._workers = [asyncio.create_task(self._work()) for _ in range(self.limits.workers)]

    def drain(self) -> None:
        """Take nothing new from now on."""
        self.draining = True

    async def stop(self) -> None:
        """Stop the workers; whatever is not answered is cancelled."""
        self.drain()
        for job in [*self._waiting, *self._at_work]:
            job.future.cancel()
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def submit(self, asks: Sequence[Ask]) -> list[asyncio.Future[Simplification]]:
        """Queue all of ``asks`` or none, and return a future of each; a cancelled one leaves the queue at once."""
        if self.draining:
            raise DrainingError("shutting down")
        if self.queued + len(asks) > self.limits.max_queue:
            raise QueueFullError(self._estimate_wait())
        loop, now = asyncio.get_running_loop(), self._clock()
        jobs = [_Job(ask, loop.create_future(), now) for ask in asks]
        for job in jobs:
            self._waiting[job] = None
            job.future.add_done_callback(partial(self._leave, job))
        self._arrived.set()
        return [job.future for job in jobs]

    async def simplify(self, ask: Ask) -> Simplification:
        """Return the result of one question; when the caller is cancelled, so is the question."""
        (future,) = self.submit([ask])
        return await future

    def _leave(self, job: _Job, future: asyncio.Future[Simplification]) -> None:
        if future.cancelled():
            self._waiting.pop(job, None)
            self._observer.item_dropped()

    def _estimate_wait(self) -> int:
        return max(1, min(LONGEST_RETRY_S, math.ceil(self.queued * self._seconds_each / self.limits.workers)))

    async def _work(self) -> None:
        while True:
            jobs = await self._collect()
            self._busy += 1
            self._at_work.update(jobs)
            try:
                await self._answer(jobs)
            except Exception as error:  # The worker goes on, whatever happened.
                log.error("the batcher failed: %s", type(error).__name__)
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(FailedError("the batcher failed"))
            finally:
                self._busy -= 1
                self._at_work.difference_update(jobs)

    async def _collect(self) -> list[_Job]:
        """Return the next batch, the shortest question first: what has waited longest, shared among idle workers."""
        while not (jobs := self._choose()):
            self._arrived.clear()
            await self._arrived.wait()
            if self._waiting and self.queued < self.limits.max_batch:
                first = next(iter(self._waiting))
                await asyncio.sleep(max(0.0, first.since + self.limits.wait_s - self._clock()))
        now = self._clock()
        for job in jobs:
            del self._waiting[job]
            job.waited = now - job.since
        return sorted(jobs, key=lambda job: job.ask.length)

    def _choose(self) -> list[_Job]:
        idle = self.limits.workers - self._busy
        share = min(self.limits.max_batch, math.ceil(self.queued / idle))
        # One that was cancelled a moment ago may not have left yet.
        wanted = (job for job in self._waiting if not job.future.cancelled())
        return list(islice(wanted, share))

    async def _answer(self, jobs: list[_Job]) -> None:
        started = self._clock()
        outcomes = await asyncio.get_running_loop().run_in_executor(self._pool, self._run, jobs)
        seconds = self._clock() - started
        self._seconds_each += SMOOTHING * (seconds / len(jobs) - self._seconds_each)
        self._observer.batch_done(len(jobs), seconds)
        for job, outcome in zip(jobs, outcomes, strict=True):
            self._settle(job, outcome)

    def _run(self, jobs: list[_Job]) -> list[_Outcome]:
        """Simplify a batch in a worker thread; where it fails, each question is tried alone: only bad ones fail."""
        try:
            return [_Outcome(result) for result in self._call([job.ask for job in jobs])]
        except BaseException as error:  # In a thread of its own even an exit is only this batch's.
            if len(jobs) == 1:
                return [_Outcome(error=error)]
        return [_Outcome() if job.future.cancelled() else self._run([job])[0] for job in jobs]

    def _call(self, asks: list[Ask]) -> list[Simplification]:
        thread = threading.get_ident()
        self._calls.add(thread)
        try:
            results = self.engine.simplify(asks)
        finally:
            self._calls.discard(thread)
        if len(results) != len(asks):
            raise ValueError(f"the engine gave {len(results)} results for {len(asks)} questions")
        return results

    def _settle(self, job: _Job, outcome: _Outcome) -> None:
        if outcome.result is not None:
            self.last_success = self._clock()
        if job.future.done():  # Cancelled while it was at work.
            return
        if outcome.result is not None:
            self._observer.item_done(outcome.result, job.waited)
            job.future.set_result(outcome.result)
            return
        failed = FailedError("the engine failed")
        failed.__cause__ = outcome.error
        self._observer.item_failed(failed)
        job.future.set_exception(failed)
