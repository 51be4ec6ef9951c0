"""The judge of the everyday suite: its verdicts on single texts, on the gold forms and on the questions themselves."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import judge_everyday
import riseq
from judge_everyday import SUITE, write_table
from riseq.metrics.behaviour import Case, Verdict, judge, load_cases
from riseq.types import Example, Simplification

CASES = load_cases(SUITE)
NAIROBI = Case(
    Example("n", (), "What is the weather like in Nairobi in July?"),
    ("What is the weather like in July?", "What is the weather like there in July?"),
    "new-time",
    keep=("weather", "July"),
    gone=("Nairobi",),
    bad=("she",),
)
SWITCH = Case(Example("s", (), "Who wrote Emma?"), ("Who wrote Emma?",), "switch", keep=("Emma",))


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
def test_a_verdict(case: Case, text: str, verdict: str) -> None:
    names = verdict.split()
    assert judge(case, text) == Verdict(**{name: name in names for name in Verdict._fields})


def test_every_gold_form_is_right_and_questions_to_be_shortened_are_not() -> None:
    for case in CASES:
        assert all(judge(case, gold) == Verdict(True, True, True, True, True) for gold in case.gold), case.example.id
        assert judge(case, case.example.question).right == (not case.gone), case.example.id


def test_the_table_has_each_phenomenon_and_all() -> None:
    lines = write_table([NAIROBI, NAIROBI], [NAIROBI.gold[0], NAIROBI.example.question]).splitlines()
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


def test_a_model_is_judged_and_its_answers_are_kept_beside_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text('{"other": {"suite": {"a": "b"}}}', encoding="utf-8")
    monkeypatch.setattr(riseq, "Simplifier", Parrot, raising=False)
    monkeypatch.setattr(sys, "argv", ["judge", "--model", "mine", "--show", "--benchmark", "--save", str(saved)])
    judge_everyday.main()
    printed = capsys.readouterr().out
    unchanged = [case for case in CASES if not case.gone]
    assert re.search(rf"^all +200 +100.0 .* {len(unchanged) / 2:.1f}$", printed, re.MULTILINE)
    assert printed.count("  gold   ") == len(CASES) - len(unchanged)
    found = json.loads(saved.read_text(encoding="utf-8"))
    assert found["other"] == {"suite": {"a": "b"}}
    assert found["mine"]["suite"] == {case.example.id: case.example.question for case in CASES}
