"""``riseq explain``: one question, pass by pass."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from riseq.cli.options import ContextOption, ModelOption, add_options, list_fields, take_options
from riseq.cli.shared import SystemChoice, make_example, names_file, open_console
from riseq.controls import Controls
from riseq.types import InputError


@add_options(list_fields(Controls))
def explain(
    question: Annotated[str, typer.Argument(metavar="QUESTION", show_default=False, help="A question in quotes.")],
    context: ContextOption = None,
    model: ModelOption = None,
    **options: Any,
) -> None:
    """Show how a question becomes conversational, pass by pass.

    Each pass has its edits in place, and below it how probable the model
    holds each of them and what in the dialogue it refers to.

    \b
    [bold]Examples[/]
      riseq explain "When was Alien released?" -c "Who directed Alien?"
      riseq explain "When was Alien released?" -c "Who directed Alien?" --strength 1
      riseq explain "When was Alien released?" -c "Who directed Alien?" --n-best 4
    """
    from riseq.terminal.results import explain as show

    if names_file(question):
        raise InputError(
            f"{question}: explain takes one question in quotes; riseq simplify FILE --show-edits shows a file's edits"
        )
    example = make_example(question, context or [])
    (result,) = SystemChoice("rise", model, take_options(Controls, options)).load().simplify([example])
    show(open_console(), result, example.context)
