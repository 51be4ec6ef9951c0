"""Prints the changelog's section for a tag: ``python .ci/release_notes.py v0.2.0``.

It ends with one line and exit code 1 where the tag is not the version, or the changelog has no section for it. It needs
nothing but Python, so that a release can run it before anything is installed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def read_version(root: Path = ROOT) -> str:
    """Return the version that the package gives itself."""
    text = (root / "src" / "riseq" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise ValueError("src/riseq/__init__.py has no line __version__ = ...")
    return found[1]


def find_section(changelog: str, version: str) -> str:
    """Return what ``changelog`` has below the heading of ``version``."""
    found = re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if found is None or not found[1].strip():
        raise ValueError(f"CHANGELOG.md has no section '## [{version}] - YEAR-MONTH-DAY'")
    return found[1].strip() + "\n"


def main(tag: str) -> None:
    """Print the section of ``tag``."""
    version = read_version()
    if tag != f"v{version}":
        raise ValueError(f"the tag is {tag!r}, but the version of the package is {version!r}")
    print(find_section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version), end="")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (TypeError, ValueError) as error:
        sys.exit(f"release_notes: {error}")
