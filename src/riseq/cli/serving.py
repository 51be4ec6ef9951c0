"""The verb that serves the engine over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from riseq.cli.shared import say
from riseq.types import InputError

EngineName = Literal["rise", "dummy"]
Level = Literal["debug", "info", "warning", "error"]

_LISTENING = "Where it listens"
_WORK = "How it works"
_LIMITS = "What a request may ask for"
_ACCESS = "Who may ask, and what is written down"


def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", metavar="FILE", help="A TOML file of settings, named as the flags are: max_batch = 8."
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="The address to listen on (default 127.0.0.1).", rich_help_panel=_LISTENING
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", help="The port; 0 takes a free one (default 8000).", rich_help_panel=_LISTENING),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--model",
            "-m",
            metavar="FOLDER",
            help="A model's folder; without it the one that ships.",
            rich_help_panel=_WORK,
        ),
    ] = None,
    engine: Annotated[
        EngineName | None,
        typer.Option(help="dummy needs no model and is there to try a set-up (default rise).", rich_help_panel=_WORK),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many batches are at work at once (default 1).", rich_help_panel=_WORK),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="The cores a batch may use; without it the workers share all.", rich_help_panel=_WORK
        ),
    ] = None,
    max_batch: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many questions a batch may have (default 16).", rich_help_panel=_WORK),
    ] = None,
    batch_wait_ms: Annotated[
        float | None,
        typer.Option(
            metavar="MS",
            help="How long a question waits for others to share its batch (default 2.0).",
            rich_help_panel=_WORK,
        ),
    ] = None,
    ready_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long an answer shows that it is ready; then /ready asks a question of its own (default 30.0).",
            rich_help_panel=_WORK,
        ),
    ] = None,
    drain_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long it may take to finish what it has when told to stop (default 30.0).",
            rich_help_panel=_WORK,
        ),
    ] = None,
    max_queue: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="How many questions may wait; more get a 429 (default 1024).", rich_help_panel=_LIMITS
        ),
    ] = None,
    max_items: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many questions a request may have (default 256).", rich_help_panel=_LIMITS),
    ] = None,
    max_body_bytes: Annotated[
        int | None,
        typer.Option(metavar="N", help="How long a request's body may be (default 1000000).", rich_help_panel=_LIMITS),
    ] = None,
    timeout_s: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="How long an answer may take (default 30.0).", rich_help_panel=_LIMITS),
    ] = None,
    body_timeout_s: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="How long a client may take to send a body (default 10.0).", rich_help_panel=_LIMITS
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file whose first line is the key that requests must bring; or set RISEQ_API_KEY to the key.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    cors_origins: Annotated[
        str | None,
        typer.Option(
            metavar="ORIGINS",
            help="Whose pages may call it from a browser, with commas between; nobody's without it.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    log_level: Annotated[
        Level | None, typer.Option(help="What is logged (default info).", rich_help_panel=_ACCESS)
    ] = None,
    log_text: Annotated[
        bool | None,
        typer.Option(
            "--log-text/--no-log-text",
            show_default=False,
            help="Log what users say, too: questions, answers, messages of errors (default no).",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
) -> None:
    """Serve the API and the playground over HTTP.

    The playground is at [bold]/[/], the API's reference at [bold]/docs[/]. Each flag may also be
    set in the environment ([bold]RISEQ_MAX_BATCH=8[/]) or in a file ([bold]--config[/], [bold]RISEQ_CONFIG[/]);
    a flag wins over the environment, and that over the file.

    \b
    [bold]Examples[/]
      riseq serve
      riseq serve --port 9000 --workers 2 --threads 1
      RISEQ_API_KEY=secret riseq serve --host 0.0.0.0
      riseq serve --config server.toml
    """
    flags = dict(locals())
    del flags["config"]
    try:
        from riseq.server.run import serve as run
        from riseq.server.settings import load_settings
    except ModuleNotFoundError as error:
        raise InputError(
            f"serve needs the package {error.name!r}; install it with: pip install 'riseq[serve]'"
        ) from error

    run(load_settings(flags, config), lambda address: say(f"serving on {address}"))
