"""The judge of the everyday suite: its verdicts on single texts, on the gold forms and on the questions themselves."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

import judge_everyday
import riseq
from judge_everyday import SUITE, Judgement, judge, write_table
from riseq.types import Simplification

CASES = [json.loads(line) for line in SUITE.read_text(encoding="utf-8").splitlines()]
NAIROBI: dict[str, Any] = {
    "question": "What is the weather like in Nairobi in July?",
    "gold": ["What is the weather like in July?", "What is the weather like there in July?"],
    "keep": ["weather", "July"],
    "gone": ["Nairobi"],
    "bad": ["she"],
    "phenomenon": "new-time",
}
SWITCH: dict[str, Any] = {"gold": ["Who wrote Emma?"], "keep": ["Emma"], "gone": [], "bad": []}


@pytest.mark.parametrize(
    ("case", "text", "verdict"),
    [
        (NAIROBI, "what is the weather like  there in july", "kept shortened clean right exact"),
        (NAIROBI, "And what is the weather like in July?", "kept shortened clean right"),
        (NAIROBI, "What is the weather like there?", "shortened clean"),
        (NAIROBI, "What is the weather like in Nairobi in July?", "kept clean"),
        (NAIROBI, "What is she weather like in July?", "kept shortened"),
        (NAIROBI, "Weather in Julyish Nairobian?", "shortened clean"),
        (SWITCH, "Who wrote Emma?", "kept shortened clean right exact"),
        (SWITCH, "And who wrote Emma?", "kept clean"),
        (SWITCH, "Who wrote it?", "clean"),
    ],
)
def test_a_verdict(case: dict[str, Any], text: str, verdict: str) -> None:
    names = verdict.split()
    assert judge(case, text) == Judgement(**{name: name in names for name in judge_everyday.COLUMNS})


def test_every_gold_form_is_right_and_questions_to_be_shortened_are_not() -> None:
    for case in CASES:
        assert all(judge(case, gold) == Judgement(True, True, True, True, True) for gold in case["gold"]), case["id"]
        assert judge(case, case["question"]).right == (not case["gone"]), case["id"]


def test_the_table_has_each_phenomenon_and_all() -> None:
    good, bad = judge(NAIROBI, NAIROBI["gold"][0]), judge(NAIROBI, NAIROBI["question"])
    lines = write_table([NAIROBI, NAIROBI], [good, bad]).splitlines()
    assert [line.split()[0] for line in lines] == ["phenomenon", "new-time", "all"]
    assert lines[-1].split()[1:] == ["2", "100.0", "50.0", "100.0", "50.0", "50.0"]


class Parrot:
    """Says every question again; under test is what the judge asks and prints."""

    @classmethod
    def load(cls, folder: str | None) -> Parrot:
        assert folder == "mine"
        return cls()

    def batch(self, items: list[tuple[str, Any]], grounded: bool) -> list[Simplification]:
        assert not grounded
        return [Simplification(question, question) for question, _ in items]


def test_a_model_is_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(riseq, "Simplifier", Parrot, raising=False)
    monkeypatch.setattr(sys, "argv", ["judge", "--model", "mine", "--show", "--benchmark"])
    judge_everyday.main()
    printed = capsys.readouterr().out
    unchanged = [case for case in CASES if not case["gone"]]
    assert re.search(rf"^all +200 +100.0 .* {len(unchanged) / 2:.1f}$", printed, re.MULTILINE)
    assert printed.count("  gold   ") == len(CASES) - len(unchanged)
