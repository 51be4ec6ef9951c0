"""``riseq data``: what is in a data set."""

import typer

from riseq.cli import SetArgument, SkipBadOption, load_set, open_console, show_help_alone

app = typer.Typer(help="Look at data sets.", rich_markup_mode="rich")


@app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Look at data sets."""
    show_help_alone(context)


@app.command()
def stats(file: SetArgument, skip_bad: SkipBadOption = False) -> None:
    """Show what is in a data set.

    Its size, how long its dialogues, questions and targets are,
    and how its targets differ from its questions.

    \b
    [bold]Examples[/]
      riseq data stats train.jsonl.gz
      RISEQ_DATA=~/data riseq data stats canard/test.qonly
    """
    from riseq.data.dataset import measure_set
    from riseq.terminal.results import show_stats

    show_stats(open_console(), measure_set(load_set(file, skip_bad)))
