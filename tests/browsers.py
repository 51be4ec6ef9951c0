"""Finds the browsers that the playground is tested in, and installs them where that can be done.

Run as a program it installs what is missing: ``python tests/browsers.py``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

INSTALL_SECONDS = 240
_APT = ["apt-get", "-qq", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"]


@dataclass(frozen=True)
class Kind:
    """A browser: the variable that names one, its commands, Debian's package, and where Playwright keeps its own."""

    variable: str
    commands: tuple[str, ...]
    package: str
    downloaded: str | None = None


KINDS = {
    "chromium": Kind(
        "RISEQ_CHROMIUM",
        ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        "chromium",
        "chromium-*/chrome-linux*/chrome",
    ),
    # Mozilla's own, which Playwright speaks WebDriver BiDi with; the build that Playwright downloads speaks another.
    "firefox": Kind("RISEQ_FIREFOX", ("firefox-esr", "firefox"), "firefox-esr"),
}


def find_browser(name: str) -> str | None:
    """Return the path of a browser: the one its variable names, the system's, or Playwright's own."""
    kind = KINDS[name]
    named = os.environ.get(kind.variable)
    if named:
        return named if Path(named).is_file() else None
    for command in kind.commands:
        if found := shutil.which(command):
            return found
    if kind.downloaded is None:
        return None
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    return next((str(path) for path in sorted(cache.glob(kind.downloaded))), None)


def ensure_browser(name: str) -> str | None:
    """Return the path of a browser, installed now if there was none; None where that did not work either."""
    found = find_browser(name)
    if found or os.environ.get(KINDS[name].variable):
        return found
    # The processes of one test run install it once: the others wait, and take what the first one left.
    mark = Path(tempfile.gettempdir()) / f"riseq-{name}-{os.getuid()}-{os.getppid()}"
    with mark.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if mark.stat().st_size:
            return find_browser(name)
        lock.write("tried\n")
        lock.flush()
        return next((found for way in _list_ways(name) if _run_all(way) and (found := find_browser(name))), None)


def _list_ways(name: str) -> list[list[list[str]]]:
    """Return the ways to install it, each a list of commands: Debian's package, for root, and Playwright's download."""
    kind = KINDS[name]
    ways = [[[sys.executable, "-m", "playwright", "install", name]]] if kind.downloaded else []
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        return ways
    return [[[*_APT, "update"], [*_APT, "install", "--yes", "--no-install-recommends", kind.package]], *ways]


def _run_all(commands: list[list[str]]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        for command in commands:
            subprocess.run(command, env=environment, capture_output=True, timeout=INSTALL_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


if __name__ == "__main__":
    for name in KINDS:
        path = ensure_browser(name)
        print(f"{name}: {path or 'not found and not installed; its tests will be skipped'}")
