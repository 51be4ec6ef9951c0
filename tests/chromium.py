"""Finds the chromium that the playground is tested in, and installs it where that can be done.

Run as a program it installs what is missing: ``python tests/chromium.py``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NAMED = "RISEQ_CHROMIUM"
COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_SECONDS = 240
_APT = ["apt-get", "-qq", "-o", "Acquire::Retries=0", "-o", "Acquire::http::Timeout=20"]


def find_chromium() -> str | None:
    """Return the path of a chromium: the one RISEQ_CHROMIUM names, the system's, or Playwright's own."""
    named = os.environ.get(NAMED)
    if named:
        return named if Path(named).is_file() else None
    for command in COMMANDS:
        if found := shutil.which(command):
            return found
    cache = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    return next((str(path) for path in sorted(cache.glob("chromium-*/chrome-linux*/chrome"))), None)


def ensure_chromium() -> str | None:
    """Return the path of a chromium, installed now if there was none; None where that did not work either."""
    found = find_chromium()
    if found or os.environ.get(NAMED):
        return found
    # The processes of one test run install it once: the others wait, and take what the first one left.
    mark = Path(tempfile.gettempdir()) / f"riseq-chromium-{os.getuid()}-{os.getppid()}"
    with mark.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if mark.stat().st_size:
            return find_chromium()
        lock.write("tried\n")
        lock.flush()
        return next((found for way in _list_ways() if _run_all(way) and (found := find_chromium())), None)


def _list_ways() -> list[list[list[str]]]:
    """Return the ways to install it, each a list of commands: Debian's package, for root, and Playwright's download."""
    download = [[sys.executable, "-m", "playwright", "install", "chromium"]]
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        return [download]
    return [[[*_APT, "update"], [*_APT, "install", "--yes", "--no-install-recommends", "chromium"]], download]


def _run_all(commands: list[list[str]]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        for command in commands:
            subprocess.run(command, env=environment, capture_output=True, timeout=INSTALL_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


if __name__ == "__main__":
    browser = ensure_chromium()
    print(f"chromium: {browser}" if browser else "chromium: not found and not installed; its tests will be skipped")
