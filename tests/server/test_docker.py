"""The files for Docker agree with the code; an image itself is not built here."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from riseq.server.settings import PREFIX, Settings
from server.serving import run_process


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    return (root / "Dockerfile").read_text(encoding="utf-8")


def check_health(dockerfile: str, address_file: Path) -> int:
    found = re.search(r"HEALTHCHECK.*? CMD (\[.*?\])\n", dockerfile, re.DOTALL)
    assert found is not None
    _, *arguments = json.loads(found[1].replace("\\\n", ""))
    environment = {**os.environ, "RISEQ_ADDRESS_FILE": str(address_file)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, timeout=30, check=False
    ).returncode


@pytest.mark.parametrize("manner", ["flag", "environment", "file"])
def test_the_health_check_finds_the_server_on_whatever_port(dockerfile: str, manner: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = tmp_path / "server.toml"
    config.write_text(f"port = {port}\n", encoding="utf-8")
    path = tmp_path / "address"
    flags = {"flag": ["--port", str(port)], "environment": [], "file": ["--config", str(config)]}[manner]
    environment = {
        **os.environ,
        "RISEQ_ADDRESS_FILE": str(path),
        "RISEQ_HOST": "0.0.0.0",
        "RISEQ_PORT": {"flag": "8000", "environment": str(port), "file": ""}[manner],
    }
    assert check_health(dockerfile, path) != 0
    with run_process("--engine", "dummy", *flags, environment=environment, port=None) as (address, process):
        assert path.read_text(encoding="utf-8") == address == f"http://0.0.0.0:{port}"
        assert check_health(dockerfile, path) == 0
        process.terminate()
        process.wait(10)
        assert check_health(dockerfile, path) != 0


def test_what_is_copied_exists_and_reaches_the_builder(dockerfile: str, root: Path) -> None:
    copied = {
        name for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.MULTILINE) for name in line.split()[:-1]
    }
    allowed = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == allowed
    assert all((root / name).exists() for name in copied)


def test_it_runs_as_nobody_special(dockerfile: str) -> None:
    last = dockerfile[dockerfile.rindex("FROM ") :]
    user = re.search(r"^USER (\d+)$", last, re.MULTILINE)
    assert user is not None
    assert int(user[1]) > 0
    assert last.index("USER") < last.index("ENTRYPOINT")


def test_every_variable_is_a_setting(dockerfile: str, root: Path) -> None:
    service = yaml.safe_load((root / "compose.yaml").read_text(encoding="utf-8"))["services"]["riseq"]
    named = set(re.findall(rf"{PREFIX}([A-Z_]+)=", dockerfile))
    named |= {name.removeprefix(PREFIX) for name in service["environment"]}
    assert {name.lower() for name in named} <= {one.name for one in fields(Settings)}
    assert float(service["stop_grace_period"].removesuffix("s")) > Settings().drain_s
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
