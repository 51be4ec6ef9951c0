"""The TypeScript client in clients/typescript: up to date, and tested by node against running servers."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

import riseq
from node import run_node
from riseq.server.engines import DummyEngine
from server.engines import RecordingEngine
from server.serving import run_server

KEY = "a-key"


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    return root / "clients" / "typescript"


@pytest.mark.parametrize(("made", "source"), [("schema.d.ts", "../../docs/openapi.json"), ("client.d.ts", "client.js")])
def test_the_types_are_made_from_what_there_is(folder: Path, made: str, source: str) -> None:
    # tests/server/test_openapi.py has whether docs/openapi.json is today's.
    text = re.sub(r'^ *"version": .*\n', "", (folder / source).read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
    first = (folder / made).read_text(encoding="utf-8").partition("\n")[0]
    digest = hashlib.sha256(text.encode()).hexdigest()
    hint = f"{made} is out of date; in clients/typescript: npm install && npm run types"
    assert first == f"// Made by `npm run types` from {source}, {digest}", hint


def test_the_client_is_small_and_has_the_servers_version(folder: Path) -> None:
    package = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    assert package["version"] == riseq.__version__
    assert "dependencies" not in package
    assert all((folder / name).is_file() for name in package["files"])


def test_node_finds_that_the_client_works(folder: Path) -> None:
    with (
        run_server(RecordingEngine(), api_key=KEY, max_items=64) as address,
        run_server(DummyEngine(0.1), max_queue=1, max_items=1, max_batch=1) as busy,
    ):
        environment = {"RISEQ_ADDRESS": address, "RISEQ_API_KEY": KEY, "RISEQ_BUSY_ADDRESS": busy}
        shown = run_node("--test", "--test-reporter=tap", "test/client.test.js", folder=folder, environment=environment)
    passed = re.search(r"^# pass (\d+)$", shown, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) > 0
    assert "\n# skipped 0\n" in shown
