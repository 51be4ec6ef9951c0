"""The command line: one module a verb, which imports its room when it is called, and here what the verbs share."""

from __future__ import annotations

import errno
import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from typer import Argument, Option

from riseq import __version__
from riseq.data.dataset import load_dataset
from riseq.data.rows import BadRow, BadRows
from riseq.data.tables import SUFFIXES
from riseq.files import STDIN
from riseq.hub import find_default_model, find_examples
from riseq.metrics.first_turns import FirstTurns
from riseq.systems.registry import SYSTEMS, default_system_name
from riseq.types import Device, Direction, Example, InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from rich.console import Console

    from riseq.metrics.behaviour import Case

T = TypeVar("T", bound="DataclassInstance")
Verb = Callable[..., None]

VERBS = (
    *("simplify", "resolve", "ask", "explain", "serve", "predict", "reproduce", "export", "bench", "calibrate"),
    *("passes", "mcp", "evaluate", "vocab", "train"),
)
"""Each is a module here, with a function of its name; ``data`` has verbs of its own."""
FAILED, INPUT_ERROR, BAD_ROWS, INCOMPLETE, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit codes: a result not to be used, a user's mistake, rows left out, blocks that could not be done, Ctrl-C."""
# The error of a wrong option or argument; typer brings its own click or uses the installed one, by its version.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]


def option(usage: str, help: str, **more: Any) -> Any:
    """Return the option that ``usage`` names as a help page does: ``--data -d FILE``."""
    names = [word for word in usage.split() if word.startswith("-")]
    return Option(*names, metavar=" ".join(usage.split()[len(names) :]) or None, help=help, **more)


def argument(metavar: str, help: str) -> Any:
    """Return the argument that the help calls ``metavar``."""
    return Argument(metavar=metavar, show_default=False, help=help)


def build_app() -> typer.Typer:
    """Return the command ``riseq`` with all its verbs."""
    app = typer.Typer(
        name="riseq",
        help="Make self-contained questions conversational, and back. English only.",
        epilog="[bold]riseq VERB --help[/] shows what a verb takes, with examples.",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for verb in VERBS:
        app.command()(getattr(import_module(f"riseq.cli.{verb}"), verb))
    app.add_typer(import_module("riseq.cli.data").app, name="data")
    app.callback(invoke_without_command=True)(riseq)
    return app


def riseq(
    context: typer.Context,
    version: Annotated[bool, option("--version -V", "Show the version and exit.")] = False,
    verbose: Annotated[bool, option("--verbose", "With --version: the licences and the model too.")] = False,
) -> None:
    """Make self-contained questions conversational, and back. English only."""
    if not version:
        return show_help_alone(context)
    typer.echo(f"riseq {__version__}")
    if verbose:
        typer.echo(f"code: Apache-2.0\nmodels: CC-BY-SA-4.0\nmodel: {find_default_model() or 'none'}")
    raise typer.Exit


def show_help_alone(context: typer.Context) -> None:
    """Print the help of a command that has verbs of its own if none of them was named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 2 for a user's mistake, which is one line."""
    try:
        code = build_app()(args=arguments, prog_name="riseq", standalone_mode=False)
        sys.stdout.flush()
    except BadRows as error:
        for row in error.rows:
            notify(str(row))
        notify(f"{count(len(error.rows), 'bad row')}, nothing was done; --skip-bad continues without bad rows")
        return INPUT_ERROR
    except InputError as error:
        notify(str(error))
        return INPUT_ERROR
    except _USAGE_ERROR as error:
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        if found := re.search(r"'(-\S+)'.* valid (integer|number|float)", message):  # in the words of click or typer
            message = f"{found[1]}: expected {'a whole number' if found[2] == 'integer' else 'a number'}"
        context = getattr(error, "ctx", None)
        notify(f"{message.rstrip('.')}; see {context.command_path if context else 'riseq'} --help")
        return INPUT_ERROR
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer would fail again at the exit
        notify(f"the output cannot be written: {error.strerror}")
        return INPUT_ERROR
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    if code == INTERRUPTED:
        notify("interrupted")
    return code if isinstance(code, int) else 0


DEFAULT_SYSTEM = default_system_name()


def _complete_system(incomplete: str) -> list[tuple[str, str]]:
    return [(name, entry.about) for name, entry in SYSTEMS.items() if name.startswith(incomplete)]


_SYSTEMS = f"What simplifies: {', '.join(SYSTEMS)}, or FILE.py:CLASS of your own."
SystemOption = Annotated[str, option("--system -s NAME", _SYSTEMS, autocompletion=_complete_system)]
ModelOption = Annotated[
    Path | None, option("--model -m MODEL", "default, fast, large, a folder, or a name on the hub.")
]
ResolveModelOption = Annotated[Path | None, option("--model -m MODEL", "resolve, a folder, or a name on the HF hub.")]
ResolverOption = Annotated[
    Path | None, option("--resolver MODEL", "With --round-trip: what resolves (default resolve, the one that ships).")
]
ContextOption = Annotated[list[str] | None, option("--context -c TEXT", "An earlier utterance, oldest first; repeat.")]
ContextFileOption = Annotated[
    Path | None, option("--context-file FILE", "The dialogue before all questions: .json (list, messages) or .txt.")
]
ThreadsOption = Annotated[int | None, option("--threads N", "Use at most N cores (default all).")]
DeviceOption = Annotated[
    Device | None,
    option("--device cpu|cuda", "Where the network runs (default a GPU where the model can use one)."),
]
SetArgument = Annotated[Path, argument("FILE", "A file of questions, or a set's name under RISEQ_DATA.")]
FirstTurnsOption = Annotated[
    FirstTurns | None, option("--first-turns kept|asked", "Questions without a dialogue: kept, or the system asked.")
]
LimitOption = Annotated[int | None, option("--limit N", "Use only the first N rows of each set.", min=1)]
SkipBadOption = Annotated[bool, option("--skip-bad", "Continue without rows that cannot be used.")]
_METAVARS = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}


def add_options(
    cls: type[DataclassInstance], before: str | None = None, direction: Direction = "simplify"
) -> Callable[[Verb], Verb]:
    """Return a decorator that gives a verb an option for each field of ``cls``, ``before`` one of its own, else last.

    ``max_batch`` is ``--max-batch``; a bool has a ``--no-`` beside, a tuple is repeated, and a list has commas between.
    A field's metadata are ``help`` (or ``resolve_help``), ``metavar``, the ``panel`` of the help, ``flag``, False where
    it is no option, and ``only``, the direction that it makes sense in. The verb takes the values as ``**options``; one
    that is not given is None, for a class knows its defaults.
    """
    types = get_type_hints(cls)
    told = [one for one in fields(cls) if one.metadata.get("flag", True)]
    fitting = [one for one in told if one.metadata.get("only", direction) == direction]
    added = [_make_parameter(one, types[one.name], direction) for one in fitting]

    def decorate(function: Verb) -> Verb:
        signature = inspect.signature(function, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        index = next((index for index, one in enumerate(own) if one.name == before), len(own))
        every = [*own[:index], *added, *own[index:]]
        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]

        @wraps(function)
        def verb(**values: Any) -> None:
            function(**values)

        verb.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return verb

    return decorate


def take_options(cls: type[T], options: Mapping[str, Any]) -> T:
    """Return the ``cls`` whose fields are those of ``options`` that were given."""
    return cls(**find_given({one.name: options.get(one.name) for one in fields(cls)}))


def find_given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of ``options`` that were given."""
    return {name: value for name, value in options.items() if value not in (None, [], ())}


def _make_parameter(field: Field[Any], kind: Any, direction: Direction) -> inspect.Parameter:
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (one for one in get_args(kind) if one is not type(None))
    kind = str if get_origin(kind) is list else kind
    repeated, name = get_origin(kind) is tuple, field.name.replace("_", "-")
    help = field.metadata.get(f"{direction}_help", field.metadata["help"])
    single = get_args(kind)[0] if repeated else kind
    if repeated:
        help = f"{help.rstrip('.')}; repeat it for each."
    if field.default not in (MISSING, None, (), ""):
        default = {True: "yes", False: "no"}[field.default] if isinstance(field.default, bool) else field.default
        help = f"{help.rstrip('.')} (default {default})."
    option = Option(
        f"--{name}/--no-{name}" if kind is bool else f"--{name}",
        *(["-m"] if field.name == "model" else []),
        metavar=field.metadata.get("metavar") or _METAVARS.get(single),
        help=help,
        show_default=False,
        rich_help_panel=field.metadata.get("panel"),
    )
    annotation = Annotated[(list[single] if repeated else kind) | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def choose_resolver(round_trip: object, resolver: Path | None) -> Path | None:
    """Return the model that makes round trips, if ``round_trip`` asks for them; else None."""
    if resolver is not None and not round_trip:
        raise InputError("--resolver goes with --round-trip; got it alone")
    return (resolver or Path("resolve")) if round_trip else None


def names_file(source: str) -> bool:
    """Return whether ``source`` is the name of a file (or ``-``), which has to be there, and not a question."""
    if source == STDIN:
        return True
    if not source.strip():
        return False
    try:
        exists, is_folder = Path(source).exists(), Path(source).is_dir()
    except (OSError, ValueError):  # too long for a name, or with a null character in it
        return False
    if is_folder:
        raise InputError(f"{source}: is a folder, expected a file or a question")
    # "dialogues.txt" and "./dialogues" are names of files, "Why?", "and/or?" and "Is it in data.csv?" questions.
    like_path = source.startswith(("/", "./", "../", "~/")) or Path(source).suffix[1:].isalnum()
    one_word = len(source.split()) == 1 and not source.endswith("?")
    if not exists and (source.lower().endswith(tuple(SUFFIXES)) or (one_word and like_path)):
        raise InputError(f"{source}: no such file")
    return exists


def make_example(question: str, context: Sequence[str] = ()) -> Example:
    """Return the example of one question after the utterances of ``context``, oldest first."""
    named = [("the question", question), *((f"context {number}", text) for number, text in enumerate(context, 1))]
    for name, text in named:
        if not text.strip():
            raise InputError(f"{name} is empty, expected some text")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{name} is not Unicode text: {text!r}") from None
    return Example("1", tuple(context), question)


def load_set(name: Path, skip_bad: bool = False, need_target: bool = False) -> list[Example]:
    """Return the examples of a file or a named set, of which there is at least one."""
    return _load(partial(load_dataset, need_target=need_target), name, skip_bad)


def load_case_set(name: Path, skip_bad: bool = False) -> list[Case]:
    """Return the cases of a suite, of everyday dialogues or of a set with targets, of which there is at least one."""
    from riseq.metrics.behaviour import load_cases

    return _load(load_cases, name, skip_bad)


def _load(load: Callable[..., list[Any]], name: Path, skip_bad: bool) -> list[Any]:
    skipped: list[BadRow] = []
    found = load(name, on_bad=skipped.append if skip_bad else None)
    for row in skipped:
        notify(f"skipped {row}")
    if skipped:
        notify(f"went on without {len(skipped):,} of {len(skipped) + len(found):,} rows")
    if not found:
        raise InputError(f"{name}: no questions, expected at least one")
    return found


def load_set_or_examples(data: Path | None) -> list[Example]:
    """Return the set called ``data``, else the example dialogues that come with riseq."""
    from riseq.metrics.behaviour import is_backwards

    if data is not None:
        return [case.example for case in load_case_set(data)] if is_backwards(data) else load_set(data)
    return [example for file in find_examples() for example in load_dataset(file)]


def take_evenly(examples: list[Example], limit: int) -> list[Example]:
    """Return ``limit`` examples, or all there are, at even distances."""
    total = min(limit, len(examples))
    return [examples[index * len(examples) // total] for index in range(total)]


def open_console() -> Console:
    """Return standard output as rich writes it; a pipe has no width to wrap at."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 1_000)


def notify(message: str) -> None:
    """Print ``message`` on standard error, apart from results."""
    typer.echo(f"riseq: {message}", err=True)


def count(number: int, noun: str) -> str:
    """Return ``number`` of ``noun`` in words: "1 row", "2,000 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
