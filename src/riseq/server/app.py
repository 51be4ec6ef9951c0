"""The FastAPI app: the routes, and how questions are answered."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import cast

from fastapi import FastAPI, Request
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from riseq import __version__
from riseq.server import responses, schemas
from riseq.server.batcher import Batcher
from riseq.server.engines import Engine, Question
from riseq.server.errors import ApiError, add_handlers, describe_crash, document_errors
from riseq.server.links import read_links
from riseq.server.middleware import CLIENT_GONE, RequestMiddleware
from riseq.server.models import NO_RESOLVER, Choice, Models, find_others, find_resolver, load
from riseq.server.monitoring import CONTENT_TYPE, Metrics, Readiness
from riseq.server.openapi import write_page
from riseq.server.settings import Settings
from riseq.types import InputError, Simplification

log = logging.getLogger("riseq.server")
STATIC = Path(__file__).parent / "static"
Outcomes = list[Simplification | ApiError]


def create_app(settings: Settings, engine: Engine) -> FastAPI:
    """Return the app that serves ``engine``; its batcher works between start-up and shut-down."""
    metrics = Metrics(engine.info)
    others = find_others(settings, engine.info.name) if settings.compare else ()
    models = Models(engine, others, find_resolver(settings, engine))
    batcher = Batcher(models, settings, metrics)
    readiness = Readiness(batcher, settings.ready_s)

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:  # noqa: ARG001
        batcher.start()
        if reason := await readiness.check():
            log.error("started, but not ready: %s", reason)
        if "resolve" not in models.at_work:
            log.info("%s", NO_RESOLVER)
        yield
        await batcher.stop()

    app = FastAPI(
        title="riseq",
        description="Makes self-contained questions conversational, and conversational ones self-contained again.",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=live,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.batcher = batcher
    _add_api(app, settings, batcher, models)
    _add_monitoring(app, batcher, readiness, metrics)
    _add_pages(app)
    add_handlers(app)
    app.add_middleware(
        RequestMiddleware,
        settings=settings,
        key=settings.read_key(),
        routes=frozenset(route.path for route in app.routes if isinstance(route, Route)),
        metrics=metrics,
    )
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


def _add_api(app: FastAPI, settings: Settings, batcher: Batcher, models: Models) -> None:
    @app.post(
        "/v1/simplify",
        summary="Make one question conversational, or many",
        response_model=responses.Result | responses.Results,
        responses=document_errors(400, 401, 408, 413, 415, 422, 429, 500, 503),
    )
    async def simplify(body: schemas.SimplifyRequest, request: Request) -> Response:
        """Answer a question with a result, and many with one result or failure each, in their order."""
        return await _respond(body.root, request, settings, batcher, models)

    @app.post(
        "/v1/resolve",
        summary="Make one question self-contained, or many",
        response_model=responses.Result | responses.Results,
        responses=document_errors(400, 401, 404, 408, 413, 415, 422, 429, 500, 503),
    )
    async def resolve(body: schemas.ResolveRequest, request: Request) -> Response:
        """Answer as ``simplify`` does, by the model of the way back, where there is one."""
        if "resolve" not in models.at_work:
            raise ApiError(404, "no_model", NO_RESOLVER)
        return await _respond(body.root, request, settings, batcher, models)

    @app.get("/v1/model", summary="The model at work, and what it takes", responses=document_errors(401))
    async def model() -> responses.ModelOut:
        """Tell what is at work."""
        most = {"max_items": settings.max_items, "max_body_bytes": settings.max_body_bytes}
        limits = responses.Limits(**most, timeout_seconds=settings.timeout_s)
        return responses.ModelOut(**asdict(models.info), riseq=__version__, links=read_links(), limits=limits)

    @app.get("/v1/models", summary="What a request may name as its model", responses=document_errors(401))
    async def list_models() -> responses.ModelsOut:
        """Tell what can answer."""
        return responses.ModelsOut(
            models=[
                responses.ChoiceOut(
                    name=one.name,
                    kind=one.kind,
                    about=one.about,
                    direction=one.direction,
                    at_work=one is models.at_work.get(one.direction),
                    loaded=one.engine is not None,
                )
                for one in models.choices.values()
            ]
        )


def _add_monitoring(app: FastAPI, batcher: Batcher, readiness: Readiness, counts: Metrics) -> None:
    @app.get("/health", summary="Whether the process answers")
    async def health() -> responses.Health:
        """Tell that the process answers."""
        return responses.Health()

    @app.get(
        "/ready",
        summary="Whether work is welcome",
        response_model=responses.ReadinessOut,
        responses={503: {"model": responses.ReadinessOut, "description": "Not ready."}},
    )
    async def ready() -> Response:
        """Tell whether a question was answered lately, and there is room for more."""
        reason = await readiness.check()
        status = "ready" if reason is None else "not ready"
        return JSONResponse({"status": status, "reason": reason, "queued": batcher.queued}, 503 if reason else 200)

    @app.get(
        "/metrics",
        summary="Counts for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}, "description": "Prometheus text."}, **document_errors(401)},
    )
    async def metrics() -> Response:
        """Tell the counts."""
        return Response(counts.write(), media_type=CONTENT_TYPE)


def _add_pages(app: FastAPI) -> None:
    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(write_page(app.openapi()))

    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    async def playground() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False), name="static")


async def _respond(
    asked: Question | schemas.Items, request: Request, settings: Settings, batcher: Batcher, models: Models
) -> Response:
    """Return the answer to a request: a result, or one result or failure each."""
    questions = asked.items if isinstance(asked, schemas.Items) else [asked]
    _check_models(asked, models)
    outcomes = await _answer(questions, request, settings, batcher, models)
    if isinstance(asked, Question) and isinstance(outcomes[0], ApiError):
        raise outcomes[0]
    request_id = request.state.request_id
    out = [one.to_dict(request_id) if isinstance(one, ApiError) else responses.write_result(one) for one in outcomes]
    return JSONResponse(out[0] if isinstance(asked, Question) else {"results": out})


def _check_models(asked: Question | schemas.Items, models: Models) -> None:
    """Raise where a question names something that cannot answer it; questions after one dialogue name it once."""
    is_list = isinstance(asked, schemas.Items) and not isinstance(asked, schemas.SharedItems)
    try:
        for index, question in enumerate([asked] if isinstance(asked, Question) else asked.items):
            models.check(question, f"items[{index}]." if is_list else "")
    except InputError as error:
        raise ApiError(422, "invalid", str(error)) from None


async def _load(choice: Choice, seconds: float) -> None:
    """Wait until ``choice`` is loaded, off the event loop and off the workers that answer others."""
    name, loading = choice.name, asyncio.create_task(asyncio.to_thread(load, choice))
    # Where nobody waits for it any more it is loaded all the same, for the next one; a failure is told to the next.
    loading.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        await asyncio.wait_for(asyncio.shield(loading), seconds)
    except TimeoutError:
        message = f"the model {name!r} was not loaded within {seconds:g} s; try again later"
        raise ApiError(408, "deadline", message) from None
    except Exception as error:
        log.error("the model %r could not be loaded: %s", name, describe_crash(error, with_text=True))
        message = f"the model {name!r} could not be loaded; the server's log says more"
        raise ApiError(500, "failed", message) from error


async def _answer(
    questions: Sequence[Question], request: Request, settings: Settings, batcher: Batcher, models: Models
) -> Outcomes:
    """Return the result or failure of each question; a client that goes away takes its questions with it."""
    count, request_id = len(questions), request.state.request_id
    request.state.items = count
    if count > settings.max_items:
        message = f"the request has {count:,} items, expected at most {settings.max_items:,}"
        raise ApiError(413, "too_many_items", message)
    for choice in models.find_missing(questions):
        await _load(choice, settings.timeout_s)
    futures = batcher.submit(questions)
    try:
        outcomes = await _wait(futures, request, settings.timeout_s)
    finally:
        for future in futures:
            future.cancel()
    for question, outcome in zip(questions, outcomes, strict=True):
        if isinstance(outcome, ApiError):
            log.error("request=%s item failed: %s", request_id, describe_crash(outcome, settings.log_text))
        if settings.log_text:
            text = getattr(outcome, "text", None)
            log.info("request=%s question=%r text=%r", request_id, question.question, text)
    return outcomes


async def _wait(futures: Sequence[asyncio.Future[Simplification]], request: Request, seconds: float) -> Outcomes:
    """Return what became of ``futures`` when all of them are done."""
    gone = asyncio.create_task(_wait_for_disconnect(request))
    every = asyncio.gather(*futures, return_exceptions=True)
    every.add_done_callback(lambda done: done.cancelled() or done.exception())  # read, or asyncio's log complains
    try:
        done, _ = await asyncio.wait((every, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        every.cancel()
    if not done:
        raise ApiError(408, "deadline", f"the answer was not ready within {seconds:g} s; ask for less, or later")
    if every not in done:
        raise ApiError(CLIENT_GONE, "client_gone", "nobody waits for the answer any more")
    return [cast(ApiError | None, future.exception()) or future.result() for future in futures]


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
