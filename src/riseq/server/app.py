"""The FastAPI app: the routes, and how every error becomes an answer."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from riseq import __version__
from riseq.server.batcher import Batcher, Limits
from riseq.server.engine import Engine
from riseq.server.errors import Problem, describe_invalid
from riseq.server.metrics import CONTENT_TYPE, Metrics
from riseq.server.middleware import Guard, Rules
from riseq.server.readiness import Readiness
from riseq.server.reference_page import STYLE, write_reference
from riseq.server.schemas import ErrorOut, Health, ModelOut, ReadinessOut, Result, Results, SimplifyRequest
from riseq.server.schemas import Limits as LimitsOut
from riseq.server.service import Service
from riseq.server.settings import Settings

log = logging.getLogger("riseq.server")
STATIC = Path(__file__).parent / "static"
ABOUT = "Makes self-contained questions conversational."
_CODES = {404: "not_found", 405: "method_not_allowed"}
_REASONS = {
    400: "The body is not JSON.",
    401: "A key is needed, and is missing or wrong.",
    408: "The body came too slowly, or the answer was not ready in time.",
    413: "The body is too long, or has too many items.",
    415: "The body's type is not JSON.",
    422: "The body is JSON, but no such request.",
    429: "The queue is full; the header Retry-After says when to come back.",
    500: "The question could not be simplified.",
    503: "The server is shutting down; the header Retry-After says when to come back.",
}


def create_app(settings: Settings, engine: Engine) -> FastAPI:
    """Return the app that serves ``engine``; its batcher works between start-up and shut-down."""
    metrics = Metrics(engine.about, __version__)
    limits = Limits(settings.max_batch, settings.batch_wait_ms / 1000, settings.max_queue, settings.workers)
    batcher = Batcher(engine, limits, metrics)
    metrics.watch_queue(lambda: batcher.queued)
    service = Service(settings, engine, batcher, Readiness(batcher, settings.ready_s), metrics)

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001
        batcher.start()
        reason = await service.readiness.check()
        if reason is not None:
            log.error("started, but not ready: %s", reason)
        yield
        await batcher.stop()

    app = FastAPI(
        title="riseq",
        description=ABOUT,
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=live,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.service = service
    _add_api(app, service)
    _add_pages(app)
    _add_handlers(app)
    rules = Rules(settings.max_body_bytes, settings.body_timeout_s, settings.read_key(), settings.log_text)
    routes = frozenset(route.path for route in app.routes if isinstance(route, Route))
    app.add_middleware(Guard, rules=rules, routes=routes, on_done=metrics.request_done)
    if settings.cors_origins:
        # The last one added is the outermost: refusals get these headers too.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-Id"],
            expose_headers=["Retry-After", "X-Request-Id"],
        )
    return app


def _add_api(app: FastAPI, service: Service) -> None:
    @app.post(
        "/v1/simplify",
        summary="Make one question conversational, or many",
        response_model=Result | Results,
        responses=_tell_errors(400, 401, 408, 413, 415, 422, 429, 500, 503),
    )
    async def simplify(body: SimplifyRequest, request: Request) -> Response:
        """Answer a question with a result, and many with one result or failure each, in their order."""
        return await service.answer(body.root, request)

    @app.get("/v1/model", summary="The model at work, and what it takes", responses=_tell_errors(401))
    async def model() -> ModelOut:
        """Tell what is at work."""
        about = service.engine.about
        return ModelOut(
            name=about.name,
            engine=about.engine,
            precision=about.precision,
            phrases=about.phrases,
            max_pieces=about.max_pieces,
            riseq=__version__,
            limits=LimitsOut(
                max_items=service.settings.max_items,
                max_body_bytes=service.settings.max_body_bytes,
                timeout_seconds=service.settings.timeout_s,
            ),
        )

    @app.get("/health", summary="Whether the process answers")
    async def health() -> Health:
        """Tell that the process answers."""
        return Health()

    @app.get(
        "/ready",
        summary="Whether work is welcome",
        response_model=ReadinessOut,
        responses={503: {"model": ReadinessOut, "description": "Not ready."}},
    )
    async def ready() -> Response:
        """Tell whether a question was answered lately, and there is room for more."""
        reason = await service.readiness.check()
        queued = service.batcher.queued
        out = ReadinessOut(status="ready" if reason is None else "not ready", reason=reason, queued=queued)
        return JSONResponse(out.model_dump(), 200 if reason is None else 503)

    @app.get(
        "/metrics",
        summary="Counts for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}, "description": "Prometheus text."}, **_tell_errors(401)},
    )
    async def metrics() -> Response:
        """Tell the counts."""
        return Response(service.metrics.write(), media_type=CONTENT_TYPE)


def _add_pages(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(write_reference(app.openapi()))

    @app.get("/docs.css", include_in_schema=False)
    async def docs_style() -> Response:
        return Response(STYLE, media_type="text/css")

    @app.get("/", include_in_schema=False)
    async def playground() -> FileResponse:
        page = STATIC / "index.html"
        if not page.is_file():
            raise HTTPException(404)
        return FileResponse(page)

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")


def _add_handlers(app: FastAPI) -> None:
    async def on_invalid(request: Request, error: Exception) -> Response:
        problem = describe_invalid(cast(RequestValidationError, error).errors())
        return problem.respond(request.state.request_id)

    async def on_http(request: Request, error: Exception) -> Response:
        status = cast(HTTPException, error).status_code
        if status == 400:  # FastAPI's, for bytes that no JSON parser takes.
            problem = Problem(400, "not_json", "the body is not JSON: it cannot be parsed")
        else:
            problem = Problem(status, _CODES.get(status, "refused"), str(cast(HTTPException, error).detail))
        problem.headers.update(cast(HTTPException, error).headers or {})
        return problem.respond(request.state.request_id)

    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)


def _tell_errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": ErrorOut, "description": _REASONS[status]} for status in statuses}
