"""How the server runs: every setting once, read from flags, the environment (``RISEQ_*``) and a file of TOML."""

# ruff: noqa: RUF009 - _setting is dataclasses.field with a setting's metadata
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_type_hints

from riseq.types import InputError, suggest

PREFIX = "RISEQ_"
_LISTENING = "Where it listens"
_WORK = "How it works"
_LIMITS = "What a request may ask for"
_ACCESS = "Who may ask, and what is written down"


def _setting(
    default: Any, help: str, panel: str | None = None, metavar: str | None = None, repr: bool = True, **bounds: float
) -> Any:
    """Return the field of a setting; one without a panel is no flag of ``riseq serve``."""
    made: dict[str, Any] = {"default_factory": list} if default == [] else {"default": default}
    shown = {"help": help, "panel": panel, "metavar": metavar, "flag": panel is not None}
    return field(**made, repr=repr, metadata={**shown, "bounds": bounds})


_seconds = partial(_setting, metavar="SECONDS", gt=0, le=3_600)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that can be set; a field's metadata say what its flag is, as ``riseq.cli.add_options`` reads them."""

    host: str = _setting("127.0.0.1", "The address to listen on.", _LISTENING, "ADDRESS")
    port: int = _setting(8000, "The port; 0 takes a free one.", _LISTENING, "N", ge=0, le=65_535)
    model: Path | None = _setting(None, "default, fast, large or a model's folder; without it default.", _WORK, "MODEL")
    resolve_model: Path | None = _setting(
        None, "resolve or a model's folder, for /v1/resolve; without it resolve, if there is one.", _WORK, "MODEL"
    )
    engine: Literal["rise", "dummy"] = _setting("rise", "dummy needs no model and is there to try a set-up.", _WORK)
    workers: int = _setting(1, "How many batches are at work at once.", _WORK, "N", ge=1, le=256)
    threads: int | None = _setting(
        None, "The cores a batch may use; without it the workers share all.", _WORK, "N", ge=1, le=1_024
    )
    compare: bool = _setting(
        True, "Let requests name another model or system that is installed; it is loaded when first asked for.", _WORK
    )
    max_batch: int = _setting(16, "How many questions a batch may have.", _WORK, "N", ge=1, le=4_096)
    batch_wait_ms: float = _setting(
        1.0, "How long a question waits for others to share its batch.", _WORK, "MS", ge=0, le=1_000
    )
    max_queue: int = _setting(1_024, "How many questions may wait; more get a 429.", _LIMITS, "N", ge=1)
    max_items: int = _setting(256, "How many questions a request may have.", _LIMITS, "N", ge=1)
    max_body_bytes: int = _setting(1_000_000, "How long a request's body may be.", _LIMITS, "N", ge=1_000)
    timeout_s: float = _seconds(30.0, "How long an answer may take.", _LIMITS)
    body_timeout_s: float = _seconds(10.0, "How long a client may take to send a body.", _LIMITS)
    drain_s: float = _setting(
        30.0, "How long it may take to finish what it has when told to stop.", _WORK, "SECONDS", ge=0, le=3_600
    )
    ready_s: float = _seconds(
        30.0, "How long an answer shows that it is ready; then /ready asks a question of its own.", _WORK
    )
    api_key: str | None = _setting(None, "The key that requests must bring.", repr=False)
    api_key_file: Path | None = _setting(
        None,
        "A file whose first line is the key that requests must bring; or set RISEQ_API_KEY to the key.",
        *(_ACCESS, "FILE"),
    )
    cors_origins: list[str] = _setting(
        [], "Whose pages may call it from a browser, with commas between (default none).", _ACCESS, "ORIGINS"
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting("info", "What is logged.", _ACCESS)
    log_text: bool = _setting(False, "Log what users say, too: questions, answers, messages of errors.", _ACCESS)
    address_file: Path | None = _setting(None, "A file that gets the server's address once it listens.")

    def __post_init__(self) -> None:
        if self.max_items > self.max_queue:
            raise InputError(f"max_items is {self.max_items}, expected at most max_queue, {self.max_queue}")
        if self.api_key is not None and self.api_key_file is not None:
            raise InputError("api_key and api_key_file are both set, expected one of them")

    def read_key(self) -> str | None:
        """Return the key that requests must bring, None where none is asked for."""
        key, where = self.api_key, f"{PREFIX}API_KEY"
        if self.api_key_file is not None:
            where = str(self.api_key_file)
            try:
                key = (self.api_key_file.read_text(encoding="utf-8").splitlines() or [""])[0]
            except (OSError, UnicodeDecodeError) as error:
                raise InputError(f"{where}: cannot be read as the key's file ({error})") from error
        key = None if key is None else key.strip()
        if key is not None and (not key or not key.isascii() or not key.isprintable()):
            raise InputError(f"{where}: no usable key, expected one line of printable ASCII")
        return key


def load_settings(flags: Mapping[str, Any], config: Path | None = None) -> Settings:
    """Return the settings: ``flags`` that are not None before the environment, the file ``config`` and the defaults."""
    from pydantic import ValidationError

    given = {name: value for name, value in flags.items() if value is not None}
    variables = {name.upper(): value for name, value in os.environ.items() if value}
    names = {one.name: f"{PREFIX}{one.name.upper()}" for one in fields(Settings)}
    environment = {name: variables[variable] for name, variable in names.items() if variable in variables}
    path = config or variables.get(f"{PREFIX}CONFIG")
    try:
        checked = _check_values({**_read_file(path), **environment, **given})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        where = names[name] if name in environment else f"{path}: {name}"
        raise InputError(_describe(name, f"--{name.replace('_', '-')}" if name in given else where, first)) from error
    return Settings(**checked)


def _read_file(path: str | Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file, expected a TOML file of settings")
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file ({error})") from error


def _check_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` in the types of their settings, within their bounds."""
    from pydantic import BaseModel, ConfigDict, Field, create_model

    types = get_type_hints(Settings)
    known: dict[str, Any] = {
        one.name: (types[one.name], Field(default=None, **one.metadata["bounds"])) for one in fields(Settings)
    }
    split = {  # a list has commas on the command line and in the environment
        name: [part.strip() for part in value.split(",") if part.strip()]
        for name, value in values.items()
        if isinstance(value, str) and types.get(name) == list[str]
    }
    model: type[BaseModel] = create_model("Settings", __config__=ConfigDict(extra="forbid"), **known)
    return model.model_validate({**values, **split}).model_dump(exclude_unset=True)


def _describe(name: str, where: str, error: Mapping[str, Any]) -> str:
    """Return what is wrong with a setting, after where it was set; pydantic's ``error`` says it."""
    if error["type"] == "extra_forbidden":
        return f"{where} is no setting; {suggest(name, [one.name for one in fields(Settings)])}"
    got = "" if name == "api_key" else f" is {error['input']!r}"
    return f"{where}{got}: {error['msg'][:1].lower()}{error['msg'][1:]}"
