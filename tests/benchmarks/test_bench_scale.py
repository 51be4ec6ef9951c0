"""The scale benchmark's arithmetic and its pages, on made-up figures."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def script(root: Path) -> dict[str, Any]:
    return runpy.run_path(str(root / "benchmarks" / "bench_scale.py"))


@pytest.fixture
def overhead(script: dict[str, Any]) -> Any:
    return script["Overhead"](
        rows=36_000,
        plain_seconds=90.0,
        ray_seconds=100.0,
        work_seconds=180.0,
        split_seconds=1.0,
        bytes_in=7_200_000,
        bytes_out=14_400_000,
        wrong=0,
        load=0.5,
    )


def make_memory(script: dict[str, Any], last: int) -> Any:
    sizes = [80, 100, 100, 100, 100, 100, 100, 100, 100, last]
    points = tuple(script["Point"]((index + 1) * 10, 50_000_000, size) for index, size in enumerate(sizes))
    return script["Memory"](rows=100, asked=0.02, blocks=20, seconds=9.0, points=points)


def test_ray_is_a_share_of_plain_processes(script: dict[str, Any], overhead: Any) -> None:
    assert overhead.ratio == pytest.approx(0.9)
    assert overhead.rate == pytest.approx(180.0)
    section = script["describe"](overhead, make_memory(script, 100), "bench")
    assert "Ray at 0.90 of the plain processes' throughput (asked: 0.8): met." in section


@pytest.mark.parametrize(("last", "told"), [(104, "workers +4.0% (asked: flat, at most\n+5%): met"), (120, "not met")])
def test_memory_that_grows_is_told(script: dict[str, Any], overhead: Any, last: int, told: str) -> None:
    assert told in script["describe"](overhead, make_memory(script, last), "bench")


def test_a_billion_is_the_measured_figures_multiplied_out(script: dict[str, Any], overhead: Any) -> None:
    cost = script["describe_cost"](overhead, make_memory(script, 100), "bench")
    for told in ("1,543 core-hours", "1,389 core-hours", "200 GB", "400 GB", "| 100 | 15 |", "| 1,000 | 1.5 |"):
        assert told in cost


def test_the_memory_of_a_process_is_read(script: dict[str, Any]) -> None:
    assert script["read_memory"]() > 1_000_000
    assert script["read_memory"]("0") == 0
