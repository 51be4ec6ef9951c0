"""The files for Docker agree with the code; an image itself is not built here, but the wheel that goes into it is."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import zipfile
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


def list_copied(dockerfile: str) -> set[str]:
    return {
        name for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.MULTILINE) for name in line.split()[:-1]
    }


def test_what_is_copied_exists_and_reaches_the_builder(dockerfile: str, root: Path) -> None:
    allowed = {line[1:] for line in (root / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert list_copied(dockerfile) == allowed
    assert all((root / name).exists() for name in allowed)


def test_what_is_copied_makes_a_whole_wheel(dockerfile: str, root: Path, tmp_path: Path) -> None:
    wanted = set()
    for name in list_copied(dockerfile):
        for path in [root / name, *(root / name).rglob("*")]:
            if path.is_file() and "__pycache__" not in path.parts:
                within = path.relative_to(root)
                target = tmp_path / "checkout" / within
                target.parent.mkdir(parents=True, exist_ok=True)
                if within.parts[0] == "models":
                    target.touch()  # packing the weights takes seconds, and tests/test_wheel.py does it
                else:
                    shutil.copy(path, target)
                if len(within.parts) > 1:
                    wanted.add((Path("riseq") / within).as_posix().replace("riseq/src/", ""))
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(tmp_path / "checkout")], check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    assert {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("riseq/")} == wanted


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
