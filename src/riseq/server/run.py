"""The process: load the model, listen, and on SIGTERM finish what there is."""

import logging
import os
import socket
import time
from collections.abc import Callable
from types import FrameType

import uvicorn

from riseq.files import write_text
from riseq.server.app import create_app
from riseq.server.batcher import Batcher
from riseq.server.engines import DummyEngine, EditorEngine, Engine
from riseq.server.models import count_threads
from riseq.server.settings import Settings
from riseq.types import InputError

log = logging.getLogger("riseq.server")
_BACKLOG = 2_048


class Server(uvicorn.Server):
    """Listens on until its batcher is idle: whoever comes after the signal gets a 503."""

    def __init__(self, config: uvicorn.Config, batcher: Batcher, drain_s: float) -> None:
        super().__init__(config)
        self._batcher, self._drain_s = batcher, drain_s
        self._deadline: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """Start to drain; a second signal ends it at once."""
        if self._deadline is not None:
            self.should_exit = self.force_exit = True
            return
        self._deadline = time.monotonic() + self._drain_s
        self._batcher.drain()

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop: what was there is done, or took too long."""
        if self._deadline is not None and (self._batcher.idle or time.monotonic() > self._deadline):
            self.should_exit = True
        return await super().on_tick(counter)


def load_engine(settings: Settings) -> Engine:
    """Return what simplifies where a request names nothing else."""
    if settings.engine == "dummy":
        return DummyEngine()
    return EditorEngine(settings.model, count_threads(settings))


def serve(settings: Settings, on_listening: Callable[[str], None] = lambda _: None) -> None:
    """Serve until a signal says otherwise; ``on_listening`` is called with the address when there is one."""
    listener = listen(settings.host, settings.port)
    app = create_app(settings, load_engine(settings))
    _set_up_log(settings.log_level)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # The middleware writes its own, without what users send.
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, round(settings.drain_s)),
        lifespan="on",
    )
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{listener.getsockname()[1]}"
    if settings.address_file is not None:
        write_text(settings.address_file, address)
    on_listening(address)
    Server(config, app.state.batcher, settings.drain_s).run(sockets=[listener])
    if app.state.batcher.hangs:
        # Python would wait for its thread, and no thread can be ended from outside.
        log.error("stopped in the middle of a batch that took too long")
        logging.shutdown()
        os._exit(1)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; before the model is loaded, for that takes longer than to find the port taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        # A failed look-up of a name has numbers of its own.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise InputError(f"cannot listen on {host}, port {port}: {reason}") from error


def _set_up_log(level: str) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    for name in ("riseq.server", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level.upper() if name == "riseq.server" else logging.WARNING)
