"""Under load and under fire: answers are whole and right, and only what was hit is lost."""

from __future__ import annotations

import asyncio
import gc
import runpy
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from riseq.server.engines import DummyEngine, Question
from server.engines import FlakyEngine, GatedEngine
from server.serving import ALIEN, ANSWER, open_app, run_server

PATH = "/v1/simplify"


def test_with_a_tenth_of_the_batches_failing_the_server_stays_ready_and_loses_only_those() -> None:
    async def test() -> None:
        engine = FlakyEngine(0.1)
        async with open_app(engine, max_batch=8, workers=2) as (client, batcher):
            questions = [f"When was Alien number {k} released?" for k in range(600)]
            answers: list[httpx.Response] = []
            for start in range(0, len(questions), 60):
                asked = ({**ALIEN, "question": question} for question in questions[start : start + 60])
                answers += await asyncio.gather(*(client.post(PATH, json=one) for one in asked))
                assert (await client.get("/ready")).status_code == 200
            lost = 0
            for question, answer in zip(questions, answers, strict=True):
                if answer.status_code == 200:
                    assert answer.json()["question"] == question
                    assert answer.json()["text"] == question.replace("Alien", "it")
                else:
                    assert answer.status_code == 500
                    assert answer.json()["error"]["code"] == "failed"
                    lost += 1
            # A batch that fails is tried one by one: an item is lost only where its own call was hit again.
            assert engine.failures > 10
            assert 0 < lost < engine.failures
            assert lost < 0.04 * len(questions)
            assert batcher.idle

    asyncio.run(asyncio.wait_for(test(), 30))


def test_a_client_that_goes_away_takes_its_question_out_of_the_queue(caplog: pytest.LogCaptureFixture) -> None:
    engine = GatedEngine()
    engine.gate.set()
    with run_server(engine, max_batch=1) as address, httpx.Client(base_url=address, verify=False) as client:
        engine.gate.clear()
        engine.begun.clear()  # by the probe at the start
        body = b'{"question": "Nobody waits for this?"}'
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        split = urlsplit(address)
        first, second = (socket.create_connection((str(split.hostname), int(split.port or 0))) for _ in range(2))
        first.sendall(head.encode() + body)
        assert engine.begun.wait(10)
        second.sendall(head.encode() + body)
        wait_for_queue(client, 1)
        second.close()
        wait_for_queue(client, 0)
        assert 'riseq_items_total{outcome="dropped"} 1.0' in client.get("/metrics").text
        first.close()
        engine.gate.set()
        assert client.post(PATH, json=ALIEN).json()["text"] == ANSWER
        # The probe at the start, the one that was already at work, and the last one.
        assert len(engine.batches) == 3
    gc.collect()  # which is when asyncio tells what nobody looked at
    assert "never retrieved" not in caplog.text


def wait_for_queue(client: httpx.Client, count: int) -> None:
    for _ in range(400):
        if f"riseq_queue_items {count}.0" in client.get("/metrics").text:
            return
        time.sleep(0.01)
    raise AssertionError(f"the queue never had {count}")


def test_many_clients_at_once_each_get_their_own_answer(root: Path) -> None:
    """The benchmark's own load, for a second: mixed lengths, bad requests among them, ids that must come back once."""
    bench = runpy.run_path(str(root / "benchmarks" / "bench_server.py"))
    examples = bench["make_examples"](50)
    expected = [one.text for one in DummyEngine().simplify([Question(one.question, one.context) for one in examples])]
    with run_server(DummyEngine(seconds=0.0005), workers=2) as address:
        split = urlsplit(address)
        tally = asyncio.run(bench["load"](split.hostname, split.port, examples, expected, 64, 1.0, bad_share=0.05))
        with httpx.Client(base_url=address, verify=False) as client:
            counts = read_counts(client.get("/metrics").text)
    assert tally.wrong == []
    assert tally.good > 64
    assert tally.bad > 0
    # And the server counted the same.
    assert counts['riseq_requests_total{route="/v1/simplify",status="200"}'] == tally.good
    refused = [f'riseq_requests_total{{route="/v1/simplify",status="{status}"}}' for status in (400, 413, 422)]
    assert sum(counts.get(name, 0) for name in refused) == tally.bad
    assert counts["riseq_batch_items_sum"] == tally.good + 1  # the probe at the start
    assert counts["riseq_batch_items_count"] < tally.good  # some shared a batch


def read_counts(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}
