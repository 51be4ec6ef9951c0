"""``riseq serve``: the engine over HTTP. Its flags are the fields of the server's settings."""

from pathlib import Path
from typing import Annotated, Any

from riseq.cli import add_options, notify, option
from riseq.extras import needs_extra
from riseq.server.settings import Settings, load_settings


@add_options(Settings)
def serve(
    config: Annotated[Path | None, option("--config -c FILE", "A TOML file of settings: max_batch = 8.")] = None,
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

    run(load_settings(flags, config), lambda address: notify(f"serving on {address}"))
