"""The oracle of phrases: what can be said on the way back, on made-up pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import oracle_phrases
from tiny_world import write_rows, write_world

ROWS = [
    {
        "id": "1",
        "context": ["Tell me about Ada Lovelace."],
        "question": "Did Ada Lovelace win?",
        "target": "Did she win?",
    },
    {"id": "2", "context": ["Tell me about Paris."], "question": "Is it old in Paris?", "target": "Is it old?"},
    {"id": "3", "context": ["Tell me about John Nash."], "question": "Is it old in Nash?", "target": "Is it old?"},
    {"id": "4", "context": ["Tell me about Alan."], "question": "Is Alan known by turing?", "target": "Is he known?"},
]


def test_more_can_be_said_with_each_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    world = write_world(tmp_path)
    data = str(write_rows(tmp_path / "back.jsonl", ROWS))
    flags = ["--pieces", str(world / "bert" / "tokenizer.json"), "--templates", "3", "--passes", "2", "--show", "3"]
    assert oracle_phrases.main(["--learn", data, "--data", data, *flags]) == 0
    shown, *found = map(json.loads, capsys.readouterr().out.splitlines())
    assert shown["templates"] == ["{}", "in {}"], "it is needed twice"
    by_way = {one["says"]: one for one in found}
    shares = {way: one["phrases"] for way, one in by_way.items() if "phrases" in one}
    assert shares == {
        "nothing": 0,
        "0 phrases": 0,
        "copied alone": 40,
        "+ copied": 40,
        "+ copied in 1 templates": 80,
        "+ copied in any": 80,
    }
    assert by_way["+ copied in 1 templates"]["pairs"] == 75
    assert by_way["+ copied in 1 templates, in parts, 1 passes"]["exact"] == 75
    assert by_way["nothing"]["bleu4"] < by_way["+ copied"]["bleu4"] < by_way["+ copied in 1 templates"]["bleu4"]


def test_a_set_that_there_is_not_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    world = write_world(tmp_path)
    assert oracle_phrases.main(["--learn", "nowhere", "--pieces", str(world / "bert" / "tokenizer.json")]) == 2
    assert "nowhere: no such file" in capsys.readouterr().err
