"""``riseq mcp``: riseq as tools for language models."""

from pathlib import Path
from typing import Annotated

from riseq.cli import ModelOption, ThreadsOption, option

_RESOLVE_MODEL = "What the tool resolve uses: resolve, a folder, or a name on the HF hub."


def mcp(
    model: ModelOption = None,
    resolve_model: Annotated[Path | None, option("--resolve-model MODEL", _RESOLVE_MODEL)] = None,
    threads: ThreadsOption = None,
) -> None:
    """Serve the tools simplify, explain and resolve to a client of the Model Context Protocol.

    The client starts this command and talks to it over standard input and
    output; it ends when the client does.

    \b
    [bold]Examples[/]
      riseq mcp
      riseq mcp --model models/small --threads 1
    """
    from riseq.integrations.mcp import build_server

    build_server(model, threads, resolve_model).run("stdio")
