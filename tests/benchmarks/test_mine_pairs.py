"""Pairs of questions that nobody has rewritten: which are asked, and which are kept."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import mine_pairs
from mine_pairs import LATEST, find_fault, is_question, main, read_questions
from riseq.data.dataset import load_dataset
from riseq.types import Simplification

FULL = {"Do they serve tea?": "Does Roma serve tea?", "Is it far?": "Is Roma far?", "How about now?": "How about now?"}


def said(speaker: str, utterance: str) -> dict[str, str]:
    return {"speaker": speaker, "utterance": utterance}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    turns = [
        said("USER", "Where can I eat?"),
        said("SYSTEM", "Roma is a good place."),
        said("USER", "Do they  serve tea?"),
        said("SYSTEM", "Yes."),
        said("USER", "Fine. Is it far?"),
        said("SYSTEM", "No."),
        said("USER", "Is it far?"),
        said("SYSTEM", "How about now?"),
        said("USER", "How about now?"),
    ]
    dialogues = [{"dialogue_id": "1_00", "turns": turns}]
    (tmp_path / "dialogues_001.json").write_text(json.dumps(dialogues), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Do they serve tea?", True),
        ("Fine. Do they serve tea?", False),
        ("Do they serve tea", False),
        ("Really?", False),
        ("Do they " + "really " * 20 + "serve tea?", False),
    ],
)
def test_a_question_is_one_sentence_of_a_usual_length(text: str, asked: bool) -> None:
    assert is_question(text) is asked


def test_questions_come_with_what_was_said_before(folder: Path) -> None:
    first, second, third = read_questions(folder)
    assert (first.id, first.question) == ("1_00/2", "Do they serve tea?")
    assert first.context == ("Where can I eat?", "Roma is a good place.")
    assert (second.question, third.question) == ("Is it far?", "How about now?")
    assert len(third.context) == LATEST
    assert third.context[-1] == "How about now?"


@pytest.mark.parametrize(
    ("resolved", "sure", "again", "sure_again", "fault"),
    [
        ("Does Roma serve tea?", 0.9, "do they serve tea?", 0.9, ""),
        ("Do they serve tea?", 0.9, "Do they serve tea?", 0.9, "not changed by the resolver"),
        ("Does Roma serve tea?", 0.7, "Do they serve tea?", 0.9, "the resolver is not sure"),
        ("Does Roma serve tea?", 0.9, "Does it serve tea?", 0.9, "simplified to something else"),
        ("Does Roma serve tea?", 0.9, "Do they serve tea?", 0.7, "the simplifier is not sure"),
    ],
)
def test_a_pair_is_kept_where_both_ways_agree(
    resolved: str, sure: float, again: str, sure_again: float, fault: str
) -> None:
    back = Simplification("Do they serve tea?", resolved, confidence=sure)
    assert find_fault("Do they serve tea?", back, Simplification(resolved, again, confidence=sure_again), 0.8) == fault


class Both:
    """Stands for both models: the one resolves what FULL has, the other says it again, but for one question."""

    @classmethod
    def load(cls, model: str | None) -> Both:
        assert model is None
        return cls()

    def resolve_many(self, items: Iterable[tuple[str, Any]]) -> list[Simplification]:
        return [Simplification(text, FULL[text], confidence=0.9) for text, _ in items]

    def batch(self, items: Iterable[tuple[str, Any]]) -> list[Simplification]:
        asked = {full: text for text, full in FULL.items()} | {"Is Roma far?": "Is that far?"}
        return [Simplification(text, asked[text], confidence=0.9) for text, _ in items]


def test_what_is_kept_is_a_file_to_train_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mine_pairs, "Resolver", Both)
    monkeypatch.setattr(mine_pairs, "Simplifier", Both)
    out = folder / "mined.qa.jsonl"
    main([str(folder), str(out)])
    told = capsys.readouterr().out
    assert told.startswith("3 questions, 1 kept; ")
    assert "1 simplified to something else" in told
    (pair,) = load_dataset(out, need_target=True)
    assert (pair.question, pair.target) == ("Does Roma serve tea?", "Do they serve tea?")
    assert pair.context == ("Where can I eat?", "Roma is a good place.")
