"""Servers for tests: in the same event loop, in a thread with a real socket, or as a process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from riseq.server.app import create_app
from riseq.server.batcher import Batcher
from riseq.server.engines import DummyEngine, Engine
from riseq.server.run import Server, listen
from riseq.server.settings import Settings

ALIEN = {"question": "When was Alien released?", "context": ["Who directed Alien?"]}
ANSWER = "When was it released?"


@asynccontextmanager
async def open_app(engine: Engine | None = None, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Batcher]]:
    """Give a client of an app in this event loop, without a socket, and the app's batcher."""
    app = create_app(Settings(**settings), engine or DummyEngine())
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        yield client, app.state.batcher


@contextmanager
def run_server(engine: Engine | None = None, **settings: Any) -> Iterator[str]:
    """Give the address of a server that listens in a thread of this process."""
    chosen = Settings(**settings)
    app = create_app(chosen, engine or DummyEngine())
    listener = listen("127.0.0.1", 0)
    server = Server(
        uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1),
        app.state.batcher,
        1.0,
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


@contextmanager
def run_process(
    *flags: str, environment: Mapping[str, str] | None = None, log: Path | None = None, port: int | None = 0
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Give the address of ``riseq serve`` in a process of its own; ``log`` gets what it writes after the address.

    The port is a free one; where it is None, the one that the settings say.
    """
    command = [str(Path(sys.executable).parent / "riseq"), "serve", *flags]
    command += [] if port is None else ["--port", str(port)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {}), "TERM": "dumb"}
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        assert "serving on " in first, first + process.stderr.read()
        address = first.rpartition(" ")[2].strip()
        pump = threading.Thread(target=_pump, args=(process, log), daemon=True)
        pump.start()
        await_health(address)
        yield address, process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)
    pump.join(10)


def await_health(address: str) -> None:
    """Wait until the server at ``address`` answers; the socket is there before the model is."""
    with httpx.Client(base_url=address, timeout=30, verify=False) as client:
        client.get("/health").raise_for_status()


def _pump(process: subprocess.Popen[str], log: Path | None) -> None:
    assert process.stderr is not None
    text = process.stderr.read()
    if log is not None:
        log.write_text(text, encoding="utf-8")
