"""A server of the Model Context Protocol with three tools: simplify, explain and resolve."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Self, Unpack, get_type_hints

from rich.console import Console

from riseq import __version__
from riseq.controls import ControlOptions, Controls
from riseq.data.dialogue import read_context
from riseq.engine.editor import Editor
from riseq.engine.resolver import Resolver
from riseq.engine.simplifier import Simplifier
from riseq.extras import needs_extra
from riseq.terminal.results import explain as show
from riseq.types import Direction, InputError, Simplification

with needs_extra("mcp", __name__):
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import BaseModel, Field

Question = Annotated[str, Field(description="The self-contained question.")]
EitherQuestion = Annotated[str, Field(description="The self-contained question; to resolve, as it was asked.")]
Way = Annotated[Direction, Field(description="simplify, or resolve: the way back.")]
FollowUp = Annotated[str, Field(description="The question as it was asked in the dialogue.")]
Context = Annotated[
    list[str | dict[str, Any]],
    Field(description="The dialogue before it, oldest first: strings, or messages with role and content."),
]


class Edited(BaseModel):
    """What became of a question."""

    text: str
    changed: bool
    confidence: float | None = Field(description="The calibrated probability that a person accepts the text, if known.")
    reason: str | None = Field(description="Why the question was left alone or a milder form taken, where it was.")
    alternatives: list[str] = Field(description="With n_best above 1: forms from milder to stronger.")

    @classmethod
    def of(cls, result: Simplification) -> Self:
        """Return what a tool says of ``result``."""
        known = {name: getattr(result, name) for name in ("text", "changed", "confidence", "reason")}
        return cls(**known, alternatives=[one.text for one in result.alternatives])


def build_server(
    model: str | Path | None = None, threads: int | None = None, resolve_model: str | Path | None = None
) -> MCPServer[Any]:
    """Return the server; its engine is loaded already, so that a mistake is found at once.

    What resolves is loaded when it is first asked for, unless ``resolve_model`` names it: it may not be there.
    """
    simplifier = Simplifier.load(model, threads=threads)
    load_resolver = cache(lambda: Resolver.load(resolve_model, threads=threads))
    if resolve_model is not None:
        load_resolver()
    server: MCPServer[Any] = MCPServer("riseq", version=__version__, log_level="WARNING")

    def ask(
        load: Callable[[], Editor], question: str, context: list[Any], **options: Unpack[ControlOptions]
    ) -> Simplification:
        try:
            # All options come from a client, with their defaults where it did not set them.
            return load()(question, context, controls=Controls.of(**options))
        except InputError as error:
            raise ToolError(str(error)) from error

    @server.tool()
    @_with_controls("simplify")
    def simplify(question: Question, context: Context, **options: Unpack[ControlOptions]) -> Edited:
        """Rewrite a self-contained question as a person would ask it next in the dialogue."""
        return Edited.of(ask(lambda: simplifier, question, context, **options))

    @server.tool()
    @_with_controls("simplify")
    def explain(
        question: EitherQuestion, context: Context, direction: Way = "simplify", **options: Unpack[ControlOptions]
    ) -> str:
        """Show pass by pass how a question becomes conversational, or self-contained: its edits, how probable each."""
        page = StringIO()
        console = Console(file=page, width=1_000, highlight=False, markup=False, emoji=False)
        result = ask(load_resolver if direction == "resolve" else lambda: simplifier, question, context, **options)
        show(console, result, read_context(context))
        return page.getvalue()

    @server.tool()
    @_with_controls("resolve")
    def resolve(question: FollowUp, context: Context, **options: Unpack[ControlOptions]) -> Edited:
        """Rewrite a question that was asked in a dialogue so that it says everything, as a search engine needs it."""
        return Edited.of(ask(load_resolver, question, context, **options))

    return server


def _with_controls(direction: Direction) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that puts a parameter for each fitting control of ``Controls`` where ``options`` were."""

    def decorate(tool: Callable[..., Any]) -> Callable[..., Any]:
        signature, types = inspect.signature(tool, eval_str=True), get_type_hints(Controls)
        parameters = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for one in fields(Controls):
            if one.metadata.get("only", direction) == direction:
                help = one.metadata.get(f"{direction}_help", one.metadata["help"])
                kind: Any = Annotated[types[one.name], Field(description=help)]
                parameters.append(parameters[0].replace(name=one.name, default=one.default, annotation=kind))
        tool.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return tool

    return decorate
