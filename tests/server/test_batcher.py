"""Batches are made of what arrives together; one bad question harms no other, and nothing stops the workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from riseq.server.batcher import Batcher
from riseq.server.engines import DummyEngine, Engine, Question
from riseq.server.errors import ApiError
from riseq.server.monitoring import Metrics
from riseq.server.settings import Settings
from riseq.types import Simplification
from server.engines import POISON, GatedEngine, RecordingEngine

CONTEXT = ("Who directed Alien?",)


def ask(question: str) -> Question:
    return Question(question, CONTEXT)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


@asynccontextmanager
async def working(engine: Engine, metrics: Metrics | None = None, **settings: Any) -> AsyncIterator[Batcher]:
    batcher = Batcher(engine, Settings(max_items=1, **settings), metrics)
    batcher.start()
    try:
        yield batcher
    finally:
        await batcher.stop()


def test_what_arrives_together_shares_a_batch_the_shortest_first() -> None:
    async def test() -> None:
        engine = RecordingEngine()
        async with working(engine, batch_wait_ms=50) as batcher:
            questions = ["What is the longest of them?", "Short?", "Of middle length?"]
            results = await asyncio.gather(*(batcher.simplify(ask(question)) for question in questions))
            assert [result.question for result in results] == questions
            assert engine.batches == [["Short?", "Of middle length?", "What is the longest of them?"]]

    run(test())


def test_a_batch_has_no_more_than_its_limit_and_the_oldest_go_first() -> None:
    async def test() -> None:
        engine = RecordingEngine()
        async with working(engine, max_batch=4) as batcher:
            await asyncio.gather(*batcher.submit([ask(f"{k}?") for k in range(10)]))
        assert [sorted(batch) for batch in engine.batches] == [
            ["0?", "1?", "2?", "3?"],
            ["4?", "5?", "6?", "7?"],
            ["8?", "9?"],
        ]

    run(test())


def test_two_workers_share_what_waits_and_work_at_once() -> None:
    async def test() -> None:
        engine = GatedEngine()
        async with working(engine, workers=2, batch_wait_ms=10) as batcher:
            futures = batcher.submit([ask(f"{k}?") for k in range(6)])
            while batcher.queued:
                await asyncio.sleep(0.01)
            engine.gate.set()
            await asyncio.gather(*futures)
        assert sorted(map(len, engine.batches)) == [3, 3]

    run(test())


@pytest.mark.parametrize(("wait_ms", "least"), [(2, 0.002), (300, 0.3)])
def test_a_lonely_question_waits_no_longer_than_it_is_told_to(wait_ms: float, least: float) -> None:
    async def test() -> None:
        async with working(DummyEngine(), batch_wait_ms=wait_ms) as batcher:
            await asyncio.sleep(0.01)  # the worker waits for a question, not the question for the worker
            started = time.perf_counter()
            await batcher.simplify(ask("When was Alien released?"))
            assert least <= time.perf_counter() - started < least + 0.9

    run(test())


def test_the_event_loop_goes_on_while_the_engine_works() -> None:
    async def test() -> None:
        engine = GatedEngine()
        async with working(engine) as batcher:
            slow = asyncio.create_task(batcher.simplify(ask("Slow?")))
            while not engine.begun.is_set():
                await asyncio.sleep(0.001)
            # Had the engine's work held the loop up, nobody could open its gate.
            engine.gate.set()
            assert (await slow).question == "Slow?"

    run(test())


@pytest.mark.parametrize(
    "error", [ValueError("bad"), MemoryError(), SystemExit(3), KeyboardInterrupt(), RecursionError()], ids=repr
)
def test_a_poisonous_question_fails_alone_and_the_worker_lives(error: BaseException) -> None:
    async def test() -> None:
        engine = RecordingEngine(error)
        async with working(engine) as batcher:
            questions = ["One?", f"A {POISON}?", "Another one?"]
            first, bad, last = await asyncio.gather(
                *batcher.submit([ask(question) for question in questions]), return_exceptions=True
            )
            assert isinstance(first, Simplification)
            assert isinstance(last, Simplification)
            assert isinstance(bad, ApiError)
            assert (bad.status, bad.code) == (500, "failed")
            assert bad.__cause__ is error
            assert len(engine.batches) == 4  # together, then each alone
            assert (await batcher.simplify(ask("Still there?"))).text == "Still there?"

    run(test())


def test_an_engine_that_loses_an_answer_is_not_believed() -> None:
    class Loses(DummyEngine):
        def simplify(self, questions: Any) -> list[Simplification]:
            return super().simplify(questions)[:1]

    async def test() -> None:
        async with working(Loses()) as batcher:
            results = await asyncio.gather(*batcher.submit([ask("One?"), ask("Two?")]))
            assert [result.question for result in results] == ["One?", "Two?"]

    run(test())


def test_metrics_that_fail_does_not_stop_the_worker() -> None:
    class Fails(Metrics):
        def batch_done(self, count: int, seconds: float) -> None:
            if count == 2:
                raise RuntimeError("full disk")

    async def test() -> None:
        async with working(DummyEngine(), Fails(DummyEngine.info)) as batcher:
            two = await asyncio.gather(*batcher.submit([ask("One?"), ask("Two?")]), return_exceptions=True)
            assert all(isinstance(one, ApiError) for one in two)
            assert (await batcher.simplify(ask("Still there?"))).text == "Still there?"

    run(test())


def test_a_full_queue_takes_all_or_none_and_says_when_to_come_back() -> None:
    async def test() -> None:
        engine = GatedEngine()
        async with working(engine, max_queue=4, max_batch=2) as batcher:
            at_work = batcher.submit([ask("1?"), ask("2?")])
            while batcher.queued:
                await asyncio.sleep(0.005)
            waiting = batcher.submit([ask("3?"), ask("4?"), ask("5?")])
            with pytest.raises(ApiError, match="the queue is full; try again in 1 s") as refused:
                batcher.submit([ask("6?"), ask("7?")])
            assert (refused.value.status, refused.value.headers) == (429, {"Retry-After": "1"})
            assert not batcher.full  # none of the two was taken
            waiting += batcher.submit([ask("6?")])
            with pytest.raises(ApiError, match="the queue is full"):
                batcher.submit([ask("7?")])
            engine.gate.set()
            assert len(await asyncio.gather(*at_work, *waiting)) == 6

    run(test())


def test_a_cancelled_question_leaves_the_queue_and_the_engine_never_sees_it() -> None:
    async def test() -> None:
        engine = GatedEngine()
        async with working(engine) as batcher:
            at_work = asyncio.create_task(batcher.simplify(ask("At work?")))
            while not engine.begun.is_set():
                await asyncio.sleep(0.005)
            waiting = asyncio.create_task(batcher.simplify(ask("Waiting?")))
            while not batcher.queued:
                await asyncio.sleep(0)
            waiting.cancel()
            at_work.cancel()  # too late: its answer goes nowhere, and harms nobody
            await asyncio.gather(waiting, at_work, return_exceptions=True)
            assert batcher.queued == 0
            engine.gate.set()
            assert (await batcher.simplify(ask("Next?"))).text == "Next?"
        assert engine.batches == [["At work?"], ["Next?"]]

    run(test())


def test_a_question_cancelled_in_the_same_breath_is_never_worked_on() -> None:
    async def test() -> None:
        engine = RecordingEngine()
        async with working(engine, batch_wait_ms=0) as batcher:
            gone, stays = batcher.submit([ask("Gone?"), ask("Stays?")])
            gone.cancel()
            assert (await stays).text == "Stays?"
            (alone,) = batcher.submit([ask("Alone?")])
            alone.cancel()
            await asyncio.sleep(0.05)
            assert batcher.idle
        assert engine.batches == [["Stays?"]]

    run(test())


def test_a_draining_batcher_finishes_what_it_has_and_takes_nothing_new() -> None:
    async def test() -> None:
        engine = GatedEngine()
        async with working(engine, max_batch=1) as batcher:
            futures = batcher.submit([ask("1?"), ask("2?")])
            batcher.drain()
            with pytest.raises(ApiError, match="the server is shutting down"):
                batcher.submit([ask("3?")])
            assert not batcher.idle
            engine.gate.set()
            assert [result.text for result in await asyncio.gather(*futures)] == ["1?", "2?"]
            await asyncio.sleep(0.01)
            assert batcher.idle

    run(test())


def test_a_stopped_batcher_leaves_nobody_waiting() -> None:
    async def test() -> None:
        engine = GatedEngine()
        async with working(engine, max_batch=1) as batcher:
            futures = batcher.submit([ask("1?"), ask("2?")])
            while not engine.begun.is_set():
                await asyncio.sleep(0.005)
        engine.gate.set()
        assert all(future.cancelled() for future in futures)

    run(test())


def test_a_success_is_remembered_and_a_failure_is_not() -> None:
    async def test() -> None:
        async with working(RecordingEngine()) as batcher:
            with pytest.raises(ApiError, match="failed on this question"):
                await batcher.simplify(ask(POISON))
            assert batcher.last_success is None
            await batcher.simplify(ask("Fine?"))
            assert batcher.last_success is not None

    run(test())
