"""The programs of docs/integrations/pipelines.md print what is said, with stand-ins for what is not installed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from documents import find_snippets, tidy
from riseq.hub import find_default_model

STAND_INS = Path(__file__).parent / "stand_ins"


@pytest.fixture(params=["haystack", "dspy"])
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A tool that can be imported, if only as its stand-in."""
    name: str = request.param
    installed = importlib.util.find_spec(name) is not None
    if not installed:
        monkeypatch.syspath_prepend(STAND_INS / name)
    yield name
    for module in [] if installed else [one for one in sys.modules if one.partition(".")[0] == name]:
        del sys.modules[module]


def test_a_program_prints_what_is_said(name: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    page = (root / "docs" / "integrations" / "pipelines.md").read_text(encoding="utf-8")
    (snippet,) = (one for one in find_snippets(page) if name in one.code)
    exec(compile(snippet.code, name, "exec", dont_inherit=True), {"__name__": "program"})
    assert snippet.output is not None
    assert tidy(capsys.readouterr().out) == tidy(snippet.output)
