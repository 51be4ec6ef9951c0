"""The server behind ``riseq mcp``, asked by the official client over a real pipe."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, ListToolsResult

from riseq.controls import Controls
from riseq.engine.simplifier import Simplifier
from riseq.integrations.mcp import build_server
from tiny_resolver import export_tiny_resolver

Rows = list[tuple[str, list[str]]]
RISEQ = str(Path(sys.executable).parent / "riseq")


async def talk(
    model: Path, asked: list[tuple[str, dict[str, object]]], *flags: str
) -> tuple[ListToolsResult, list[CallToolResult]]:
    args = ["mcp", "--model", str(model), "--threads", "1", *flags]
    server = StdioServerParameters(command=RISEQ, args=args, env={**os.environ})
    async with Client(stdio_client(server)) as client:
        return await client.list_tools(), [await client.call_tool(name, given) for name, given in asked]


def say(result: CallToolResult) -> str:
    (part,) = result.content
    assert part.type == "text"
    return part.text


def test_a_client_simplifies_and_explains(model: Path, simplifier: Simplifier, rows: Rows, texts: list[str]) -> None:
    place = next(place for place, row in enumerate(rows) if len(row[1]) > 2 and texts[place] != row[0])
    question, context = rows[place]
    asked: dict[str, object] = {"question": question, "context": context}
    tools, answers = asyncio.run(
        talk(
            model,
            [
                ("simplify", asked),
                ("simplify", {"question": question, "context": [{"role": "user", "content": one} for one in context]}),
                ("simplify", {**asked, "strength": 0.0, "n_best": 3}),
                ("simplify", {**asked, "protect": question.split()}),
                ("explain", asked),
                ("explain", {**asked, "max_passes": 1, "n_best": 2, "guard": False}),
                ("simplify", {"question": question, "context": [{"rôle": "user"}]}),
                ("simplify", {**asked, "strength": 7}),
                ("simplify", {"question": question}),
                ("simplify", asked),
            ],
        )
    )
    assert [tool.name for tool in tools.tools] == ["simplify", "explain", "resolve"]
    assert all(tool.description for tool in tools.tools)
    for tool in tools.tools:
        properties = tool.input_schema["properties"]
        direction = "resolve" if tool.name == "resolve" else "simplify"
        controls = [one for one in fields(Controls) if one.metadata.get("only", direction) == direction]
        own = ["question", "context", *(["direction"] if tool.name == "explain" else [])]
        assert list(properties) == [*own, *(one.name for one in controls)]
        assert tool.input_schema["required"] == ["question", "context"]
        for one in controls:
            help = one.metadata.get(f"{direction}_help", one.metadata["help"])
            assert properties[one.name]["description"] == help
    plain, messages, kept, protected, explained, once, no_role, too_strong, no_context, again = answers
    expected = simplifier(question, context)
    content = {"text": texts[place], "changed": True, "confidence": expected.confidence}
    content |= {"reason": None, "alternatives": []}
    assert plain.structured_content == messages.structured_content == again.structured_content == content
    assert kept.structured_content is not None
    assert kept.structured_content["text"] == question
    assert protected.structured_content is not None
    assert protected.structured_content["text"] == question
    lines = say(explained).splitlines()
    assert lines[0].split(maxsplit=1) == ["question", question]
    assert lines[1].startswith("pass 1")
    assert ["result", texts[place]] in [line.split(maxsplit=1) for line in lines]
    first = simplifier(question, context, max_passes=1, guard=False)
    assert ["result", first.text] in [line.split(maxsplit=1) for line in say(once).splitlines()]
    assert "forms" in say(once)
    for mistake, told in ((no_role, "has the keys ['rôle']"), (too_strong, "strength is 7"), (no_context, "context")):
        assert mistake.is_error
        assert told in say(mistake)


def test_a_client_resolves(model: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    resolver = export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]
    asked: dict[str, object] = {"question": "Did it win a prize?", "context": ["Do you know NASA?"]}
    messages = [{"role": "user", "content": "Do you know NASA?"}]
    variants = [asked, {**asked, "context": messages, "n_best": 2}, {**asked, "strength": 7}]
    way = {**asked, "direction": "resolve"}
    calls = [*(("resolve", one) for one in variants), ("explain", way), ("explain", {**way, "guard": False})]
    _, answers = asyncio.run(talk(model, calls, "--resolve-model", str(resolver)))
    plain, forms, too_strong, explained, guarded = answers
    content = {"text": "Did NASA win a prize?", "changed": True, "confidence": None, "reason": None, "alternatives": []}
    assert plain.structured_content == content
    assert forms.structured_content is not None
    assert content["text"] in forms.structured_content["alternatives"]
    assert too_strong.is_error
    assert "strength is 7" in say(too_strong)
    lines = [line.split(maxsplit=1) for line in say(explained).splitlines()]
    assert ["result", "Did NASA win a prize?"] in lines
    assert "guard goes with riseq simplify, not with riseq resolve" in say(guarded)


@pytest.mark.parametrize(("tool", "more"), [("resolve", {}), ("explain", {"direction": "resolve"})])
def test_without_a_model_of_the_way_back_the_tool_says_so_in_one_line(
    model: Path, monkeypatch: pytest.MonkeyPatch, tool: str, more: dict[str, str]
) -> None:
    monkeypatch.setattr("riseq.hub._find_shipped", lambda name: None)

    async def ask() -> str:
        async with Client(build_server(model, 1)) as client:
            result = await client.call_tool(tool, {"question": "Who was she?", "context": [], **more})
            assert result.is_error
            return say(result)

    told = asyncio.run(ask())
    assert "resolve: no model that resolves questions ships with this riseq" in told
    assert "\n" not in told


@pytest.mark.parametrize("flag", ["--model", "--resolve-model"])
def test_a_missing_model_is_one_line_and_exit_code_2(flag: str) -> None:
    done = subprocess.run(
        [RISEQ, "mcp", flag, "nowhere at all"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such folder" in done.stderr
    assert done.stderr.count("\n") == 1
