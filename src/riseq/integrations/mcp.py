"""A server of the Model Context Protocol with two tools: simplify and explain."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

from riseq import __version__
from riseq.controls import NEUTRAL
from riseq.engine.simplifier import Simplifier
from riseq.extras import name_extra
from riseq.types import InputError, Simplification

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import BaseModel, Field
except ModuleNotFoundError as error:
    raise name_extra("mcp", error) from error

Question = Annotated[str, Field(description="The self-contained question.")]
Context = Annotated[
    list[str | dict[str, Any]],
    Field(description="The dialogue before it, oldest first: strings, or messages with role and content."),
]
Strength = Annotated[float, Field(description="0 keeps the question, 0.5 is the model's choice, 1 the shortest form.")]
Protect = Annotated[Sequence[str], Field(description="Words that are left as they are.")]
NBest = Annotated[int, Field(description="Above 1: up to so many forms, from milder to stronger.")]


class Conversational(BaseModel):
    """What became of a question."""

    text: str
    changed: bool
    confidence: float | None = Field(description="The calibrated probability that the text is right, if it is known.")
    alternatives: list[str] = Field(description="With n_best above 1: forms from milder to stronger.")


def build_server(model: str | Path | None = None, threads: int | None = None) -> MCPServer[Any]:
    """Return the server; its engine is loaded already, so that a mistake is told at once."""
    simplifier = Simplifier.load(model, threads=threads)
    server: MCPServer[Any] = MCPServer("riseq", version=__version__, log_level="WARNING")

    def ask(question: str, context: list[Any], strength: float, protect: Sequence[str], n_best: int) -> Simplification:
        try:
            return simplifier(question, context, strength=strength, protect=protect, n_best=n_best)
        except InputError as error:
            raise ToolError(str(error)) from error

    @server.tool()
    def simplify(
        question: Question, context: Context, strength: Strength = NEUTRAL, protect: Protect = (), n_best: NBest = 1
    ) -> Conversational:
        """Rewrite a self-contained question as a person would ask it next in the dialogue."""
        result = ask(question, context, strength, protect, n_best)
        forms = [one.text for one in result.alternatives]
        return Conversational(
            text=result.text, changed=result.changed, confidence=result.confidence, alternatives=forms
        )

    @server.tool()
    def explain(question: Question, context: Context, strength: Strength = NEUTRAL, protect: Protect = ()) -> str:
        """Show pass by pass how a question becomes conversational, each edit with its probability."""
        from rich.console import Console

        from riseq.terminal.results import explain as show

        page = StringIO()
        console = Console(file=page, width=1_000, highlight=False, markup=False, emoji=False)
        show(console, ask(question, context, strength, protect, 1))
        return page.getvalue()

    return server
