"""What the server answers when it cannot do what was asked: one shape for every error, and nothing of its insides."""

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from riseq.server.responses import ErrorOut

_REASONS = {
    400: "The body is not JSON.",
    401: "A key is needed, and is missing or wrong.",
    404: "No model that resolves questions is on this server.",
    408: "The body came too slowly, or the answer was not ready in time.",
    413: "The body is too long, or has too many items.",
    415: "The body's type is not JSON.",
    422: "The body is JSON, but no such request.",
    429: "The queue is full; the header Retry-After says when to come back.",
    500: "The engine failed on the question.",
    503: "The server is shutting down; the header Retry-After says when to come back.",
}


_FORMS = frozenset({"body", "single", "one", "chat", "many", "candidates"})
"""What pydantic's places have beside fields: the forms of a request."""


class ApiError(Exception):
    """An answer that is not 2xx: its HTTP status, a word for programs and a line for people."""

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers: dict[str, str] = {} if retry_after is None else {"Retry-After": str(retry_after)}
        if status == 401:
            self.headers["WWW-Authenticate"] = "Bearer"

    def to_dict(self, request_id: str) -> dict[str, Any]:
        """Return the body of the answer, which is an item's too where others of its request were answered."""
        return {"error": {"code": self.code, "message": self.message, "request_id": request_id}}

    def respond(self, request_id: str) -> JSONResponse:
        """Return the answer."""
        return JSONResponse(self.to_dict(request_id), self.status, self.headers)


def document_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how the OpenAPI document describes answers of these statuses."""
    return {status: {"model": ErrorOut, "description": _REASONS[status]} for status in statuses}


def add_handlers(app: FastAPI) -> None:
    """Let every error that FastAPI and Starlette raise become an answer of the one shape."""

    @app.exception_handler(RequestValidationError)
    async def on_invalid(request: Request, error: RequestValidationError) -> Response:
        return describe_invalid(error.errors()).respond(request.state.request_id)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        code = {400: "not_json", 404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
        # A 400 is FastAPI's, for bytes that no JSON parser takes.
        message = "the body is not JSON: it cannot be parsed" if code == "not_json" else str(error.detail)
        answer = ApiError(error.status_code, code, message)
        answer.headers.update(error.headers or {})
        return answer.respond(request.state.request_id)


def describe_invalid(errors: Sequence[Mapping[str, Any]]) -> ApiError:
    """Return the answer to what pydantic found wrong with a request; what the user sent is not repeated."""
    first = errors[0]
    if first["type"] == "json_invalid":
        reason = str(first.get("ctx", {}).get("error", "it cannot be parsed"))
        return ApiError(400, "not_json", f"the body is not JSON: {reason}")
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such field"
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    path = ""  # items[3].question for pydantic's ("body", "many", "items", 3, "one", "question")
    for part in first["loc"]:
        if part not in _FORMS:
            path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return ApiError(422, "invalid", f"{path or 'the body'}: {message[:1].lower()}{message[1:]}{more}")


def describe_crash(error: BaseException, with_text: bool) -> str:
    """Return an error and where it was raised, for the log; its message may hold what users said."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    frames = reversed(traceback.extract_tb(root.__traceback__)[-3:])
    lines = " < ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames)
    message = f": {root}" if with_text else ""
    return f"{type(root).__name__}{message} at {lines or 'an unknown place'}"
