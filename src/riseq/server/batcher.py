"""Dynamic batching: questions that arrive together are answered together, off the event loop."""

import asyncio
import logging
import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice

from riseq.server.engines import Engine, Question
from riseq.server.errors import ApiError
from riseq.server.monitoring import Clock, Metrics
from riseq.server.settings import Settings
from riseq.types import Simplification

log = logging.getLogger("riseq.server")

FIRST_GUESS_S = 0.02  # how long a question takes, before any has been answered: what Retry-After is reckoned from
SMOOTHING = 0.2
LONGEST_RETRY_S = 60
RETRY_AFTER_DRAINING_S = 5


@dataclass(eq=False, slots=True)
class _Job:
    """A question in the queue, and who waits for it."""

    question: Question
    future: asyncio.Future[Simplification]
    since: float


class Batcher:
    """Holds what waits, and hands it in batches to worker threads that survive every exception.

    All methods belong to the event loop's thread. Whatever goes wrong with a question is an ``ApiError``.
    """

    def __init__(
        self, engine: Engine, settings: Settings, metrics: Metrics | None = None, clock: Clock = time.monotonic
    ) -> None:
        self.engine, self.settings = engine, settings
        self.last_success: float | None = None
        """When a question was last answered, by ``clock``."""
        self.draining = False
        self._metrics = metrics or Metrics(engine.info)
        self._metrics.queue.set_function(lambda: float(self.queued))
        self._clock = clock
        self._waiting: dict[_Job, None] = {}
        self._arrived = asyncio.Event()
        self._pool = ThreadPoolExecutor(settings.workers, thread_name_prefix="riseq-worker")
        self._workers: list[asyncio.Task[None]] = []
        self._at_work: list[list[_Job]] = []
        self._calls: set[int] = set()
        self._seconds_each = FIRST_GUESS_S

    @property
    def queued(self) -> int:
        """How many questions wait; those at work are not counted."""
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether not even one question more would be taken."""
        return self.queued >= self.settings.max_queue

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
        self._workers = [asyncio.create_task(self._work()) for _ in range(self.settings.workers)]

    def drain(self) -> None:
        """Take nothing new from now on."""
        self.draining = True

    async def stop(self) -> None:
        """Stop the workers; whatever is not answered is cancelled."""
        self.drain()
        for job in [*self._waiting, *chain(*self._at_work)]:
            job.future.cancel()
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def submit(self, questions: Sequence[Question]) -> list[asyncio.Future[Simplification]]:
        """Queue all of ``questions`` or none, and return a future of each; a cancelled one leaves the queue at once."""
        if self.draining:
            raise ApiError(503, "draining", "the server is shutting down", RETRY_AFTER_DRAINING_S)
        if self.queued + len(questions) > self.settings.max_queue:
            estimated = math.ceil(self.queued * self._seconds_each / self.settings.workers)
            wait = max(1, min(LONGEST_RETRY_S, estimated))
            raise ApiError(429, "queue_full", f"the queue is full; try again in {wait} s", wait)
        loop, now = asyncio.get_running_loop(), self._clock()
        jobs = [_Job(question, loop.create_future(), now) for question in questions]
        for job in jobs:
            self._waiting[job] = None
            job.future.add_done_callback(partial(self._leave, job))
        self._arrived.set()
        return [job.future for job in jobs]

    async def simplify(self, question: Question) -> Simplification:
        """Return the result of one question; when the caller is cancelled, so is the question."""
        (future,) = self.submit([question])
        return await future

    def _leave(self, job: _Job, future: asyncio.Future[Simplification]) -> None:
        if future.cancelled():
            self._waiting.pop(job, None)
            self._metrics.items.labels("dropped").inc()

    async def _work(self) -> None:
        while True:
            jobs = await self._collect()
            self._at_work.append(jobs)
            try:
                await self._answer(jobs)
            except Exception as error:  # The worker goes on, whatever happened.
                log.error("the batcher failed: %s", type(error).__name__)
                for job in jobs:
                    if not job.future.done():
                        job.future.set_exception(_fail(error))
            finally:
                self._at_work.remove(jobs)

    async def _collect(self) -> list[_Job]:
        """Return the next batch, the shortest question first: what has waited longest, shared among idle workers."""
        while not (jobs := self._choose()):
            self._arrived.clear()
            await self._arrived.wait()
            if self._waiting and self.queued < self.settings.max_batch:
                first = next(iter(self._waiting))
                wait_s = self.settings.batch_wait_ms / 1000
                await asyncio.sleep(max(0.0, first.since + wait_s - self._clock()))
        for job in jobs:
            del self._waiting[job]
        return sorted(jobs, key=lambda job: job.question.length)

    def _choose(self) -> list[_Job]:
        idle = self.settings.workers - len(self._at_work)
        share = min(self.settings.max_batch, math.ceil(self.queued / idle))
        # One that was cancelled a moment ago may not have left yet.
        return list(islice((job for job in self._waiting if not job.future.cancelled()), share))

    async def _answer(self, jobs: list[_Job]) -> None:
        started = self._clock()
        outcomes = await asyncio.get_running_loop().run_in_executor(self._pool, self._run, jobs)
        seconds = self._clock() - started
        self._seconds_each += SMOOTHING * (seconds / len(jobs) - self._seconds_each)
        self._metrics.batch_done(len(jobs), seconds)
        for job, outcome in zip(jobs, outcomes, strict=True):
            if isinstance(outcome, Simplification):
                self.last_success = self._clock()
            if job.future.done():  # Cancelled while it was at work.
                continue
            if isinstance(outcome, Simplification):
                self._metrics.item_done(outcome, started - job.since)
                job.future.set_result(outcome)
            else:
                self._metrics.items.labels("failed").inc()
                job.future.set_exception(_fail(outcome))

    def _run(self, jobs: list[_Job]) -> list[Simplification | BaseException]:
        """Answer a batch in a worker thread; where it fails, each question is tried alone: only bad ones fail."""
        self._calls.add(thread := threading.get_ident())
        try:
            results = self.engine.simplify([job.question for job in jobs])
            if len(results) != len(jobs):
                raise ValueError(f"the engine gave {len(results)} results for {len(jobs)} questions")
            return [*results]
        except BaseException as error:  # In a thread of its own even an exit is only this batch's.
            if len(jobs) == 1:
                return [error]
        finally:
            self._calls.discard(thread)
        return [asyncio.CancelledError() if job.future.cancelled() else self._run([job])[0] for job in jobs]


def _fail(cause: BaseException) -> ApiError:
    error = ApiError(500, "failed", "the engine failed on this question; the server's log says more")
    error.__cause__ = cause
    return error
