"""Options and arguments that several verbs share, and options that are made from the fields of a class."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer

from riseq.systems.registry import SYSTEMS, default_system_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
Verb = Callable[..., None]

DEFAULT_SYSTEM = default_system_name()
Resume = Literal["auto", "none"]


def _complete_system(incomplete: str) -> list[tuple[str, str]]:
    return [(name, entry.about) for name, entry in SYSTEMS.items() if name.startswith(incomplete)]


SystemOption = Annotated[
    str,
    typer.Option(
        "--system",
        "-s",
        metavar="NAME",
        help=f"What simplifies: {', '.join(SYSTEMS)}, or FILE.py:CLASS of your own.",
        autocompletion=_complete_system,
    ),
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help="default, large, a model's folder, or its name on the Hugging Face hub (owner/name).",
    ),
]
ContextOption = Annotated[
    list[str] | None,
    typer.Option("--context", "-c", metavar="TEXT", help="An earlier utterance, oldest first; repeat it for each."),
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", metavar="N", help="Use at most N cores; all of them where it is not said.")
]
SetArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", show_default=False, help="A file of questions, or a set's name under RISEQ_DATA."),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Take the first N rows of each set alone.")
]
SkipBadOption = Annotated[bool, typer.Option("--skip-bad", help="Go on without rows that cannot be used.")]


def show_help_alone(context: typer.Context) -> None:
    """Print the help of a command that has verbs of its own, where none of them was named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


_METAVARS = {int: "N", float: "NUMBER", str: "TEXT", Path: "PATH"}
_SHORT = {"model": "-m"}


@dataclass(frozen=True, slots=True)
class OptionField:
    """A field that is an option too: ``max_batch`` is ``--max-batch``, and one of type bool has a ``--no-`` beside."""

    name: str
    type: Any
    default: object
    help: str
    metavar: str | None = None
    panel: str | None = None
    """The part of the help it stands in."""


def list_fields(cls: type[DataclassInstance]) -> list[OptionField]:
    """Return the fields of a dataclass, whose metadata are ``help`` and what else an option may have.

    A list is one option with commas between, as it is in the environment; a tuple is an option that is repeated.
    """
    types = {name: str if get_origin(kind) is list else kind for name, kind in get_type_hints(cls).items()}
    found = []
    for one in fields(cls):
        default = None if one.default is MISSING else one.default
        shown = {name: one.metadata.get(name) for name in ("metavar", "panel")}
        found.append(OptionField(one.name, types[one.name], default, one.metadata["help"], **shown))
    return found


def add_options(option_fields: Iterable[OptionField], before: str | None = None) -> Callable[[Verb], Verb]:
    """Return a decorator that gives a verb an option for each field, listed ``before`` one of its own, else last.

    The verb takes their values as ``**options``; one that is not given is None, for a class knows its defaults.
    """

    def decorate(function: Verb) -> Verb:
        signature = inspect.signature(function, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        index = next((index for index, one in enumerate(own) if one.name == before), len(own))
        every = [*own[:index], *map(_make_parameter, option_fields), *own[index:]]
        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in every]

        @wraps(function)
        def verb(**values: Any) -> None:
            function(**values)

        verb.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return verb

    return decorate


def take_options(cls: type[T], options: Mapping[str, Any]) -> T:
    """Return the ``cls`` whose fields are those of ``options`` that were given."""
    given = {one.name: options.get(one.name) for one in fields(cls)}
    return cls(**{name: value for name, value in given.items() if value not in (None, [], ())})


def _make_parameter(field: OptionField) -> inspect.Parameter:
    kind, flag = _strip_none(field.type), f"--{field.name.replace('_', '-')}"
    repeated = get_origin(kind) is tuple
    single = get_args(kind)[0] if repeated else kind
    option = typer.Option(
        f"{flag}/--no-{flag.removeprefix('--')}" if kind is bool else flag,
        *([_SHORT[field.name]] if field.name in _SHORT else []),
        metavar=field.metavar or _METAVARS.get(single),
        help=_describe(field, repeated),
        show_default=False,
        rich_help_panel=field.panel,
    )
    annotation = Annotated[(list[single] if repeated else kind) | None, option]  # type: ignore[valid-type]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _strip_none(kind: Any) -> Any:
    if get_origin(kind) not in (Union, UnionType):
        return kind
    (bare,) = (one for one in get_args(kind) if one is not type(None))
    return bare


def _describe(field: OptionField, repeated: bool) -> str:
    text = f"{field.help.rstrip('.')}; repeat it for each." if repeated else field.help
    if field.default is None or field.default in ((), [], ""):
        return text
    default = {True: "yes", False: "no"}[field.default] if isinstance(field.default, bool) else field.default
    return f"{text.rstrip('.')} (default {default})."
