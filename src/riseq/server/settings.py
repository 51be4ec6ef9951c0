"""How the server runs: from flags, the environment (``RISEQ_*``) and a file, the first that says it wins."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from riseq.types import InputError

PREFIX = "RISEQ_"


def _split(value: object) -> object:
    """Return a list of what is between commas, as an environment variable has it."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class Settings(BaseSettings):
    """Everything that can be set; each field is a flag of ``riseq serve`` too, but for the key itself."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    host: str = "127.0.0.1"
    """The address to listen on."""
    port: int = Field(default=8000, ge=0, le=65_535)
    """The port to listen on; 0 takes a free one."""
    model: Path | None = None
    """The folder of a model; the one that ships where it is not said."""
    engine: Literal["rise", "dummy"] = "rise"
    """What simplifies: rise, or dummy, which needs no model and is there to try a set-up."""
    workers: int = Field(default=1, ge=1, le=256)
    """How many batches are at work at once."""
    threads: int | None = Field(default=None, ge=1, le=1_024)
    """How many cores a batch may use; all of them, shared among the workers, where it is not said."""
    max_batch: int = Field(default=16, ge=1, le=4_096)
    """How many questions a batch may have."""
    batch_wait_ms: float = Field(default=2.0, ge=0, le=1_000)
    """How long a question waits for others to share its batch, in milliseconds."""
    max_queue: int = Field(default=1_024, ge=1)
    """How many questions may wait; more are answered 429."""
    max_items: int = Field(default=256, ge=1)
    """How many questions a request may have."""
    max_body_bytes: int = Field(default=1_000_000, ge=1_000)
    """How long a request's body may be."""
    timeout_s: float = Field(default=30.0, gt=0, le=3_600)
    """How long a request may take from its last byte to its answer, in seconds."""
    body_timeout_s: float = Field(default=10.0, gt=0, le=3_600)
    """How long a client may take to send a request's body, in seconds."""
    drain_s: float = Field(default=30.0, ge=0, le=3_600)
    """How long a stopping server may take to finish what it has, in seconds."""
    ready_s: float = Field(default=30.0, gt=0, le=3_600)
    """For how long one success shows that the server is ready; then /ready tries a question of its own."""
    api_key: SecretStr | None = None
    """The key that requests must bring; none is asked for where it is not said."""
    api_key_file: Path | None = None
    """A file whose first line is the key that requests must bring; none is asked for where it is not said."""
    cors_origins: Annotated[list[str], NoDecode, BeforeValidator(_split)] = Field(default_factory=list)
    """An origin whose pages may call the server from a browser; none where it is not said."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What is logged: debug, info, warning or error."""
    log_text: bool = False
    """Log questions, answers and the messages of errors too: what users say."""

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        if self.max_items > self.max_queue:
            raise ValueError(f"max_items is {self.max_items}, expected at most max_queue, {self.max_queue}")
        if self.api_key is not None and self.api_key_file is not None:
            raise ValueError("api_key and api_key_file are both set, expected one of them")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return where settings come from, the strongest first."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    def read_key(self) -> str | None:
        """Return the key that requests must bring, None where none is asked for."""
        if self.api_key is not None:
            return _check_key(self.api_key.get_secret_value(), f"{PREFIX}API_KEY")
        if self.api_key_file is None:
            return None
        try:
            lines = self.api_key_file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self.api_key_file}: cannot be read as the key's file ({error})") from error
        return _check_key(lines[0] if lines else "", str(self.api_key_file))


def load_settings(flags: Mapping[str, Any], config: Path | None = None) -> Settings:
    """Return the settings: ``flags`` that are not None before the environment, the file ``config`` and the defaults."""
    told = {name: value for name, value in flags.items() if value is not None}
    named = os.environ.get(f"{PREFIX}CONFIG") if config is None else str(config)
    if named and not Path(named).is_file():
        raise InputError(f"{named}: no such file, expected a TOML file of settings")

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=named or None)

    try:
        return FromFile(**told)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{named}: not a TOML file ({error})") from error
    except ValidationError as error:
        raise InputError(_describe(error, told, named)) from error


def _describe(error: ValidationError, told: Mapping[str, Any], config: str | None) -> str:
    """Return what is wrong with the first bad setting, and where it was said."""
    first = error.errors(include_url=False)[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return message
    name = str(first["loc"][0])
    if name in told:
        where = f"--{name.replace('_', '-')}"
    elif os.environ.get(f"{PREFIX}{name.upper()}"):
        where = f"{PREFIX}{name.upper()}"
    else:
        where = f"{config}: {name}"
    if first["type"] == "extra_forbidden":
        return f"{where} is no setting, expected one of {', '.join(Settings.model_fields)}"
    got = "" if name == "api_key" else f" is {first['input']!r}"
    return f"{where}{got}: {message[:1].lower()}{message[1:]}"


def _check_key(key: str, where: str) -> str:
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable():
        raise InputError(f"{where}: no usable key, expected one line of printable ASCII")
    return key
