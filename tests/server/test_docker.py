"""The files for Docker agree with the code; an image itself is not built here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from riseq.server.settings import PREFIX, Settings
from server.serving import run_server


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> str:
    return (root / "Dockerfile").read_text(encoding="utf-8")


def check_health(dockerfile: str, port: int) -> int:
    found = re.search(r"HEALTHCHECK.*? CMD (\[.*?\])\n", dockerfile, re.DOTALL)
    assert found is not None
    _, *arguments = json.loads(found[1].replace("\\\n", ""))
    environment = {**os.environ, "RISEQ_PORT": str(port)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, timeout=30, check=False
    ).returncode


def test_the_health_check_knows_a_ready_server_from_none(dockerfile: str) -> None:
    with run_server() as address:
        port = urlsplit(address).port
        assert port is not None
        assert check_health(dockerfile, port) == 0
    assert check_health(dockerfile, port) != 0


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
