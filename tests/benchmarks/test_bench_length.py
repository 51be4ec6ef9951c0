"""The cost of long dialogues: a table with a row for each length, on a model that is as good as free."""

from __future__ import annotations

import sys

import pytest

import bench_length
from riseq import Simplifier
from riseq.types import Simplification


class Free:
    def __call__(self, question: str, context: tuple[str, ...]) -> Simplification:
        return Simplification(question, question, truncated=len(context) > 30)


def test_there_is_a_row_for_each_length(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(Simplifier, "load", lambda *_, **__: Free())
    monkeypatch.setattr(sys, "argv", ["bench_length.py", "--repeat", "2"])
    bench_length.main()
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")][1:]
    assert [int(row[0].strip("| ")) for row in rows] == [2 * one for one in bench_length.EXCHANGES]
    assert [row[-1].strip("| ") for row in rows] == ["yes"] * 5 + ["no"]
