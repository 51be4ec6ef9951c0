"""Without its package a tool says which extra brings it, in Python and on the command line."""

from __future__ import annotations

import subprocess
import sys

import pytest

TOOLS = {"spark": "pandas", "langchain": "langchain_core", "llamaindex": "llama_index", "mcp": "mcp"}
WITHOUT = """
import sys
sys.modules[{package!r}] = None  # as if it were not installed
try:
    import riseq.integrations.{tool}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("tool", TOOLS)
def test_the_missing_extra_is_named(tool: str) -> None:
    program = WITHOUT.format(package=TOOLS[tool], tool=tool)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith(f"riseq.integrations.{tool} needs the package '{TOOLS[tool]}")
    assert done.stdout.rstrip().endswith(f"pip install '.[{tool}]' in a checkout of riseq")


def test_the_command_line_says_so_in_one_line() -> None:
    program = "import sys; sys.modules['mcp'] = None; import riseq.cli; sys.exit(riseq.cli.main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.endswith("pip install '.[mcp]' in a checkout of riseq")


def test_the_room_itself_loads_no_tool() -> None:
    program = "import sys, riseq.integrations, riseq.integrations.datasets; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert not {"pyspark", "pandas", "langchain_core", "llama_index", "mcp", "datasets", "torch"} & set(
        done.stdout.split()
    )
