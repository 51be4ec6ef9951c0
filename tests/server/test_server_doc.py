"""What docs/server.md says about asking is what happens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from node import run_node
from riseq.hub import find_default_model, find_model
from riseq.server.engines import EditorEngine
from riseq.server.responses import ErrorOut
from riseq.server.settings import load_settings
from riseq.types import InputError
from server.serving import run_server

ADDRESS = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "server.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    with run_server(EditorEngine(None, threads=1)) as address:
        yield address


def find(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def loosen(value: Any) -> Any:
    """Return what is shown with its numbers rounded: a probability differs a little between processors."""
    if isinstance(value, dict):
        return {key: loosen(one) for key, one in value.items()}
    if isinstance(value, list):
        return [loosen(one) for one in value]
    return pytest.approx(value, abs=0.05) if isinstance(value, float) else value


def test_the_question_has_the_answer_that_is_shown(page: str, address: str) -> None:
    command = next(block for block in find(page, "bash") if "curl" in block)
    body = re.search(r"-d '(.*)'", command, re.DOTALL)
    assert body is not None
    with httpx.Client(base_url=address, verify=False) as client:
        answer = client.post("/v1/simplify", json=json.loads(body[1])).json()
    shown = json.loads(find(page, "json")[0])
    assert answer == loosen(shown)


def test_the_questions_after_one_dialogue_have_the_answers_that_are_shown(page: str, address: str) -> None:
    command = next(block for block in find(page, "bash") if '"questions"' in block)
    body = re.search(r"-d '(.*)' \| jq", command, re.DOTALL)
    assert body is not None
    with httpx.Client(base_url=address, verify=False) as client:
        answer = client.post("/v1/simplify", json=json.loads(body[1])).json()
    assert [one["text"] for one in answer["results"]] == find(page, "text")[0].splitlines()


def test_the_way_back_has_the_answers_that_are_shown(page: str) -> None:
    """By the model that ships; where none does, by the dummy, which knows what "it" is in these."""
    command = next(block for block in find(page, "bash") if "/v1/resolve" in block)
    body = re.search(r"-d '(.*)' \| jq", command, re.DOTALL)
    assert body is not None
    try:
        model = find_model("resolve")
    except InputError:
        model = None
    with run_server(resolve_model=model) as address, httpx.Client(base_url=address) as client:
        answer = client.post("/v1/resolve", json=json.loads(body[1])).json()
    assert [one["text"] for one in answer["results"]] == find(page, "text")[1].splitlines()


def test_the_models_are_those_that_are_listed(page: str) -> None:
    shown = json.loads(find(page, "json")[1])
    with run_server(EditorEngine(None, threads=1)) as address, httpx.Client(base_url=address) as client:
        listed = client.get("/v1/models").json()["models"]
    installed = {one["name"] for one in listed}
    assert listed == [one for one in shown["models"] if one["name"] in installed]
    assert {"default", "origin"} <= installed


def test_the_clients_snippet_runs(page: str, address: str) -> None:
    code = find(page, "python")[0].replace(ADDRESS, address)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    first, _, many, _ = done.stdout.splitlines()
    assert first == many == "When was it released?"


@pytest.mark.parametrize("name", ["docs/server.md", "clients/typescript/README.md"])
def test_the_typescript_clients_snippet_prints_what_is_shown(
    name: str, address: str, root: Path, tmp_path: Path
) -> None:
    text = (root / name).read_text(encoding="utf-8")
    shown = re.search(r"^```js\n(.*?)^```\n```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert shown is not None
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "riseq-client").symlink_to(root / "clients" / "typescript")
    (tmp_path / "example.mjs").write_text(shown[1].replace(ADDRESS, address), encoding="utf-8")
    assert run_node("example.mjs", folder=tmp_path) == shown[2]


def test_the_settings_file_is_one(page: str, tmp_path: Path) -> None:
    text = find(page, "toml")[0]
    path = tmp_path / "server.toml"
    path.write_text(text, encoding="utf-8")
    settings = load_settings({}, path)
    for name, value in tomllib.loads(text).items():
        assert getattr(settings, name) == value


def test_the_errors_shape_is_the_one_shown(page: str) -> None:
    ErrorOut.model_validate_json('{"error": {"code": "...", "message": "...", "request_id": "..."}}')
    assert '{"error": {"code": "...", "message": "...", "request_id": "..."}}' in page
