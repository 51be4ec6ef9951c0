"""Light rooms stay light, and ``__all__`` is the truth."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import riseq

NEVER = ("torch", "transformers", "accelerate")
# What the help has no use for.
HEAVY = (*NEVER, "spacy", "numba", "numpy", "pyarrow", "ray", "onnxruntime", "tokenizers", "scipy")
HELP_RATIO = 2.0

ROOMS = {
    "the door": "import riseq",
    "core": """
        import riseq.core.edits, riseq.core.levenshtein, riseq.core.phrases, riseq.core.reward, riseq.core.sampler
    """,
    "text": "import riseq.text.words, riseq.text.pieces, riseq.text.realise, riseq.text.pieces",
    "data": "import riseq.data.tables, riseq.data.dataset, riseq.data.corpora, riseq.data.corpora",
    "metrics": "import riseq.metrics.scores, riseq.metrics.passes",
    "systems": "import riseq.systems.registry as registry; registry.load_system('origin')",
    "evaluate": "import riseq.reproduce.predict, riseq.terminal.results",
    "the report": "import riseq.reproduce.report, riseq.reproduce.predict",
    "the ONNX path": "import riseq; riseq.Simplifier.load()('Is Prague safe?', ['Is Prague expensive?'])",
    "the command line": "import riseq.cli",
}


def modules_after(code: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after ``code``."""
    loaded = "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    program = f"{code.strip()}\nimport json, sys\n{loaded}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("room", ROOMS)
def test_light_rooms_load_neither_torch_nor_transformers(room: str) -> None:
    assert not modules_after(ROOMS[room]).intersection(NEVER)


def test_the_engine_needs_nothing_of_training() -> None:
    found = modules_after("import riseq; riseq.Simplifier, riseq.Resolver")
    assert not found.intersection((*NEVER, "numba", "spacy", "onnx", "safetensors"))


def test_the_probe_can_fail() -> None:
    assert "numpy" in modules_after("import numpy")


@pytest.mark.parametrize("arguments", [["--help"], ["simplify", "--help"], ["--version"]], ids=" ".join)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"import riseq.cli; assert riseq.cli.main({arguments!r}) == 0"
    assert not modules_after(code).intersection(HEAVY)


def processor_seconds(command: list[str]) -> float:
    """Return the processor time of ``command``, the best of three: a busy machine is not riseq's fault."""
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, timeout=60, check=True, env={**os.environ, "TERM": "dumb"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def test_help_costs_little_more_than_that_of_an_empty_command_line() -> None:
    """As a ratio: half a second on one machine is a whole one on another."""
    empty = "import typer; app = typer.Typer(); app.command()(lambda: None); app(['--help'])"
    help_seconds = processor_seconds([str(Path(sys.executable).parent / "riseq"), "--help"])
    assert help_seconds < HELP_RATIO * processor_seconds([sys.executable, "-c", empty])


@pytest.mark.parametrize("name", riseq.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(riseq, name) is not None


def test_dir_lists_the_public_names_and_no_others() -> None:
    assert dir(riseq) == sorted(riseq.__all__)
    assert len(set(riseq.__all__)) == len(riseq.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = riseq.nope


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert riseq.__version__ == version("riseq")
