"""``riseq explain``: one question, pass by pass."""

from typing import Annotated, Any

from riseq import cli
from riseq.controls import Controls
from riseq.systems.registry import SystemChoice
from riseq.types import Direction, InputError


@cli.add_options(Controls)
def explain(
    question: Annotated[str, cli.argument("QUESTION", "A question in quotes.")],
    context: cli.ContextOption = None,
    model: cli.ModelOption = None,
    direction: Annotated[Direction, cli.option("--direction", "simplify, or resolve: the way back.")] = "simplify",
    **options: Any,
) -> None:
    """Show how a question becomes conversational, or self-contained again, pass by pass.

    Shows each pass with its edits, and below each edit its probability
    and what in the dialogue it refers to.

    \b
    [bold]Examples[/]
      riseq explain "When was Alien released?" -c "Who directed Alien?"
      riseq explain "When was Alien released?" -c "Who directed Alien?" --strength 1
      riseq explain "When was Alien released?" -c "Who directed Alien?" --n-best 4
      riseq explain "When was it released?" -c "Who directed Alien?" --direction resolve
    """
    from riseq.terminal.results import explain as show

    if cli.names_file(question):
        hint = "riseq simplify FILE --show-edits shows a file's edits"
        raise InputError(f"{question}: explain takes one question in quotes; {hint}")
    example = cli.make_example(question, context or [])
    system, controls = "resolve" if direction == "resolve" else "rise", cli.take_options(Controls, options)
    controls.check(direction, cli.find_given(options))
    (result,) = SystemChoice(system, model, controls).load().simplify([example])
    show(cli.open_console(), result, example.context)
