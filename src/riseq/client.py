"""A client of ``riseq serve``, in both manners: ``Client`` waits, ``AsyncClient`` is awaited.

Both are called as a ``Simplifier`` is, and give the same results. Answers that say "later" (429, 503) and connections
that fail are tried again, after as long as the server asks for.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from riseq.core.edits import Op
from riseq.types import Example, InputError, Simplification, Step, TextEdit

ADDRESS = "http://127.0.0.1:8000"
RETRIED = frozenset({429, 503})
LONGEST_WAIT = 60.0
CHUNK = 32
"""Questions a request of ``batch``: enough to fill batches, few enough for any server's limits."""

Context = Iterable[str | tuple[str, str] | list[str] | Mapping[str, Any]]
Item = Example | Mapping[str, Any] | tuple[str, Context]


class ServerError(Exception):
    """An answer that is not the one asked for: its HTTP status, the server's word for it, and its line."""

    def __init__(self, status: int, code: str, message: str, request_id: str | None = None) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status, self.code, self.message, self.request_id = status, code, message, request_id


@dataclass(frozen=True, slots=True)
class Failure:
    """A question of a batch that the server could not simplify; the others are not touched by it."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a request is tried again, and how long before; what the server asks for comes first."""

    count: int = 4
    first_wait_s: float = 0.25

    def wait(self, tried: int, asked: str | None) -> float:
        """Return the seconds to wait after ``tried`` tries, given the header Retry-After."""
        try:
            told = float(asked) if asked is not None else None
        except ValueError:  # A date, or nothing sensible.
            told = None
        if told is not None and 0 <= told < float("inf"):
            return min(told, LONGEST_WAIT)
        # Clients that were refused together should not come back together.
        doubled = self.first_wait_s * float(2**tried)
        return min(doubled * random.uniform(0.5, 1.5), LONGEST_WAIT)


class Client:
    """Simplifies questions on a server; close it, or use it in a ``with``."""

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Take the server's address and, where it asks for one, its key."""
        self._http = httpx.Client(
            base_url=address, headers=_make_headers(api_key), timeout=timeout, transport=transport
        )
        self._retries = retries

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __call__(
        self,
        question: str,
        context: Context = (),
        *,
        strength: float | None = None,
        protect: Iterable[str] = (),
        n_best: int = 1,
        max_passes: int | None = None,
        guard: bool = True,
    ) -> Simplification:
        """Return the conversational form of ``question`` after the dialogue in ``context``, oldest utterance first."""
        body = _write_item((question, context), _write_wishes(strength, protect, n_best, max_passes, guard))
        return _read_result(self._send("POST", "/v1/simplify", body))

    def batch(
        self,
        items: Iterable[Item],
        *,
        strength: float | None = None,
        protect: Iterable[str] = (),
        n_best: int = 1,
        max_passes: int | None = None,
        guard: bool = True,
    ) -> Iterator[Simplification | Failure]:
        """Yield one result or failure an item, in order, a few dozen a request."""
        wishes = _write_wishes(strength, protect, n_best, max_passes, guard)
        for chunk in _chunk(items):
            yield from _read_results(self._send("POST", "/v1/simplify", _write_items(chunk, wishes)), len(chunk))

    def model(self) -> dict[str, Any]:
        """Return what the server tells of its model and limits."""
        return self._send("GET", "/v1/model")

    def ready(self) -> bool:
        """Return whether the server is ready for work; it is asked once."""
        try:
            return self._http.get("/ready").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        for tried in range(self._retries.count + 1):
            wait = None
            try:
                answer = self._http.request(method, path, json=body)
                if answer.status_code not in RETRIED or tried == self._retries.count:
                    return _read_answer(answer)
                wait = answer.headers.get("Retry-After")
            except (httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError):
                if tried == self._retries.count:
                    raise
            time.sleep(self._retries.wait(tried, wait))
        raise AssertionError("the last try returns or raises")


class AsyncClient:
    """Simplifies questions on a server, awaited; close it, or use it in an ``async with``."""

    def __init__(
        self,
        address: str = ADDRESS,
        *,
        api_key: str | None = None,
        timeout: float = 60.0,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Take the server's address and, where it asks for one, its key."""
        self._http = httpx.AsyncClient(
            base_url=address, headers=_make_headers(api_key), timeout=timeout, transport=transport
        )
        self._retries = retries

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __call__(
        self,
        question: str,
        context: Context = (),
        *,
        strength: float | None = None,
        protect: Iterable[str] = (),
        n_best: int = 1,
        max_passes: int | None = None,
        guard: bool = True,
    ) -> Simplification:
        """Return the conversational form of ``question`` after the dialogue in ``context``, oldest utterance first."""
        body = _write_item((question, context), _write_wishes(strength, protect, n_best, max_passes, guard))
        return _read_result(await self._send("POST", "/v1/simplify", body))

    async def batch(
        self,
        items: Iterable[Item],
        *,
        strength: float | None = None,
        protect: Iterable[str] = (),
        n_best: int = 1,
        max_passes: int | None = None,
        guard: bool = True,
    ) -> list[Simplification | Failure]:
        """Return one result or failure an item, in order; they go a few dozen a request, one after the other."""
        wishes = _write_wishes(strength, protect, n_best, max_passes, guard)
        results: list[Simplification | Failure] = []
        for chunk in _chunk(items):
            answer = await self._send("POST", "/v1/simplify", _write_items(chunk, wishes))
            results += _read_results(answer, len(chunk))
        return results

    async def model(self) -> dict[str, Any]:
        """Return what the server tells of its model and limits."""
        return await self._send("GET", "/v1/model")

    async def ready(self) -> bool:
        """Return whether the server is ready for work; it is asked once."""
        try:
            return (await self._http.get("/ready")).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    async def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        for tried in range(self._retries.count + 1):
            wait = None
            try:
                answer = await self._http.request(method, path, json=body)
                if answer.status_code not in RETRIED or tried == self._retries.count:
                    return _read_answer(answer)
                wait = answer.headers.get("Retry-After")
            except (httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError):
                if tried == self._retries.count:
                    raise
            await asyncio.sleep(self._retries.wait(tried, wait))
        raise AssertionError("the last try returns or raises")


def _make_headers(api_key: str | None) -> dict[str, str]:
    return {} if api_key is None else {"Authorization": f"Bearer {api_key}"}


def _write_wishes(
    strength: float | None, protect: Iterable[str], n_best: int, max_passes: int | None, guard: bool
) -> dict[str, Any]:
    """Return what differs from the server's defaults."""
    if isinstance(protect, str):
        raise InputError("protect is a str, expected a list of strings")
    told = {
        "strength": strength,
        "protect": list(protect) or None,
        "n_best": n_best if n_best != 1 else None,
        "max_passes": max_passes,
        "guard": None if guard else False,
    }
    return {name: value for name, value in told.items() if value is not None}


def _write_item(item: Item, wishes: Mapping[str, Any]) -> dict[str, Any]:
    question: Any
    context: Any
    if isinstance(item, Example):
        question, context = item.question, item.context
    elif isinstance(item, Mapping):
        question, context = item.get("question"), item.get("context", ())
    else:
        question, context = item
    if isinstance(context, str | bytes | Mapping):
        raise InputError(f"the context is a {type(context).__name__}, expected a list of utterances, oldest first")
    return {"question": question, "context": list(context), **wishes}


def _write_items(items: Iterable[Item], wishes: Mapping[str, Any]) -> dict[str, Any]:
    return {"items": [_write_item(item, wishes) for item in items]}


def _chunk(items: Iterable[Item]) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _read_answer(answer: httpx.Response) -> dict[str, Any]:
    """Return the body of a good answer; another is an error with what the server says of it."""
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.is_success and isinstance(body, dict):
        return body
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        raise ServerError(answer.status_code, "unknown", "the answer is not riseq's; is this its address?")
    raise ServerError(answer.status_code, error["code"], error["message"], error.get("request_id"))


def _read_results(answer: Mapping[str, Any], count: int) -> list[Simplification | Failure]:
    results = [
        Failure(one["error"]["code"], one["error"]["message"]) if "error" in one else _read_result(one)
        for one in answer["results"]
    ]
    if len(results) != count:
        raise ServerError(200, "count", f"{len(results)} results for {count} questions")
    return results


def _read_result(body: Mapping[str, Any]) -> Simplification:
    question, truncated = body["question"], body["truncated"]
    alternatives = tuple(_read_form(one, question, truncated) for one in body["alternatives"])
    return _read_form(body, question, truncated, alternatives)


def _read_form(
    body: Mapping[str, Any], question: str, truncated: bool, alternatives: tuple[Simplification, ...] = ()
) -> Simplification:
    return Simplification(
        question,
        body["text"],
        tuple(_read_step(step) for step in body["steps"]),
        truncated,
        confidence=body["confidence"],
        probability=body["probability"],
        alternatives=alternatives,
    )


def _read_step(body: Mapping[str, Any]) -> Step:
    return Step(
        body["text"],
        tuple(
            TextEdit(Op[edit["op"].upper()], edit["start"], edit["end"], edit["old"], edit["new"], edit["probability"])
            for edit in body["edits"]
        ),
    )
