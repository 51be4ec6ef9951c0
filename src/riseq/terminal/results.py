"""Results as a person reads them: questions with their edits, and tables of scores and statistics; plain in a pipe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from riseq.types import Example, Simplification, TextEdit

if TYPE_CHECKING:
    from riseq.data.dataset import DatasetStats

_LABEL_WIDTH, _PASS_WIDTH = 11, 12


def show(console: Console, example: Example, result: Simplification) -> None:
    """Print ``result`` with its dialogue; edits are struck and coloured, or marked ``[-old-]{+new+}``."""
    console.print(Text(example.id, style="bold cyan"), soft_wrap=True)
    lines = list(_lines(example, result, marked=needs_marks(console)))
    if console.is_terminal:
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=_LABEL_WIDTH)
        grid.add_column()
        for label, text in lines:
            grid.add_row(Text(f"  {label}", style="dim"), text)
        console.print(grid)
    else:
        # A pipe has no width: a line stays a line.
        for label, text in lines:
            console.print(Text(f"  {label}".ljust(_LABEL_WIDTH + 1)).append_text(text), soft_wrap=True)
    console.print()


def show_edits(console: Console, result: Simplification) -> None:
    """Print one line a pass, with its edits in place."""
    for text in _passes(result, marked=needs_marks(console)):
        console.print(text, soft_wrap=True)


def mark_edits(before: str, edits: Iterable[TextEdit], marked: bool) -> Text:
    """Return ``before`` with its edits in place: styled, or between brackets where ``marked``."""
    text, done = Text(), 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        text.append(before[done : edit.start])
        old = Text(f"[-{edit.old}-]" if marked else edit.old, style="red strike") if edit.old else None
        new = Text(f"{{+{edit.new}+}}" if marked else edit.new, style="bold green") if edit.new else None
        # A word that comes in has no spaces of its own; what it replaces stands beside it.
        opens = old is None and edit.start > 0
        text.append(" " if opens else "")
        text.append_text(Text(" " if not marked else "").join(part for part in (old, new) if part is not None))
        text.append(" " if old is None and not opens else "")
        done = edit.end
    text.append(before[done:])
    return text


def needs_marks(console: Console) -> bool:
    """Return whether edits need marks because there are no colours."""
    return not console.is_terminal or console.no_color or console.color_system is None


def _lines(example: Example, result: Simplification, marked: bool) -> Iterator[tuple[str, Text]]:
    for index, utterance in enumerate(example.context):
        yield "" if index else "context", Text(utterance, style="dim")
    yield "question", Text(result.question)
    passes = list(_passes(result, marked))
    for number, text in enumerate(passes, 1):
        yield "edits" if len(passes) == 1 else f"edits {number}", text
    if not passes:
        yield "edits", Text("none", style="dim")
    yield "result", Text(result.text, style="bold")


def _passes(result: Simplification, marked: bool) -> Iterator[Text]:
    before = result.question
    for step in result.steps:
        if step.edits:
            yield mark_edits(before, step.edits, marked)
        before = step.text


def explain(console: Console, result: Simplification, context: Sequence[str] = ()) -> None:
    """Print the question, each pass and its edits, and the result; in colours, or marked ``[-old-]{+new+}``.

    Below an edit stands what it refers to in the utterances of ``context``; at the end stand the confidence and the
    alternatives, where they are known.
    """
    _print(console, "question", Text(result.question))
    before = result.question
    for number, step in enumerate(result.steps, 1):
        _print(console, f"pass {number}", mark_edits(before, step.edits, needs_marks(console)))
        for edit in step.edits:
            _print(console, "", _describe(edit))
            if (said := edit.refers_to) and said.utterance < len(context):
                mention = context[said.utterance][said.start : said.end]
                _print(console, "", Text(f'      refers to "{mention}" (utterance {said.utterance + 1})', style="dim"))
        before = step.text
    if not result.steps:
        _print(console, "", Text("nothing to edit", style="dim"))
    _print(console, "result", Text(result.text, style="bold"))
    if result.confidence is not None:
        _print(console, "confidence", Text(f"{result.confidence:.0%}", style=_colour(result.confidence)))
    for index, one in enumerate(result.alternatives):
        _print(console, "" if index else "forms", _show_probability(one.probability).append(one.text))
    if result.reason is not None:
        _print(console, "reason", Text(result.reason, style="yellow"))
    if result.truncated:
        _print(console, "note", Text("not all of the dialogue or the question was read", style="yellow"))


def _print(console: Console, label: str, text: Text) -> None:
    console.print(Text().append(label.ljust(_PASS_WIDTH), style="dim").append_text(text), soft_wrap=True)


def _describe(edit: TextEdit) -> Text:
    """Return one edit in words, after its probability where it has one."""
    text = _show_probability(edit.probability).append(f"{edit.op.name.lower()} ").append(edit.old, style="red")
    return text.append(" → " if edit.old and edit.new else "").append(edit.new, style="green")


def _show_probability(probability: float | None) -> Text:
    return Text() if probability is None else Text.assemble((f"{probability:4.0%}  ", _colour(probability)))


def _colour(probability: float) -> str:
    return "green" if probability >= 0.8 else "yellow" if probability >= 0.5 else "red"


SCORE_TITLES = {
    **{f"bleu{order}": f"B-{order}" for order in range(1, 5)},
    "rougeL": "R-L",
    "cider": "CIDEr",
    "exact": "exact %",
}
"""The columns of the paper's tables, then exact match and the mean word-level Levenshtein distance."""


def score_digits(name: str) -> str:
    """Return the format of a score: the paper's digits, and two of the distance."""
    return {"n": ",", "complete": ",", "cider": ".3f", "distance": ".2f"}.get(name, ".1f")


def show_scores(console: Console, rows: Mapping[str, Mapping[str, float]], first: str = "system") -> None:
    """Print one row of scores a system, or whatever stands ``first``, rounded as in the paper."""
    table = open_table(console, first, *(SCORE_TITLES.get(key, key) for key in next(iter(rows.values()))))
    for name, scores in rows.items():
        table.add_row(name, *(f"{value:{score_digits(key)}}" for key, value in scores.items()))
    console.print(table)


def show_stats(console: Console, stats: DatasetStats) -> None:
    """Print what a set is like: counts, lengths with their mean, median and maximum, and shares of its targets."""
    table = open_table(console, "", "count", "%", "mean", "median", "max")
    of_rows, of_targets = max(1, stats.rows), max(1, stats.with_target)
    table.add_row("questions", f"{stats.rows:,}")
    table.add_row("with context", f"{stats.with_context:,}", f"{100 * stats.with_context / of_rows:.1f}")
    table.add_row("with target", f"{stats.with_target:,}", f"{100 * stats.with_target / of_rows:.1f}")
    shares = {"unchanged": stats.unchanged, "shorter": stats.shorter, "new pronoun": stats.pronoun}
    lengths = {"utterances of context": stats.utterances, "words of question": stats.question_words}
    if stats.with_target:
        for name, share in shares.items():
            table.add_row(f"  {name}", f"{round(share * of_targets):,}", f"{100 * share:.1f}")
        lengths["words of target"] = stats.target_words
    for name, spread in lengths.items():
        table.add_row(name, "", "", f"{spread.mean:.1f}", f"{spread.median:g}", f"{spread.max:,}")
    console.print(table)


def show_coverage(console: Console, coverage: Mapping[int, float]) -> None:
    """Print the share of pairs that the k most frequent phrases reach, for each k."""
    table = open_table(console, "phrases", "pairs reached %")
    for size, share in coverage.items():
        table.add_row(f"{size:,}", f"{100 * share:.1f}")
    console.print(table)


def open_table(console: Console, first: str, *others: str, left: Collection[str] = ()) -> Table:
    """Return an empty table: its first column and those in ``left`` are words, the others numbers."""
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else None, header_style="bold")
    for title in (first, *others):
        table.add_column(title, justify="left" if title in (first, *left) else "right", no_wrap=True)
    return table
