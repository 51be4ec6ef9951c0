"""What stands before the routes: limits of size and time, the key, headers, the log, and no stack trace passes it."""

import asyncio
import hmac
import logging
import re
import time
import uuid
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from riseq.server.errors import ApiError, describe_crash
from riseq.server.monitoring import Metrics
from riseq.server.settings import Settings

log = logging.getLogger("riseq.server")

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
LOCKED = ("/v1/", "/metrics")  # what asks for the key; the rest has nothing of users, and says how to bring one
QUESTIONS = ("/v1/simplify", "/v1/resolve")  # what takes a body
CLIENT_GONE = 499  # the status that is counted where nobody was there to be answered, as nginx has it
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_MOST_DIGITS = 18
_GOOD_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class RequestMiddleware:
    """An ASGI app around another: every request passes through here, and every answer."""

    def __init__(
        self, app: ASGIApp, settings: Settings, key: str | None, routes: Collection[str], metrics: Metrics
    ) -> None:
        self.app, self.settings, self.routes, self.metrics = app, settings, routes, metrics
        self._key = None if key is None else key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        headers = Headers(scope=scope)
        # The client's own id for the request where it is a harmless one.
        given = headers.get("x-request-id", "")
        request_id = given if _GOOD_ID.fullmatch(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        cache = "no-cache" if scope["path"] == "/" or scope["path"].startswith("/static/") else "no-store"
        body: bytes | None = None
        status: int | None = None

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                answered = MutableHeaders(scope=message)
                answered.update({**SECURITY_HEADERS, "X-Request-Id": request_id})
                answered.setdefault("Cache-Control", cache)
            await send(message)

        try:
            self._check(scope, headers)
            body = await self._read_body(Request(scope, receive))
            if body is not None:
                await self.app(scope, _replay(body, receive), answer)
        except ApiError as refused:
            if body is None:  # What is left of it is not read: the connection has no further use.
                refused.headers["Connection"] = "close"
            await refused.respond(request_id)(scope, receive, answer)
        except Exception as error:
            log.error("request=%s crashed: %s", request_id, describe_crash(error, self.settings.log_text))
            if status is not None:
                raise
            failed = ApiError(500, "failed", "the server failed; its log says more")
            await failed.respond(request_id)(scope, receive, answer)
        finally:
            self._record(scope, status or CLIENT_GONE, time.perf_counter() - started)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        """Count and log a request by one of a few names: what clients make up would fill the counts and the log."""
        path, state = scope["path"], scope["state"]
        route = path if path in self.routes else "/static" if path.startswith("/static/") else "other"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.requests.labels(route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        logged = (state["request_id"], method, route, status, 1000 * seconds, state.get("items", "-"))
        log.info("request=%s method=%s route=%s status=%d ms=%.1f items=%s", *logged)

    def _check(self, scope: Scope, headers: Headers) -> None:
        locked = scope["path"].startswith(LOCKED) and scope["method"] != "OPTIONS"
        if locked and not self._has_key(headers):
            raise ApiError(401, "unauthorized", "a key is needed: send the header Authorization: Bearer KEY")
        length = headers.get("content-length", "0")
        if not length.isdecimal():
            raise ApiError(400, "bad_length", "the header Content-Length is no number")
        if len(length) > _MOST_DIGITS or int(length) > self.settings.max_body_bytes:
            raise self._too_large()
        if scope["method"] == "POST" and scope["path"] in QUESTIONS:
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
                raise ApiError(415, "not_json_type", "the header Content-Type is not application/json")

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        key = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        # Compared in a time that does not tell where the two differ.
        return self._key is None or hmac.compare_digest(key.encode("utf-8", "replace"), self._key)

    async def _read_body(self, request: Request) -> bytes | None:
        """Return the whole body, None where the client went away; one that is too long or too slow is refused."""
        body = bytearray()
        limit = self.settings.body_timeout_s
        try:
            async with asyncio.timeout(limit):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > self.settings.max_body_bytes:
                        raise self._too_large()
        except ClientDisconnect:
            return None
        except TimeoutError:
            raise ApiError(408, "slow_body", f"the body did not arrive within {limit:g} s") from None
        return bytes(body)

    def _too_large(self) -> ApiError:
        return ApiError(413, "too_large", f"the body is longer than {self.settings.max_body_bytes:,} bytes")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the body at once, then what the connection says."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return waiting.pop() if waiting else await receive()

    return give
