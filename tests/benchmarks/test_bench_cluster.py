"""The simulated cluster: a small run whose worker is killed, what its check finds, and its pages on made-up figures."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from bench_cluster import (
    Check,
    Cluster,
    Plan,
    Point,
    Sampled,
    check_rows,
    describe,
    describe_cost,
    read_cost_model,
    shorten,
    write_folder,
)
from riseq.systems.registry import SystemChoice
from riseq.types import Example
from tiny_model import export_tiny, make_examples

pytestmark = pytest.mark.xdist_group("ray")  # beside the tests with clusters, not at the same time

PLAN = Plan(rows=1_000, workers=2, faster=10.0, every=7, kills=1, block_rows=100, seed=1)
DIALOGUES = [Example(str(number), ("Who was Zappa?",), f"When was Zappa {number} born?") for number in range(13)]
TEXTS = [f"When was he {number} born?" for number in range(13)]
CLUSTER = Cluster(
    plan=PLAN,
    blocks=10,
    latency=0.1,
    finding=3.0,
    seconds=10.0,
    ending=0.5,
    work=15.0,
    waiting=0.4,
    starting=1.0,
    idle=0.6,
    driver_cpu=0.02,
    wait_cpu=1e-7,
    killed=1,
    again=1,
    bytes_in=200_000,
    bytes_out=400_000,
    points=(Point(1_000, 10.0, 1, 0.02, 250_000_000, 270_000_000),),
)


def write_output(folder: Path) -> Path:
    """Write what a run without a fault would; its one file is returned."""
    folder.mkdir()
    rows = []
    for number in range(PLAN.rows):
        one = DIALOGUES[number % 13]
        text = TEXTS[number % 13] if number % PLAN.every == 0 else shorten(one.question).text
        rows.append({"id": str(number), "context": list(one.context), "question": one.question, "text": text})
    part = folder / "part.jsonl"
    part.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return part


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install '.[scale]'")
def test_a_small_run_loses_nothing_when_a_worker_is_killed(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]
    sizes = ["--rows", "3000", "--workers", "2", "--faster", "0.2", "--real", "0.1", "--kills", "1"]
    command = [sys.executable, str(root / "benchmarks" / "bench_cluster.py"), *sizes, "--model", str(model)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Check(missing=0, doubled=0, wrong=0, real=300)" in run.stdout
    assert "killed=1, again=1," in run.stdout
    assert "3,000 questions in a folder of 100 files, 100 blocks, by Ray with 2 workers" in run.stdout


def test_rows_that_are_missing_doubled_or_wrong_are_found(tmp_path: Path) -> None:
    part = write_output(tmp_path / "out")
    whole = part.read_text(encoding="utf-8").splitlines(keepends=True)
    assert check_rows(part.parent, DIALOGUES, TEXTS, PLAN) == Check(0, 0, 0, 143)
    for lines, expected in (
        (whole[:-2], Check(2, 0, 0, 143)),
        ([*whole, whole[1]], Check(0, 1, 0, 143)),
        ([*whole[:4], whole[5], *whole[5:]], Check(1, 1, 0, 143)),
        ([whole[0].replace("he 0", "she 0"), *whole[1:]], Check(0, 0, 1, 143)),
        ([whole[0], whole[1].replace("Who was", "Who is"), *whole[2:]], Check(0, 0, 1, 143)),
    ):
        part.write_text("".join(lines), encoding="utf-8")
        found = check_rows(part.parent, DIALOGUES, TEXTS, PLAN)
        assert found == expected
        assert not found.passed


def test_the_folder_has_every_row_once(tmp_path: Path) -> None:
    size = write_folder(tmp_path / "in", DIALOGUES, 1_001)
    parts = sorted((tmp_path / "in").iterdir())
    assert sum(part.stat().st_size for part in parts) == size
    rows = [json.loads(line) for part in parts for line in part.open(encoding="utf-8")]
    assert [row["id"] for row in rows] == [str(number) for number in range(1_001)]
    assert rows[14] == {"id": "14", "context": ["Who was Zappa?"], "question": "When was Zappa 1 born?"}


def test_the_model_answers_its_sample_and_a_block_takes_its_time(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]
    choice = SystemChoice("rise", model, threads=1)
    examples = make_examples(40)
    real = [one.text for one in choice.load().simplify(examples)]
    system = Sampled(choice, 4, 0.01, tmp_path / "begun")
    began = time.perf_counter()
    texts = [one.text for one in system.simplify(examples)]
    assert time.perf_counter() - began >= 0.4
    assert texts == [
        text if number % 4 == 0 else shorten(one.question).text
        for number, (one, text) in enumerate(zip(examples, real, strict=True))
    ]
    assert (tmp_path / "begun").read_text(encoding="ascii") == "0\n"


def test_the_time_of_the_workers_is_told_in_parts() -> None:
    assert (CLUSTER.total, CLUSTER.answering, CLUSTER.reading) == pytest.approx((20.0, 10.0, 5.0))
    assert CLUSTER.lost == pytest.approx(3.0)
    # A block is 10 s of a real worker and 2 ms of the driver: 5,000, less for waiting for so many.
    assert replace(CLUSTER, wait_cpu=1e-15).most_workers == pytest.approx(5_000, rel=1e-3)
    workers = CLUSTER.most_workers
    assert workers * (0.002 + 1e-7 * workers) == pytest.approx(10.0)


@pytest.mark.parametrize(("waiting", "told"), [(0.9, "met"), (1.1, "not met")])
def test_waiting_for_blocks_is_held_against_its_limit(waiting: float, told: str) -> None:
    section = describe(replace(CLUSTER, waiting=waiting), Check(0, 0, 0, 143), "bench")
    assert f"(asked: at most 5% of the workers' time): {told}." in section


def test_the_cost_model_is_the_one_of_the_documentation(root: Path) -> None:
    model = read_cost_model((root / "docs" / "scale.md").read_text(encoding="utf-8"))
    section = describe_cost(CLUSTER, model | {"a worker of one core": 5.0}, "bench")
    assert "| the blocks | 10 s | 10 s |" in section
    assert "| the blocks, with this run's latency | 5 s | 10 s |" in section
    assert "The run took 2.00 times what its own latency says." in section
