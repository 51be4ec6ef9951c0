"""What the server says when it cannot do what was asked: one shape for every error, and nothing of its insides."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse

from riseq.server.schemas import ErrorDetail, ErrorOut


class Problem(Exception):
    """An answer that is not 2xx."""

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        """Take the HTTP status, a word for programs and a line for people."""
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers: dict[str, str] = {} if retry_after is None else {"Retry-After": str(retry_after)}
        if status == 401:
            self.headers["WWW-Authenticate"] = "Bearer"

    def respond(self, request_id: str) -> JSONResponse:
        """Return the answer."""
        body = ErrorOut(error=ErrorDetail(code=self.code, message=self.message, request_id=request_id))
        return JSONResponse(body.model_dump(), self.status, self.headers)


def describe_invalid(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """Return the problem for what pydantic found wrong with a request; what the user sent is not repeated."""
    first = errors[0]
    if first["type"] == "json_invalid":
        reason = str(first.get("ctx", {}).get("error", "it cannot be parsed"))
        return Problem(400, "not_json", f"the body is not JSON: {reason}")
    message = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such field"
    where = _write_place(first["loc"])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return Problem(422, "invalid", f"{where}: {message[:1].lower()}{message[1:]}{more}")


def _write_place(loc: Sequence[object]) -> str:
    """Return ``items[3].question`` for pydantic's ("body", "many", "items", 3, "question")."""
    place = ""
    for part in loc:
        if part in ("body", "one", "many") and not place:
            continue
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place or "the body"


def describe_crash(error: BaseException, with_text: bool) -> str:
    """Return an error and where it was raised, for the log; its message may hold what users said."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    frames = traceback.extract_tb(root.__traceback__)[-3:]
    places = " < ".join(
        f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in reversed(frames)
    )
    said = f": {root}" if with_text else ""
    return f"{type(root).__name__}{said} at {places or 'an unknown place'}"
