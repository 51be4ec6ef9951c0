"""The server behind ``riseq mcp``, asked by the official client over a real pipe."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import CallToolResult, ListToolsResult

from riseq.controls import Controls
from riseq.engine.simplifier import Simplifier

Rows = list[tuple[str, list[str]]]
RISEQ = str(Path(sys.executable).parent / "riseq")


async def talk(model: Path, asked: list[tuple[str, dict[str, object]]]) -> tuple[ListToolsResult, list[CallToolResult]]:
    server = StdioServerParameters(
        command=RISEQ, args=["mcp", "--model", str(model), "--threads", "1"], env={**os.environ}
    )
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
    assert [tool.name for tool in tools.tools] == ["simplify", "explain"]
    assert all(tool.description for tool in tools.tools)
    for tool in tools.tools:
        properties = tool.input_schema["properties"]
        assert list(properties) == ["question", "context", *(one.name for one in fields(Controls))]
        assert tool.input_schema["required"] == ["question", "context"]
        for one in fields(Controls):
            assert properties[one.name]["description"] == one.metadata["help"]
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


def test_a_missing_model_is_one_line_and_exit_code_2() -> None:
    done = subprocess.run(
        [RISEQ, "mcp", "--model", "nowhere at all"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "no such folder" in done.stderr
    assert done.stderr.count("\n") == 1
