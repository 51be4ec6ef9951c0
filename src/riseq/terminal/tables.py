"""Scores, set statistics and coverage as tables; without rules and colours where they are piped."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rich import box
from rich.console import Console
from rich.table import Table

from riseq.data.stats import DatasetStats

SCORE_TITLES = {
    "n": "n",
    "bleu1": "B-1",
    "bleu2": "B-2",
    "bleu3": "B-3",
    "bleu4": "B-4",
    "rougeL": "R-L",
    "cider": "CIDEr",
    "exact": "exact %",
    "distance": "distance",
}
"""The columns of the paper's tables, then exact match and the mean word-level Levenshtein distance."""


def show_scores(console: Console, rows: Mapping[str, Mapping[str, float]], first: str = "system") -> None:
    """Print one row of scores a system, or whatever stands ``first``, rounded as in the paper."""
    table = open_table(console, first, *(SCORE_TITLES.get(key, key) for key in next(iter(rows.values()))))
    for name, scores in rows.items():
        table.add_row(name, *(_format_score(key, value) for key, value in scores.items()))
    console.print(table)


def show_stats(console: Console, stats: DatasetStats) -> None:
    """Print what a set is like: counts, lengths with their mean, median and maximum, and shares of its targets."""
    table = open_table(console, "", "count", "%", "mean", "median", "max")
    of_rows, of_targets = max(1, stats.rows), max(1, stats.with_target)
    table.add_row("questions", f"{stats.rows:,}")
    table.add_row("with context", f"{stats.with_context:,}", f"{100 * stats.with_context / of_rows:.1f}")
    table.add_row("with target", f"{stats.with_target:,}", f"{100 * stats.with_target / of_rows:.1f}")
    shares = {"unchanged": stats.unchanged, "shorter": stats.shorter, "new pronoun": stats.pronoun}
    if stats.with_target:
        for name, share in shares.items():
            table.add_row(f"  {name}", f"{round(share * of_targets):,}", f"{100 * share:.1f}")
    lengths = {"utterances of context": stats.utterances, "words of question": stats.question_words}
    if stats.with_target:
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


def _format_score(name: str, value: float) -> str:
    if name == "n":
        return f"{value:,}"
    return f"{value:.3f}" if name == "cider" else f"{value:.2f}" if name == "distance" else f"{value:.1f}"
