"""The command line: one module a verb, whose function imports its room when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from riseq import __version__
from riseq.cli import data
from riseq.cli.options import show_help_alone
from riseq.cli.shared import INPUT_ERROR, INTERRUPTED, count, notify
from riseq.types import InputError

VERBS = (
    *("simplify", "explain", "serve", "predict", "reproduce", "export", "bench", "calibrate", "passes", "mcp"),
    *("evaluate", "vocab", "train"),
)
"""Each is a module here, with a function of its name; ``data`` has verbs of its own."""
# The error of a wrong option or argument; typer brings its own click or uses the installed one, by its version.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="riseq",
    help="Make self-contained questions conversational.",
    epilog="[bold]riseq VERB --help[/] shows what a verb takes, with examples.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in VERBS:
    function = getattr(import_module(f"riseq.cli.{verb}"), verb)
    app.command()(function)
app.add_typer(data.app, name="data")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"riseq {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def riseq(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Make self-contained questions conversational."""
    show_help_alone(context)


def _describe_usage(error: Exception) -> str:
    """Return what is wrong with the command line, and where to read how it is used."""
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    return f"{message.rstrip('.')}; see {context.command_path if context else 'riseq'} --help"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 2 for a user's mistake, which is one line."""
    from riseq.data.rows import BadRows

    try:
        code = app(args=arguments, prog_name="riseq", standalone_mode=False)
        sys.stdout.flush()
    except BadRows as error:
        for row in error.rows:
            notify(str(row))
        notify(f"{count(len(error.rows), 'bad row')}, nothing was done; --skip-bad goes on without bad rows")
        return INPUT_ERROR
    except InputError as error:
        notify(str(error))
        return INPUT_ERROR
    except _USAGE_ERROR as error:
        notify(_describe_usage(error))
        return INPUT_ERROR
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    if code == INTERRUPTED:
        notify("interrupted")
    return code if isinstance(code, int) else 0
