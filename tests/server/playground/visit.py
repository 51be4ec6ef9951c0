"""A playground to visit: a server that can go away, and what a person does on the page."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import uvicorn
from playwright.sync_api import Error, FilePayload, Page, Request, expect

from riseq.server.app import create_app
from riseq.server.engines import Engine
from riseq.server.run import listen
from riseq.server.settings import Settings

FILMS = ["Which films did Christopher Nolan direct?", "His latest film is Oppenheimer."]
OSCAR = "Did Christopher Nolan win an Oscar for Oppenheimer?"
Open = Callable[..., Page]


class Host:
    """A server in a thread, that can go away and come back at the same address."""

    def __init__(self, engine: Engine, **settings: Any) -> None:
        self._engine, self._settings = engine, Settings(**settings)
        self._port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        listener = listen("127.0.0.1", self._port)
        self._port = listener.getsockname()[1]
        app = create_app(self._settings, self._engine)
        self._server = uvicorn.Server(
            uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
        )
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        assert not self._thread.is_alive()


def say(page: Page, *turns: str) -> None:
    """Clear the page and type ``turns``, one after the other."""
    page.click("#clear")
    for turn in turns:
        page.fill("#draft-text", turn)
        page.press("#draft-text", "Enter")
    expect(page.locator(".turn")).to_have_count(len(turns))


def expect_state(page: Page, name: str) -> None:
    page.locator(f"#outcome[data-state={name}]").wait_for()


def expect_answer(page: Page, text: str) -> None:
    expect_state(page, "done")
    # Waited for as the page is drawn; ``expect`` looks only now and then, but tells better what it saw instead.
    with suppress(Error):
        page.locator("#answer").filter(has_text=re.compile(f"^{re.escape(text)}$")).wait_for()
    expect(page.locator("#answer")).to_have_text(text)
    expect_state(page, "done")


def make_file(name: str, content: str | bytes) -> FilePayload:
    """Return a file as a person would choose it."""
    return {"name": name, "mimeType": "", "buffer": content.encode() if isinstance(content, str) else content}


def count_items(request: Request) -> int:
    """Return how many questions a request asks at once; 0 where it is the request for one answer."""
    return len((request.post_data_json or {}).get("items", ()))


def asks_one(request: Request) -> bool:
    """Whether it is the request for the answer, and not the one for every strength that follows it."""
    return request.url.endswith("/v1/simplify") and not count_items(request)


def last_request(page: Page, action: Callable[[], object]) -> dict[str, Any]:
    """Return the body of the request that ``action`` leads to."""
    with page.expect_request(asks_one) as found:
        action()
    body = found.value.post_data_json
    assert isinstance(body, dict)
    return body
