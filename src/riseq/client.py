"""A client of ``riseq serve``: ``Client`` waits, ``AsyncClient`` is awaited; both are called as a ``Simplifier`` is.

``resolve``, and ``batch`` and ``many`` with ``direction="resolve"``, ask for the way back, as a ``Resolver`` does.

Answers that say "later" (429, 503) and connections that fail are tried again, after as long as the server asks for.
"""

import asyncio
import random
import time
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from dataclasses import dataclass
from inspect import isawaitable
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar, Unpack, get_args

import httpx

from riseq.controls import ControlOptions, Controls
from riseq.data.dialogue import Asked, Context, Item, check_items, read_item, read_many
from riseq.types import Direction, InputError, Simplification

ADDRESS = "http://127.0.0.1:8000"
RETRIED = frozenset({429, 503})
LONGEST_WAIT = 60.0
CHUNK = 32  # questions a request of ``batch``: enough to fill batches, few enough for any server's limits
Answer = TypeVar("Answer")
Transport = TypeVar("Transport", httpx.BaseTransport, httpx.AsyncBaseTransport)


class ServerError(Exception):
    """An answer that is not the one asked for: its HTTP status, the server's word for it, and its line."""

    def __init__(self, status: int, code: str, message: str, request_id: str | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message, self.request_id = status, code, message, request_id


@dataclass(frozen=True, slots=True)
class FailedItem:
    """A question of a batch that the server failed on; the others are not touched by it."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is tried again, and how long before; what the server asks for comes first."""

    count: int = 4
    first_wait_s: float = 0.25

    def wait(self, tried: int, retry_after: str | None) -> float:
        """Return the seconds to wait after ``tried`` tries, given the header Retry-After."""
        with suppress(ValueError):  # Nothing, a date, or nothing sensible.
            seconds = float(retry_after or "nothing")
            if 0 <= seconds < float("inf"):
                return min(seconds, LONGEST_WAIT)
        spread = random.uniform(0.5, 1.5)  # clients that were refused together should not come back together
        return min(self.first_wait_s * float(2**tried) * spread, LONGEST_WAIT)


class _Requests(Generic[Transport]):
    """What both clients share: the requests, their answers and their retries; only how they wait differs."""

    _connect: ClassVar[Any]
    _sleep: ClassVar[Any]

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        api_key: str | None = None,
        model: str | None = None,
        timeout: float = 60.0,
        retries: Retries = Retries(),
        transport: Transport | None = None,
    ) -> None:
        """Connect to ``address``; ``model``, a name of its ``/v1/models``, answers instead of the model at work."""
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._http = self._connect(base_url=address, headers=headers, timeout=timeout, transport=transport)
        self._retries, self._named = retries, {} if model is None else {"model": model}

    async def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        for tried in range(self._retries.count):
            retry_after = None
            with suppress(httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError):
                answer = await _settle(self._http.request(method, path, json=body))
                if answer.status_code not in RETRIED:
                    return _read_answer(answer)
                retry_after = answer.headers.get("Retry-After")
            await _settle(self._sleep(self._retries.wait(tried, retry_after)))
        return _read_answer(await _settle(self._http.request(method, path, json=body)))

    async def _edit(self, asked: Asked, controls: Controls, direction: Direction = "simplify") -> Simplification:
        body = self._write(controls, direction, question=asked[0], context=list(asked[1]))
        return Simplification.from_dict(await self._send("POST", f"/v1/{direction}", body))

    async def _edit_many(
        self, chunk: list[Asked], controls: Controls, direction: Direction
    ) -> list[Simplification | FailedItem]:
        items = [self._write(controls, direction, question=one, context=list(said)) for one, said in chunk]
        return await self._send_many({"items": items}, len(chunk), direction)

    async def _edit_after(
        self, context: tuple[str, ...], questions: list[str], controls: Controls, direction: Direction
    ) -> list[Simplification | FailedItem]:
        found: list[Simplification | FailedItem] = []
        for start in range(0, len(questions), CHUNK):
            chunk = questions[start : start + CHUNK]
            body = self._write(controls, direction, questions=chunk, context=list(context))
            found += await self._send_many(body, len(chunk), direction)
        return found

    async def _send_many(self, body: object, count: int, direction: Direction) -> list[Simplification | FailedItem]:
        results = (await self._send("POST", f"/v1/{direction}", body))["results"]
        if len(results) != count:
            raise ServerError(200, "count", f"{len(results)} results for {count} questions")
        return [_read_result(one) for one in results]

    def _write(self, controls: Controls, direction: Direction, **asked: Any) -> dict[str, Any]:
        """Return the body of a request; the model that the client names is one that simplifies."""
        return {**asked, **controls.to_dict(), **(self._named if direction == "simplify" else {})}

    async def _is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return bool((await _settle(self._http.get("/ready"))).status_code == httpx.codes.OK)
        return False


class Client(_Requests[httpx.BaseTransport], AbstractContextManager["Client"]):
    """Edits questions on a server; close it, or use it in a ``with``."""

    _connect = httpx.Client
    _sleep = staticmethod(time.sleep)

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __call__(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return the conversational form of ``question`` after the dialogue in ``context``, oldest utterance first."""
        return _finish(self._edit(read_item((question, context)), Controls.of(controls, **options)))

    def resolve(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return the self-contained form of ``question`` after the dialogue in ``context``, oldest utterance first."""
        chosen = _read_controls(controls, options, "resolve")
        return _finish(self._edit(read_item((question, context)), chosen, "resolve"))

    def batch(
        self,
        items: Iterable[Item],
        *,
        direction: Direction = "simplify",
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Iterator[Simplification | FailedItem]:
        """Yield one result or failure an item, in order, a few dozen a request."""
        chosen = _read_controls(controls, options, direction)
        return (one for chunk in _read_chunks(items) for one in _finish(self._edit_many(chunk, chosen, direction)))

    def many(
        self,
        context: Context,
        questions: Iterable[str],
        *,
        direction: Direction = "simplify",
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> list[Simplification | FailedItem]:
        """Return one result or failure for each of ``questions`` after one dialogue, in order."""
        chosen = _read_controls(controls, options, direction)
        return _finish(self._edit_after(*_read_many(context, questions), chosen, direction))

    def model(self) -> dict[str, Any]:
        """Return what the server says of its model and limits."""
        return _finish(self._send("GET", "/v1/model"))

    def ready(self) -> bool:
        """Return whether the server is ready for work; it is asked once."""
        return _finish(self._is_ready())


class AsyncClient(_Requests[httpx.AsyncBaseTransport], AbstractAsyncContextManager["AsyncClient"]):
    """Edits questions on a server, awaited; close it, or use it in an ``async with``."""

    _connect = httpx.AsyncClient
    _sleep = staticmethod(asyncio.sleep)

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __call__(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return the conversational form of ``question`` after the dialogue in ``context``, oldest utterance first."""
        return await self._edit(read_item((question, context)), Controls.of(controls, **options))

    async def resolve(
        self,
        question: str,
        context: Context = (),
        *,
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> Simplification:
        """Return the self-contained form of ``question`` after the dialogue in ``context``, oldest utterance first."""
        chosen = _read_controls(controls, options, "resolve")
        return await self._edit(read_item((question, context)), chosen, "resolve")

    async def batch(
        self,
        items: Iterable[Item],
        *,
        direction: Direction = "simplify",
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> list[Simplification | FailedItem]:
        """Return one result or failure an item, in order; they go a few dozen a request, one after the other."""
        chosen = _read_controls(controls, options, direction)
        return [one for chunk in _read_chunks(items) for one in await self._edit_many(chunk, chosen, direction)]

    async def many(
        self,
        context: Context,
        questions: Iterable[str],
        *,
        direction: Direction = "simplify",
        controls: Controls | None = None,
        **options: Unpack[ControlOptions],
    ) -> list[Simplification | FailedItem]:
        """Return one result or failure for each of ``questions`` after one dialogue, in order."""
        chosen = _read_controls(controls, options, direction)
        return await self._edit_after(*_read_many(context, questions), chosen, direction)

    async def model(self) -> dict[str, Any]:
        """Return what the server says of its model and limits."""
        return await self._send("GET", "/v1/model")

    async def ready(self) -> bool:
        """Return whether the server is ready for work; it is asked once."""
        return await self._is_ready()


async def _settle(value: Any) -> Any:
    """Return ``value``, which the blocking client has already and the other awaits."""
    return await value if isawaitable(value) else value


def _finish(steps: Coroutine[Any, Any, Answer]) -> Answer:
    """Return what a coroutine that never suspends comes to."""
    try:
        steps.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("a blocking client has nothing to await")


def _read_controls(controls: Controls | None, options: ControlOptions, direction: Direction) -> Controls:
    """Return ``controls`` with ``options``; one that makes sense in the other direction only is a mistake."""
    if direction not in get_args(Direction):
        raise InputError(f"direction is {direction!r}, expected {' or '.join(get_args(Direction))}")
    chosen = Controls.of(controls, **options)
    chosen.check(direction, options)
    return chosen


def _read_chunks(items: Iterable[Item]) -> Iterator[list[Asked]]:
    check_items(items)
    asked = (read_item(item, f"item {index}: ") for index, item in enumerate(items))
    return iter(lambda: list(islice(asked, CHUNK)), [])


def _read_many(context: Context, questions: Iterable[str]) -> tuple[tuple[str, ...], list[str]]:
    asked = read_many(context, questions)
    return (asked[0][1] if asked else ()), [question for question, _ in asked]


def _read_result(values: dict[str, Any]) -> Simplification | FailedItem:
    error = values.get("error")
    return FailedItem(error["code"], error["message"]) if error else Simplification.from_dict(values)


def _read_answer(answer: httpx.Response) -> dict[str, Any]:
    """Return the body of a good answer; another is an error with what the server says of it."""
    body: Any = None
    with suppress(ValueError):
        body = answer.json()
    if answer.is_success and isinstance(body, dict):
        return body
    if not isinstance(body, dict) or not isinstance(error := body.get("error"), dict):
        raise ServerError(answer.status_code, "unknown", "the answer is not riseq's; is this its address?")
    raise ServerError(answer.status_code, error["code"], error["message"], error.get("request_id"))
