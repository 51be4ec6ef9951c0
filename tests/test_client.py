"""The client, in both manners, against real servers: it gives what the library gives, and comes back when told to."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from riseq.client import AsyncClient, Client, FailedItem, Retries, ServerError
from riseq.controls import Controls
from riseq.data.dialogue import Item
from riseq.server.engines import DummyEngine, Question
from riseq.types import Example, InputError, Simplification
from server.engines import POISON, RecordingEngine
from server.serving import run_server

QUESTION, CONTEXT = "When was Alien released?", ["Who directed Alien?"]
KEY = "a-key"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with run_server(RecordingEngine(), api_key=KEY) as address:
        yield address


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client(address, api_key=KEY) as client:
        yield client


def expect(**options: object) -> Simplification:
    (result,) = DummyEngine().simplify([Question(QUESTION, tuple(CONTEXT), Controls.from_dict(options))])
    return result


def test_a_call_gives_what_the_engine_gives(client: Client) -> None:
    assert client(QUESTION, CONTEXT) == expect()
    assert client(QUESTION, CONTEXT, n_best=2) == expect(n_best=2)
    assert client(QUESTION, CONTEXT, strength=0) == expect(strength=0.0)
    assert client(QUESTION, CONTEXT, protect=["Alien"], max_passes=1) == expect(protect=("Alien",))
    assert client(QUESTION, CONTEXT, guard=False) == expect(guard=False)
    assert client(QUESTION, CONTEXT, controls=Controls(n_best=2)) == expect(n_best=2)
    assert client(QUESTION, CONTEXT, controls=Controls(n_best=2), strength=0) == expect(n_best=2, strength=0)
    assert client(QUESTION, [{"role": "user", "content": CONTEXT[0]}]) == expect()


def test_a_batch_takes_what_the_library_takes_in_order_and_in_parts(client: Client) -> None:
    three: list[Item] = [Example("1", tuple(CONTEXT), QUESTION), {"question": QUESTION}, (QUESTION, CONTEXT)]
    items = three * 30
    results = list(client.batch(items))
    assert len(results) == 90
    assert results[0::3] == results[2::3] == [expect()] * 30
    assert all(isinstance(one, Simplification) and not one.changed for one in results[1::3])
    assert list(client.batch([])) == []


def test_many_questions_follow_one_dialogue_in_order_and_in_parts(client: Client) -> None:
    results = client.many(CONTEXT, [QUESTION, "Where do cats sleep?"] * 20, n_best=2)
    assert results[::2] == [expect(n_best=2)] * 20
    assert all(isinstance(one, Simplification) and not one.changed for one in results[1::2])
    assert client.many([{"role": "user", "content": CONTEXT[0]}], [QUESTION]) == [expect()]
    assert client.many(CONTEXT, []) == []
    first, bad = client.many(CONTEXT, [QUESTION, POISON])
    assert (first, getattr(bad, "code", None)) == (expect(), "failed")
    with pytest.raises(InputError, match="questions is a string"):
        client.many(CONTEXT, QUESTION)


def test_a_failure_in_a_batch_stands_at_its_place(client: Client) -> None:
    first, bad, last = client.batch([(QUESTION, CONTEXT), (POISON, []), (QUESTION, CONTEXT)])
    assert first == last == expect()
    assert isinstance(bad, FailedItem)
    assert bad.code == "failed"


def test_the_async_client_gives_the_same(address: str) -> None:
    async def test() -> None:
        async with AsyncClient(address, api_key=KEY) as client:
            assert await client(QUESTION, CONTEXT, n_best=2) == expect(n_best=2)
            assert await client.batch([(QUESTION, CONTEXT)] * 40) == [expect()] * 40
            assert await client.many(CONTEXT, [QUESTION] * 40) == [expect()] * 40
            assert (await client.model())["name"] == "dummy"
            assert await client.ready()

    asyncio.run(test())


def test_the_model_and_readiness(client: Client) -> None:
    assert client.model()["limits"]["max_items"] == 256
    assert client.ready()
    with Client("http://127.0.0.1:9") as nobody:
        assert not nobody.ready()


def test_an_error_says_what_the_server_says(address: str, client: Client) -> None:
    with pytest.raises(ServerError, match="422 invalid: n_best: ") as raised:
        client(QUESTION, n_best=21)
    assert (raised.value.status, raised.value.code) == (422, "invalid")
    assert raised.value.request_id
    with Client(address) as keyless, pytest.raises(ServerError, match="401 unauthorized"):
        keyless(QUESTION)
    with pytest.raises(InputError, match="the context is a bytes"):
        client(QUESTION, b"Who directed Alien?")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="protect is a str"):
        client(QUESTION, CONTEXT, protect="Alien")
    with pytest.raises(InputError, match="strength is 3, expected a number from 0 to 1"):
        client(QUESTION, strength=3)
    with pytest.raises(InputError, match="item 1: got a str, expected an Example"):
        list(client.batch([(QUESTION, CONTEXT), "Why?"]))  # type: ignore[list-item]


class Reluctant(BaseHTTPRequestHandler):
    """Refuses as often as its server says, then answers."""

    refusals: list[tuple[int, str | None]]
    seen: list[float]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.seen.append(time.monotonic())
        body: dict[str, object]
        if self.refusals:
            status, after = self.refusals.pop(0)
            if not status:
                self.close_connection = True  # Hangs up without a word.
                return
            body = {"error": {"code": "queue_full", "message": "later", "request_id": "1"}}
        else:
            status, after = 200, None
            body = {
                "question": "Q?",
                "text": "Q?",
                "changed": False,
                "steps": [],
                "truncated": False,
                "reason": None,
                "confidence": None,
                "probability": None,
                "alternatives": [],
            }
        content = json.dumps(body).encode()
        self.send_response(status)
        if after is not None:
            self.send_header("Retry-After", after)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def reluctant() -> Iterator[tuple[str, type[Reluctant]]]:
    class Handler(Reluctant):
        refusals: list[tuple[int, str | None]] = []  # noqa: RUF012
        seen: list[float] = []  # noqa: RUF012

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", Handler
    server.shutdown()
    thread.join()
    server.server_close()


def call(manner: str, address: str, retries: Retries) -> Simplification:
    if manner == "sync":
        with Client(address, retries=retries) as client:
            return client("Q?")

    async def ask() -> Simplification:
        async with AsyncClient(address, retries=retries) as client:
            return await client("Q?")

    return asyncio.run(ask())


@pytest.mark.parametrize("manner", ["sync", "async"])
def test_it_comes_back_when_told_later_and_waits_as_long_as_it_is_told(
    manner: str, reluctant: tuple[str, type[Reluctant]]
) -> None:
    address, handler = reluctant
    handler.refusals[:] = [(429, "0.3"), (503, "0.1"), (0, None), (503, None), (429, "Wed, 21 Oct 2026 07:28:00 GMT")]
    result = call(manner, address, Retries(count=5, first_wait_s=0.001))
    assert result.text == "Q?"
    waits = [after - before for before, after in zip(handler.seen, handler.seen[1:], strict=False)]
    assert len(waits) == 5
    assert waits[0] >= 0.3
    assert waits[1] >= 0.1


@pytest.mark.parametrize("manner", ["sync", "async"])
def test_it_gives_up_after_its_tries_and_never_repeats_a_mistake(
    manner: str, reluctant: tuple[str, type[Reluctant]]
) -> None:
    address, handler = reluctant
    handler.refusals[:] = [(429, "0")] * 9
    with pytest.raises(ServerError, match="429 queue_full: later"):
        call(manner, address, Retries(count=2))
    assert len(handler.seen) == 3
    handler.refusals[:] = [(422, None)] * 9
    handler.seen.clear()
    with pytest.raises(ServerError, match="422"):
        call(manner, address, Retries(count=2))
    assert len(handler.seen) == 1
    with pytest.raises(httpx.ConnectError):
        call(manner, "http://127.0.0.1:9", Retries(count=1, first_wait_s=0.001))


def test_waits_grow_and_have_an_end() -> None:
    retries = Retries(first_wait_s=1.0)
    assert 0.5 <= retries.wait(0, None) <= 1.5
    assert 4 <= retries.wait(3, "soon") <= 12
    assert retries.wait(20, None) == 60
    assert retries.wait(0, "9999") == 60
    assert retries.wait(0, "-5") <= 1.5
    assert retries.wait(0, "nan") <= 1.5
