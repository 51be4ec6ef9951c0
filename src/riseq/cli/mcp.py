"""``riseq mcp``: riseq as tools for language models."""

from riseq.cli import ModelOption, ThreadsOption


def mcp(model: ModelOption = None, threads: ThreadsOption = None) -> None:
    """Serve the tools simplify and explain to a client of the Model Context Protocol.

    The client starts this command and talks to it over standard input and
    output; it ends when the client does.

    \b
    [bold]Examples[/]
      riseq mcp
      riseq mcp --model models/small --threads 1
    """
    from riseq.integrations.mcp import build_server

    build_server(model, threads).run("stdio")
