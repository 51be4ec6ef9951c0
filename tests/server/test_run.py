"""``riseq serve`` as a process: it says where it is, and on SIGTERM finishes what it has."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from riseq.cli import main
from riseq.server.engines import DummyEngine
from riseq.server.run import load_engine
from riseq.server.settings import Settings
from server.serving import ALIEN, ANSWER, await_health, run_process

PATH = "/v1/simplify"


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_an_idle_server_stops_at_once_and_cleanly(sign: signal.Signals, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with run_process("--engine", "dummy", log=log) as (address, process):
        with httpx.Client(base_url=address, verify=False) as client:
            assert client.post(PATH, json=ALIEN).json()["text"] == ANSWER
        process.send_signal(sign)
        assert process.wait(10) == 0
    text = log.read_text(encoding="utf-8")
    assert "route=/v1/simplify status=200" in text
    assert "Alien" not in text
    assert "Traceback" not in text


SLOW = """
import sys
from riseq.server import run
from riseq.server.engines import DummyEngine
from riseq.server.settings import Settings
run.load_engine = lambda settings: DummyEngine(seconds=0.5)
run.serve(Settings(port=0, max_batch=1, drain_s=float(sys.argv[1])), lambda said: print(said, flush=True))
"""


@contextmanager
def run_slow(drain_s: float) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Give a server that takes half a second a question, one by one."""
    process = subprocess.Popen([sys.executable, "-c", SLOW, str(drain_s)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().strip()
        assert address
        await_health(address)
        yield address, process
    finally:
        process.kill()
        process.wait()


def test_a_busy_server_finishes_its_queue_and_refuses_new_work_meanwhile() -> None:
    with run_slow(20) as (address, process), httpx.Client(base_url=address, timeout=30, verify=False) as client:
        statuses: list[int] = []
        asking = [
            threading.Thread(target=lambda: statuses.append(client.post(PATH, json=ALIEN).status_code))
            for _ in range(4)
        ]
        for thread in asking:
            thread.start()
        await_queue(client, 3)
        process.send_signal(signal.SIGTERM)
        while client.get("/ready").status_code == 200:
            time.sleep(0.01)
        # A new connection, after the signal.
        with httpx.Client(base_url=address, verify=False) as late:
            refused = late.post(PATH, json=ALIEN)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
        assert refused.headers["retry-after"]
        for thread in asking:
            thread.join(20)
        assert statuses == [200] * 4
        assert process.wait(10) == 0


def test_a_server_that_cannot_finish_in_time_stops_all_the_same() -> None:
    with run_slow(0.2) as (address, process), httpx.Client(base_url=address, timeout=30, verify=False) as client:
        asking = threading.Thread(target=ask_and_forget, args=(client,))
        asking.start()
        await_queue(client, 39)
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.wait(15)
        assert time.monotonic() - started < 8  # its queue would take twenty
        asking.join(10)


def ask_and_forget(client: httpx.Client) -> None:
    with suppress(httpx.TransportError):
        client.post(PATH, json={"items": [ALIEN] * 40})


def await_queue(client: httpx.Client, count: int) -> None:
    while f"riseq_queue_items {count}.0" not in client.get("/metrics").text:
        time.sleep(0.01)


def test_a_port_that_is_taken_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "--engine", "dummy"]) == 2
    assert capsys.readouterr().err == f"riseq: cannot listen on 127.0.0.1, port {port}: Address already in use\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "-1"], "--port is -1: input should be greater than or equal to 0"),
        (["--config", "nope.toml"], "nope.toml: no such file"),
        (["--model", "nope", "--port", "0"], "nope: no such folder"),
        (["--engine", "magic"], "Invalid value for '--engine'"),
        (["--api-key-file", "nope", "--engine", "dummy", "--port", "0"], "nope: cannot be read as the key's file"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_the_engine_is_the_one_asked_for() -> None:
    assert isinstance(load_engine(Settings(engine="dummy")), DummyEngine)


@pytest.mark.parametrize(
    ("code", "absent"),
    [
        ("import riseq.cli; riseq.cli.main(['serve', '--help'])", {"fastapi", "uvicorn", "httpx", "numpy", "torch"}),
        ("import riseq.server.run as r; r.load_engine(r.Settings())", {"torch", "transformers", "numba"}),
        ("import riseq.client", {"pydantic", "fastapi", "numpy", "torch", "onnxruntime"}),
    ],
)
def test_what_is_not_needed_is_not_loaded(code: str, absent: set[str]) -> None:
    loaded = "import sys; print(*{name.partition('.')[0] for name in sys.modules}, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{loaded}"], capture_output=True, text=True, timeout=60, check=True
    )
    assert not absent.intersection(done.stdout.split())
