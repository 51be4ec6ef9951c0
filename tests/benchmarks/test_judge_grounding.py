"""The judge of grounding: lost words by their reasons, and dialogues that share nothing with a question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import judge_grounding
from judge_grounding import find_violations, pair_unrelated
from riseq.text.words import find_stems
from riseq.types import Example


@pytest.mark.parametrize(
    ("said", "question", "text", "lost"),
    [
        ("Who made Alien?", "When was Alien released?", "When was it released?", []),
        ("Who made Alien?", "When was Aliens released in Rome?", "When was it released?", ["rome"]),
        ("Is the iPhone good?", "What does the new iPhone cost?", "What does it cost?", []),
        ("Who leads the UN?", "Where is the United Nations?", "Where is it?", []),
        ("Who leads the United Nations?", "Where is the UN?", "Where is it?", []),
        ("Who leads the UN?", "Where is the United Kingdom?", "Where is it?", ["united", "kingdom"]),
        ("It rains.", "Does it rain in July?", "Does it?", ["july"]),
    ],
)
def test_a_word_is_lost_unless_the_dialogue_gives_a_reason(
    said: str, question: str, text: str, lost: list[str]
) -> None:
    assert find_violations(Example("1", (said,), question), text) == lost


def test_unrelated_dialogues_share_no_content_word() -> None:
    asked = [f"Where is town{number}?" for number in range(20)]
    examples = [Example(str(number), (one, "Far away."), one) for number, one in enumerate(asked)]
    pairs = list(pair_unrelated(examples, 10))
    assert len(pairs) == 10
    assert all(find_stems([pair.question]).isdisjoint(find_stems(pair.context)) for pair in pairs)


def test_the_counts_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"context": ["Who was Ira Hayes?", "A marine."], "question": "When did Ira Hayes die?"},
        {"context": ["What is throat cancer?"], "question": "What are the symptoms of throat cancer?"},
    ]
    (tmp_path / "set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = str(tmp_path / "set.jsonl")
    assert judge_grounding.main(["--data", path, "--unrelated", path, "--show"]) == 0
    out = capsys.readouterr().out
    assert "2 results, 0 with a word lost" in out
    assert "2 questions, 100.0% unchanged" in out
    assert judge_grounding.main(["--data", str(tmp_path / "none.jsonl")]) == 2
