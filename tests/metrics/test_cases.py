"""Cases from a suite, from everyday dialogues and from a set with targets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.rows import BadRow, BadRows
from riseq.metrics.behaviour import load_cases

ROW = {"id": "a", "context": ["Who directed Alien?"], "question": "When was Alien released?"}
LISTS = {"gold": ["When was it released?"], "keep": ["released"], "gone": ["Alien"], "bad": ["he"]}
MESSAGES = [{"role": "user", "content": "Who directed Alien?"}, {"role": "assistant", "content": "Ridley Scott."}]


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_suite_may_have_chat_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", {**ROW, **LISTS, "phenomenon": "thing"}, {**ROW, **LISTS, "context": MESSAGES})
    first, second = load_cases(path)
    assert (first.phenomenon, first.gold, first.keep, first.gone, first.bad) == (
        "thing",
        ("When was it released?",),
        ("released",),
        ("Alien",),
        ("he",),
    )
    assert first.example.target == "When was it released?"
    assert second.example.context == ("Who directed Alien?", "Ridley Scott.")
    assert second.phenomenon


def test_bad_cases_are_rows_with_a_reason(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", {**ROW, **LISTS}, {**ROW, **LISTS, "gold": []}, {**ROW, "gold": ["x"]}, ROW)
    with pytest.raises(BadRows, match=r"s\.jsonl:2: gold: empty"):
        load_cases(path)
    found: list[BadRow] = []
    assert len(load_cases(path, on_bad=found.append)) == 1
    assert [row.line for row in found] == [2, 3, 4]


def test_the_forms_of_an_everyday_question_are_one_case(tmp_path: Path) -> None:
    turn = {"full": "Who directed Alien?", "said": "Who directed Alien?", "answer": "Ridley Scott."}
    later = {"full": "When was Alien released?", "said": ["When was it released?", "When did it come out?"]}
    other = {"full": "Who wrote Emma?", "said": ["Who wrote Emma?"]}
    path = write(tmp_path / "e.jsonl", {"id": "d", "turns": [turn], "next": [later, other]})
    cases = load_cases(path)
    assert [case.gold for case in cases] == [tuple(later["said"]), ("Who wrote Emma?",)]
    assert all(case.phenomenon == "everyday" and len(case.example.context) == 2 for case in cases)


def test_a_set_with_targets_has_them_alone(tmp_path: Path) -> None:
    (case,) = load_cases(write(tmp_path / "t.jsonl", {**ROW, "target": "When?"}))
    assert (case.gold, case.phenomenon) == (("When?",), "")
    with pytest.raises(BadRows, match="target: missing"):
        load_cases(write(tmp_path / "t.jsonl", ROW))
    table = tmp_path / "t.csv"
    table.write_text("context,question,target\n,Why?,Why?\n", encoding="utf-8")
    assert load_cases(table)[0].gold == ("Why?",)
