"""Options that are made from the fields of a class."""

from __future__ import annotations

import inspect
import subprocess
import sys
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from riseq.cli import add_options, build_app, take_options
from riseq.controls import Controls


@dataclass(frozen=True)
class Sizes:
    width: int = field(default=3, metadata={"help": "How wide it is."})
    words: tuple[str, ...] = field(default=(), metadata={"help": "Words.", "metavar": "WORD"})
    kind: Literal["a", "b"] | None = field(default=None, metadata={"help": "Which kind."})
    round: bool = field(default=True, metadata={"help": "Whether it is round."})


@pytest.fixture
def got() -> dict[str, Any]:
    return {}


@pytest.fixture
def verb(got: dict[str, Any]) -> typer.Typer:
    made = typer.Typer()

    @made.command()
    @add_options(Sizes, before="last")
    def measure(first: Annotated[str, typer.Argument()], last: bool = False, **options: Any) -> None:
        got.update(first=first, last=last, sizes=take_options(Sizes, options))

    return made


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Sizes()),
        (["--width", "5", "--no-round"], Sizes(width=5, round=False)),
        (["--words", "x y", "--words", "z", "--kind", "b"], Sizes(words=("x y", "z"), kind="b")),
    ],
)
def test_what_is_given_is_taken_and_the_rest_is_the_default(
    verb: typer.Typer, got: dict[str, Any], arguments: list[str], expected: Sizes
) -> None:
    assert CliRunner().invoke(verb, ["a", *arguments], catch_exceptions=False).exit_code == 0
    assert (got["first"], got["last"]) == ("a", False)
    assert [tuple(v) if isinstance(v, list) else v for v in vars(got["sizes"]).values()] == list(
        vars(expected).values()
    )


def test_the_help_has_every_field_with_its_default_where_it_was_wished_for(verb: typer.Typer) -> None:
    shown = CliRunner().invoke(verb, ["--help"], env={"TERM": "dumb", "COLUMNS": "200"}).output
    assert "How wide it is (default 3)." in shown
    assert "Words; repeat it for each." in shown
    assert "Whether it is round (default yes)." in shown
    assert shown.index("--width") < shown.index("--no-round") < shown.index("--last")


def test_a_wrong_value_is_the_options(verb: typer.Typer) -> None:
    assert CliRunner().invoke(verb, ["a", "--kind", "c"]).exit_code == 2


def test_a_field_that_is_no_flag_is_no_option() -> None:
    @dataclass
    class Limits:
        max_size: int | None = field(default=None, metadata={"help": "The most."})
        secret: str = field(default="", metadata={"help": "The key.", "flag": False})

    @add_options(Limits)
    def verb(**options: Any) -> None: ...

    (parameter,) = inspect.signature(verb).parameters.values()
    assert (parameter.name, parameter.default) == ("max_size", None)


@pytest.mark.parametrize("verb_name", ["simplify", "explain"])
def test_every_control_is_an_option(verb_name: str) -> None:
    command = typer.main.get_command(build_app()).commands[verb_name]  # type: ignore[attr-defined]
    names = {option.name for option in command.get_params(typer.Context(command))}
    assert names >= {one.name for one in fields(Controls)}


@pytest.mark.parametrize("arguments", [["--help"], ["simplify", "--help"], ["serve", "--help"]], ids=" ".join)
def test_help_reads_the_servers_settings_without_the_server(arguments: list[str]) -> None:
    program = f"import sys, riseq.cli; riseq.cli.main({arguments}); sys.exit('fastapi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).returncode == 0


def test_serve_names_its_extra_where_that_is_missing(tmp_path: Path) -> None:
    program = "import sys; sys.modules['fastapi'] = None; import riseq.cli; sys.exit(riseq.cli.main(['serve']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 2
    message = "serve needs the package 'fastapi'; install it with: pip install '.[serve]' in a checkout of riseq"
    assert done.stderr == f"riseq: {message}\n"
