"""What the routes share, and how a request for simplification is answered."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

from riseq.server.batcher import Batcher, DrainingError, QueueFullError
from riseq.server.engine import Ask, Engine, Wishes
from riseq.server.errors import Problem, describe_crash
from riseq.server.metrics import Metrics
from riseq.server.middleware import CLIENT_GONE
from riseq.server.readiness import Readiness
from riseq.server.schemas import ErrorDetail, Item, ItemFailure, Items, Result, Results, tell
from riseq.server.settings import Settings
from riseq.types import Simplification

log = logging.getLogger("riseq.server")
RETRY_AFTER_DRAINING = 5
FAILED = "failed"
FAILED_MESSAGE = "this question could not be simplified; the server's log says more"
Futures = Sequence[asyncio.Future[Simplification]]


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes share."""

    settings: Settings
    engine: Engine
    batcher: Batcher
    readiness: Readiness
    metrics: Metrics

    async def answer(self, body: Item | Items, request: Request) -> Response:
        """Return the answer to one question or many; a client that goes away takes its questions with it."""
        items = body.items if isinstance(body, Items) else [body]
        request.state.items = len(items)
        futures = self._submit(items)
        try:
            if not await _settle(futures, request, self.settings.timeout_s):
                return Response(status_code=CLIENT_GONE)
            request_id = request.state.request_id
            outs = [self._tell(future, request_id) for future in futures]
        finally:
            for future in futures:
                future.cancel()
        if self.settings.log_text:
            _log_text(request_id, items, outs)
        if isinstance(body, Items):
            return _write(Results(results=outs))
        (out,) = outs
        if isinstance(out, ItemFailure):
            raise Problem(500, FAILED, FAILED_MESSAGE)
        return _write(out)

    def _submit(self, items: Sequence[Item]) -> Futures:
        if len(items) > self.settings.max_items:
            limit = self.settings.max_items
            raise Problem(413, "too_many_items", f"the request has {len(items):,} items, expected at most {limit:,}")
        try:
            return self.batcher.submit([_read(item) for item in items])
        except QueueFullError as error:
            raise Problem(429, "queue_full", f"the queue is full; {error}", error.retry_after) from None
        except DrainingError:
            raise Problem(503, "draining", "the server is shutting down", RETRY_AFTER_DRAINING) from None

    def _tell(self, future: asyncio.Future[Simplification], request_id: str) -> Result | ItemFailure:
        error = future.exception()
        if error is None:
            return tell(future.result())
        log.error("request=%s item failed: %s", request_id, describe_crash(error, self.settings.log_text))
        return ItemFailure(error=ErrorDetail(code=FAILED, message=FAILED_MESSAGE, request_id=request_id))


def _read(item: Item) -> Ask:
    wishes = Wishes(item.strength, tuple(item.protect), item.n_best, item.max_passes, item.guard)
    return Ask(item.question, item.context, wishes)


async def _settle(futures: Futures, request: Request, seconds: float) -> bool:
    """Wait until all ``futures`` are done; return False where the client goes away before."""
    gone = asyncio.create_task(_wait_for_disconnect(request))
    every = asyncio.gather(*futures, return_exceptions=True)
    try:
        done, _ = await asyncio.wait((every, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        every.cancel()
    if not done:
        raise Problem(408, "deadline", f"the answer was not ready within {seconds:g} s; ask for less, or later")
    return every in done


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _write(out: BaseModel) -> Response:
    return Response(out.model_dump_json(), media_type="application/json")


def _log_text(request_id: str, items: Sequence[Item], outs: Sequence[Result | ItemFailure]) -> None:
    for item, out in zip(items, outs, strict=True):
        log.info("request=%s question=%r text=%r", request_id, item.question, getattr(out, "text", None))
