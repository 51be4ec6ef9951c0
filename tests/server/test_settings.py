"""A flag wins over the environment, that over the file, and that over the default; mistakes say where they are."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import typer

from riseq.cli import build_app
from riseq.server.settings import Settings, load_settings
from riseq.types import InputError


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in fields(Settings):
        monkeypatch.delenv(f"RISEQ_{one.name.upper()}", raising=False)
    monkeypatch.delenv("RISEQ_CONFIG", raising=False)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "server.toml"
    path.write_text('port = 1\nmax_batch = 2\nworkers = 3\ncors_origins = ["https://a.example"]\n', encoding="utf-8")
    return path


def test_precedence_flag_environment_file_default(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISEQ_PORT", "4")
    monkeypatch.setenv("RISEQ_MAX_BATCH", "5")
    settings = load_settings({"port": 6, "max_batch": None}, config)
    assert (settings.port, settings.max_batch, settings.workers, settings.host) == (6, 5, 3, "127.0.0.1")


def test_the_file_may_be_named_by_the_environment_and_a_flag_names_another(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RISEQ_CONFIG", str(config))
    assert load_settings({}).workers == 3
    other = tmp_path / "other.toml"
    other.write_text("workers = 9\n", encoding="utf-8")
    assert load_settings({}, other).workers == 9


def test_a_list_in_the_environment_has_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISEQ_CORS_ORIGINS", "https://a.example, https://b.example")
    assert load_settings({}).cors_origins == ["https://a.example", "https://b.example"]


def test_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RISEQ_API_KEY", "")
    monkeypatch.setenv("RISEQ_MODEL", "")
    settings = load_settings({})
    assert (settings.read_key(), settings.model) == (None, None)


@pytest.mark.parametrize(
    ("flags", "variable", "line", "said"),
    [
        ({"port": 70_000}, None, "", "--port is 70000: input should be less than or equal to 65535"),
        ({}, ("RISEQ_PORT", "http"), "", "RISEQ_PORT is 'http': input should be a valid integer"),
        ({}, None, "workers = 0", "server.toml: workers is 0: input should be greater than or equal to 1"),
        ({}, None, "wrokers = 1", "server.toml: wrokers is no setting; did you mean 'workers'?"),
        ({}, None, "workers = ", "server.toml: not a TOML file"),
        ({"max_items": 5, "max_queue": 4}, None, "", "max_items is 5, expected at most max_queue, 4"),
    ],
)
def test_a_mistake_says_where_it_was_made(
    flags: dict[str, Any],
    variable: tuple[str, str] | None,
    line: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable:
        monkeypatch.setenv(*variable)
    path = tmp_path / "server.toml"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(InputError) as told:
        load_settings(flags, path)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file, expected a TOML file"):
        load_settings({}, tmp_path / "nope.toml")


def test_the_key_comes_from_the_environment_or_a_file_and_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    path.write_text("from-file\n", encoding="utf-8")
    assert load_settings({"api_key_file": path}).read_key() == "from-file"
    monkeypatch.setenv("RISEQ_API_KEY", "from-environment")
    settings = load_settings({})
    assert settings.read_key() == "from-environment"
    assert "from-environment" not in repr(settings)
    with pytest.raises(InputError, match="expected one of them") as told:
        load_settings({"api_key_file": path})
    assert "from-environment" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"\n", "schlüssel\n".encode(), b"\xff\xfe"])
def test_a_key_that_cannot_be_sent_is_a_mistake(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(InputError, match="key"):
        load_settings({"api_key_file": path}).read_key()


def test_every_setting_is_a_flag_with_its_default_in_the_help() -> None:
    command = typer.main.get_command(build_app()).commands["serve"]  # type: ignore[attr-defined]
    options = {one.name: one for one in command.params if one.name not in ("config", "help")}
    settings = {one.name: one for one in fields(Settings) if one.metadata["panel"] is not None}
    assert {one.name for one in fields(Settings)} - set(settings) == {"api_key", "address_file"}
    assert set(options) == set(settings)
    for name, option in options.items():
        setting = settings[name]
        default = None if setting.default is MISSING else setting.default
        shown = ("yes" if default else "no") if isinstance(default, bool) else default
        said = "" if default is None else f" (default {shown})"
        assert option.help == f"{setting.metadata['help'].removesuffix('.')}{said}."
        assert option.rich_help_panel == setting.metadata["panel"]
        assert option.metavar == setting.metadata["metavar"]


def test_the_settings_are_known_without_the_packages_of_the_server() -> None:
    program = (
        "import sys; sys.modules['pydantic'] = None; from riseq.server.settings import Settings; print(Settings())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("Settings(host='127.0.0.1', port=8000")
