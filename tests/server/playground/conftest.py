"""The playground in a real browser, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from browsers import KINDS, ensure_browser
from riseq.server.engines import EditorEngine, Engine
from server.playground.visit import Host, Open

WAIT_MS = 30_000


@pytest.fixture(scope="package")
def engine() -> Engine:
    return EditorEngine(None, 1)


@pytest.fixture(scope="package")
def host(engine: Engine) -> Iterator[Host]:
    running = Host(engine)
    yield running
    running.stop()


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


def find(name: str) -> str:
    """Return the path of the browser ``name``; without one the test is skipped."""
    path = ensure_browser(name)
    if path is None:
        pytest.skip(f"no {name} here, and none could be installed; {KINDS[name].variable} names one")
    return path


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    launched = playwright.chromium.launch(executable_path=find("chromium"), args=["--no-sandbox", "--disable-gpu"])
    yield launched
    launched.close()


@pytest.fixture(scope="package")
def firefox(playwright: Playwright) -> Iterator[Browser]:
    """The system's Firefox; Playwright 1.65 asks it for media features, which Debian's does not know."""
    path = find("firefox")
    still: dict[str, str | float | bool] = {"ui.prefersReducedMotion": 1}
    launched = playwright.firefox.launch(channel="moz-firefox", executable_path=path, firefox_user_prefs=still)
    try:
        launched.new_context().close()
    except Error as error:
        launched.close()
        pytest.skip(f"this Playwright cannot drive Firefox {path}: {error.message.splitlines()[0]}")
    yield launched
    launched.close()


def make_context(browser: Browser, **options: Any) -> BrowserContext:
    usual = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce"}
    context = browser.new_context(**{**usual, **options})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(WAIT_MS)
    return context


@pytest.fixture(scope="package")
def usual_context(browser: Browser) -> Iterator[BrowserContext]:
    """What most pages share, the files they loaded among it; what is written is each tab's own."""
    context = make_context(browser)
    yield context
    context.close()


@pytest.fixture
def open_page(browser: Browser, usual_context: BrowserContext, host: Host) -> Iterator[Open]:
    """A function that opens the playground; at the end no page may have failed, or asked another host for anything."""
    opened: list[Page | BrowserContext] = []
    complaints: list[str] = []

    def listen_to(message: ConsoleMessage) -> None:
        # The browser itself notes each answer that is not a 2xx; the page's own word on it is tested.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            complaints.append(message.text)

    def watch(request: Request, home: str) -> None:
        if not request.url.startswith((home, "data:", "blob:")):
            complaints.append(f"asked for {request.url}")

    def make(url: str | None = None, script: str = "", route: tuple[str, Any] | None = None, **options: Any) -> Page:
        context = make_context(browser, **options) if options else usual_context
        page = context.new_page()
        opened.append(context if options else page)
        page.on("console", listen_to)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        address = url or host.url
        page.on("request", lambda request: watch(request, address.partition("#")[0]))
        if script:
            page.add_init_script(script)
        if route:
            page.route(*route)
        page.goto(address)
        return page

    expect.set_options(timeout=WAIT_MS)
    yield make
    for one in opened:
        one.close()
    assert complaints == []


@pytest.fixture
def keep_picture(root: Path) -> Callable[[Page, str], None]:
    """A function that keeps a screenshot under runs/playground, which git ignores."""
    folder = root / "runs" / "playground"
    folder.mkdir(parents=True, exist_ok=True)
    return lambda page, name: (page.screenshot(path=folder / f"{name}.png"), None)[1]
