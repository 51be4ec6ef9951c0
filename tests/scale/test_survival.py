"""Workers and driver are killed in the middle; every row is there once, with the text that one process gives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from riseq.cli.simplify import Handling, bad_rows_path, simplify_file
from riseq.controls import Controls
from riseq.scale.run import MANIFEST
from riseq.systems.registry import SystemChoice
from tiny_model import export_tiny, make_examples

pytestmark = pytest.mark.xdist_group("ray")  # one cluster, in one of the processes that test

ROWS, BLOCK = 25_000, 500
LIMIT = 120.0


def write_questions(path: Path) -> Path:
    """Write made-up questions. One in ten has a dialogue, for the rest the engine has an answer at once."""
    examples = make_examples(ROWS // 10)
    with path.open("w", encoding="utf-8") as file:
        for number in range(ROWS):
            example = examples[number // 10]
            context = (example.context[-1:] or ("Who was Zappa?",)) if number % 10 == 0 else ()
            row = {"id": f"q{number}", "context": context, "question": f"{example.question[:60]} And {number}?"}
            file.write("nope\n" if number % 2_499 == 2_498 else json.dumps(row) + "\n")
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [str(Path(sys.executable).parent / "riseq"), "simplify", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_blocks(out: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Return when ``count`` blocks are done; raise where ``process`` ends before."""
    until = time.monotonic() + LIMIT
    while sum(1 for _ in out.glob("*.jsonl")) < count:
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise AssertionError(f"ended with {process.poll()} before {count} blocks: {process.communicate()[1]}")
        time.sleep(0.005)


def find_workers() -> set[int]:
    """Return the processes below this one that are workers of a run."""
    parents, workers = {}, set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if (folder / "cmdline").read_bytes().startswith(b"ray::Worker"):
                workers.add(int(folder.name))
        except (OSError, ValueError):  # it has just ended
            continue

    def is_below(process: int) -> bool:
        while process not in (0, 1, os.getpid()):
            process = parents.get(process, 0)
        return process == os.getpid()

    return set(filter(is_below, workers))


@pytest.mark.slow
def test_kills_lose_no_row_and_double_none(
    cluster: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]
    source, out = write_questions(tmp_path / "in.jsonl"), tmp_path / "out"
    arguments = [source, out, "--engine", "ray", "--address", cluster, "--workers", 2, "--block-rows", BLOCK]
    arguments += ["--format", "jsonl", "--model", model, "--max-passes", 1, "--resume"]
    driver = start(*arguments)
    killed: set[int] = set()
    for blocks in (4, 12):
        wait_for_blocks(out, blocks, driver)
        worker = min(find_workers() - killed)
        os.kill(worker, signal.SIGKILL)
        killed.add(worker)
    wait_for_blocks(out, 20, driver)
    driver.send_signal(signal.SIGKILL)
    driver.communicate(timeout=LIMIT)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.jsonl")}
    assert len(killed) == 2
    assert 20 <= len(before) < ROWS // BLOCK

    driver = start(*arguments)
    whole = tmp_path / "whole.jsonl"
    simplify_file(
        str(source), whole, SystemChoice("rise", model, controls=Controls(max_passes=1), threads=1), Handling()
    )
    _, told = driver.communicate(timeout=LIMIT)
    assert driver.returncode == 3, told
    # The driver's last worker may have finished a block after the driver was gone.
    after = int(told.partition("continuing after ")[2].partition(" ")[0].replace(",", ""))
    assert len(before) * BLOCK <= after < ROWS
    parts = sorted(out.glob("*.jsonl"))
    assert len(parts) == ROWS // BLOCK
    assert {name: (out / name).stat().st_mtime_ns for name in before} == before
    assert b"".join(part.read_bytes() for part in parts) == whole.read_bytes()
    bad = b"".join(part.read_bytes() for part in sorted((out / "_bad").iterdir()))
    assert bad == bad_rows_path(whole).read_bytes()

    manifest = json.loads((out / MANIFEST).read_text())
    assert (manifest["state"], manifest["rows"], manifest["bad"]) == ("finished", ROWS, 10)
    assert manifest["written"] == ROWS - 10
    assert [run["rows"] for run in manifest["runs"]][1] == ROWS - after
    assert not list(out.glob("_temporary*"))
    edited = sum(row["text"] != row["question"] for row in map(json.loads, whole.open(encoding="utf-8")))
    assert edited > ROWS // 20, "the engine had something to do"
