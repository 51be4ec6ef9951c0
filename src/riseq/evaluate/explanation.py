"""Why a question became what it did: each pass with its edits in place, and how probable each edit was."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from riseq.evaluate.listing import mark_edits, needs_marks
from riseq.types import Simplification, TextEdit

_LABEL_WIDTH = 12


def explain(console: Console, result: Simplification) -> None:
    """Print the question, each pass and its edits, and the result; in colours, or marked ``[-old-]{+new+}``.

    Below stand the confidence and the alternatives, where they are known.
    """
    _print(console, "question", Text(result.question))
    before = result.question
    for number, step in enumerate(result.steps, 1):
        _print(console, f"pass {number}", mark_edits(before, step.edits, needs_marks(console)))
        for edit in step.edits:
            _print(console, "", _describe(edit))
        before = step.text
    if not result.steps:
        _print(console, "", Text("nothing to edit", style="dim"))
    _print(console, "result", Text(result.text, style="bold"))
    if result.confidence is not None:
        _print(console, "confidence", Text(f"{result.confidence:.0%}", style=_colour(result.confidence)))
    for place, one in enumerate(result.alternatives):
        _print(console, "" if place else "forms", _describe_form(one))
    if result.truncated:
        _print(console, "note", Text("the dialogue or the question is longer than the model reads", style="yellow"))


def _print(console: Console, label: str, text: Text) -> None:
    console.print(Text().append(label.ljust(_LABEL_WIDTH), style="dim").append_text(text), soft_wrap=True)


def _describe(edit: TextEdit) -> Text:
    """Return one edit in words, after its probability where it has one."""
    text = Text()
    if edit.probability is not None:
        text.append(f"{edit.probability:4.0%}  ", style=_colour(edit.probability))
    text.append(f"{edit.op.name.lower()} ")
    if edit.old:
        text.append(edit.old, style="red")
    if edit.old and edit.new:
        text.append(" → ")
    if edit.new:
        text.append(edit.new, style="green")
    return text


def _describe_form(form: Simplification) -> Text:
    """Return an alternative's text, after its probability where it has one."""
    text = Text()
    if form.probability is not None:
        text.append(f"{form.probability:4.0%}  ", style=_colour(form.probability))
    return text.append(form.text)


def _colour(probability: float) -> str:
    return "green" if probability >= 0.8 else "yellow" if probability >= 0.5 else "red"
