"""``riseq serve``: the engine over HTTP. Its flags are the fields of the server's settings."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer
from typer.core import TyperCommand

from riseq.cli.options import OptionField, add_options
from riseq.cli.shared import notify
from riseq.extras import needs_extra

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


@add_options([])
def serve(
    config: Annotated[
        Path | None,
        typer.Option(
            "--config", "-c", metavar="FILE", help="A TOML file of settings, named as the flags are: max_batch = 8."
        ),
    ] = None,
    **flags: Any,
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
    with needs_extra("serve", "serve"):
        from riseq.server.run import serve as run
        from riseq.server.settings import load_settings

    run(load_settings(flags, config), lambda address: notify(f"serving on {address}"))


class ServeCommand(TyperCommand):
    """The verb with the settings' flags, which are read when its own help or a run needs them: they load pydantic."""

    @cached_property
    def _with_flags(self) -> Any:
        app = typer.Typer(add_completion=False)
        app.command()(add_options(list_settings())(serve))
        return typer.main.get_command(app)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options with those of the settings."""
        params: list[Any] = self._with_flags.get_params(ctx)
        return params

    def invoke(self, ctx: Any) -> Any:
        """Run the verb with what was parsed."""
        return self._with_flags.invoke(ctx)


def list_settings() -> list[OptionField]:
    """Return a flag's field for each of the server's settings, but for the key, which others could see in it."""
    with needs_extra("serve", "serve"):
        from riseq.server.settings import Settings

    return [_make_field(name, one) for name, one in Settings.model_fields.items() if name != "api_key"]


def _make_field(name: str, setting: FieldInfo) -> OptionField:
    kind, text = setting.annotation, setting.description or ""
    if get_origin(kind) is list:  # as in the environment
        kind, text = str, f"{text.rstrip('.')}; several have commas between."
    return OptionField(name, kind, setting.get_default(call_default_factory=True), text)
