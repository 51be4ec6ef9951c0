"""Ready means that a real question was answered lately."""

from __future__ import annotations

import asyncio
import time

from riseq.server.batcher import Batcher
from riseq.server.engines import Question
from riseq.server.monitoring import PROBE, Readiness
from riseq.server.settings import Settings
from server.engines import FlakyEngine, GatedEngine, RecordingEngine


def test_a_fresh_success_is_enough_and_an_old_one_asks_for_a_probe() -> None:
    async def test() -> None:
        now = 100.0
        engine = RecordingEngine()
        batcher = Batcher(engine, Settings(), clock=lambda: now)
        batcher.start()
        readiness = Readiness(batcher, fresh_s=30, clock=lambda: now)
        assert await readiness.check() is None
        assert engine.batches == [[PROBE.question]]
        now += 29
        assert await readiness.check() is None
        assert len(engine.batches) == 1
        now += 2
        checks = await asyncio.gather(*(readiness.check() for _ in range(5)))
        assert checks == [None] * 5
        assert len(engine.batches) == 2  # one probe for all who asked
        await batcher.stop()

    asyncio.run(test())


def test_an_engine_that_always_fails_is_not_ready_and_one_that_rarely_does_is() -> None:
    async def check(share: float) -> str | None:
        batcher = Batcher(FlakyEngine(share), Settings())
        batcher.start()
        try:
            return await Readiness(batcher, fresh_s=30).check()
        finally:
            await batcher.stop()

    assert asyncio.run(check(1.0)) == "questions fail"
    assert asyncio.run(check(0.1)) is None


def test_an_engine_that_hangs_is_not_ready_and_is_again_when_it_goes_on() -> None:
    async def test() -> None:
        engine = GatedEngine()
        batcher = Batcher(engine, Settings(max_batch=1))
        batcher.start()
        readiness = Readiness(batcher, fresh_s=30, timeout_s=0.05)
        started = time.perf_counter()
        assert await readiness.check() == "a question was not answered within 0.05 s"
        assert time.perf_counter() - started < 5
        engine.gate.set()
        await batcher.simplify(Question("Next?"))
        assert await readiness.check() is None
        await batcher.stop()

    asyncio.run(test())
