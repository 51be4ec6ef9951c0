"""Questions together and one by one: a table with a row for each number, on a model that is as good as free."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

import bench_many
from riseq import Simplifier


class Free:
    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, question: str, context: Sequence[str]) -> None:
        self.asked.append(1)

    def many(self, context: Sequence[str], questions: Sequence[str]) -> None:
        self.asked.append(len(questions))


def test_there_is_a_row_for_each_number(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    free = Free()
    monkeypatch.setattr(Simplifier, "load", lambda *_, **__: free)
    monkeypatch.setattr(sys, "argv", ["bench_many.py", "--repeat", "2"])
    bench_many.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][1:]
    assert [int(row[0].strip("| ")) for row in rows] == list(bench_many.COUNTS)
    assert sum(free.asked) == 2 * 2 * sum(bench_many.COUNTS)
