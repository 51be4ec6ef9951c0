"""A server of the Model Context Protocol with two tools: simplify and explain."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Unpack, get_type_hints

from rich.console import Console

from riseq import __version__
from riseq.controls import ControlOptions, Controls
from riseq.data.dialogue import read_context
from riseq.engine.simplifier import Simplifier
from riseq.extras import needs_extra
from riseq.terminal.results import explain as show
from riseq.types import InputError, Simplification

with needs_extra("mcp", __name__):
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import BaseModel, Field

Question = Annotated[str, Field(description="The self-contained question.")]
Context = Annotated[
    list[str | dict[str, Any]],
    Field(description="The dialogue before it, oldest first: strings, or messages with role and content."),
]


class Conversational(BaseModel):
    """What became of a question."""

    text: str
    changed: bool
    confidence: float | None = Field(description="The calibrated probability that a person accepts the text, if known.")
    reason: str | None = Field(description="Why the question was left alone or a milder form taken, where it was.")
    alternatives: list[str] = Field(description="With n_best above 1: forms from milder to stronger.")


def build_server(model: str | Path | None = None, threads: int | None = None) -> MCPServer[Any]:
    """Return the server; its engine is loaded already, so that a mistake is found at once."""
    simplifier = Simplifier.load(model, threads=threads)
    server: MCPServer[Any] = MCPServer("riseq", version=__version__, log_level="WARNING")

    def ask(question: str, context: list[Any], **options: Unpack[ControlOptions]) -> Simplification:
        try:
            return simplifier(question, context, **options)
        except InputError as error:
            raise ToolError(str(error)) from error

    @server.tool()
    @_with_controls
    def simplify(question: Question, context: Context, **options: Unpack[ControlOptions]) -> Conversational:
        """Rewrite a self-contained question as a person would ask it next in the dialogue."""
        result = ask(question, context, **options)
        forms = [one.text for one in result.alternatives]
        known = {name: getattr(result, name) for name in ("text", "changed", "confidence", "reason")}
        return Conversational(**known, alternatives=forms)

    @server.tool()
    @_with_controls
    def explain(question: Question, context: Context, **options: Unpack[ControlOptions]) -> str:
        """Show pass by pass how a question becomes conversational, each edit with its probability."""
        page = StringIO()
        console = Console(file=page, width=1_000, highlight=False, markup=False, emoji=False)
        result = ask(question, context, **options)
        show(console, result, read_context(context))
        return page.getvalue()

    return server


def _with_controls(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``tool`` with a parameter for each of ``Controls`` in its signature, where its ``options`` were."""
    signature, types = inspect.signature(tool, eval_str=True), get_type_hints(Controls)
    parameters = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    for one in fields(Controls):
        kind: Any = Annotated[types[one.name], Field(description=one.metadata["help"])]
        parameters.append(parameters[0].replace(name=one.name, default=one.default, annotation=kind))
    tool.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return tool
