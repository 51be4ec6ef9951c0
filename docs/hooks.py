"""What the site has beside docs/: pages from elsewhere in the repository, and links that hold."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS = "docs"
ELSEWHERE = {
    "index.md": "README.md",
    "benchmarks.md": "benchmarks/RESULTS.md",
    "model-card.md": "models/default/README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
}
"""Pages of the site, and the repository's files that they are."""
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
_FENCES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of docs/ and those of ``ELSEWHERE``."""
    root = Path(config.config_file_path).parent
    for name, source in ELSEWHERE.items():
        files.append(File.generated(config, name, content=(root / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Return the page with links that hold on the site."""
    name = page.file.src_uri
    source = ELSEWHERE.get(name, f"{DOCS}/{name}")
    return place_links(markdown, name, source, Path(config.config_file_path).parent)


def place_links(markdown: str, page: str, source: str, root: Path) -> str:
    """Return ``markdown`` of the repository's file ``source``, with its links seen from the site's ``page``.

    A link to a file that is no page becomes its text and the file's name. A link to nothing is left for mkdocs to find.
    """
    pages = {file: name for name, file in ELSEWHERE.items()}

    def place(link: re.Match[str]) -> str:
        text, anchor = link["text"], link["anchor"] or ""
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), link["target"]))
        if found in pages or found.startswith(f"{DOCS}/"):
            target = pages.get(found, found.removeprefix(f"{DOCS}/"))
            return f"{link['image']}[{text}]({posixpath.relpath(target, posixpath.dirname(page) or '.')}{anchor})"
        if link["image"] or not (root / found).exists():
            return link[0]
        return text if found in text else f"{text} (`{found}`)"

    parts, end = [], 0
    for fence in _FENCES.finditer(markdown):
        parts += [_LINK.sub(place, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(place, markdown[end:])])
