from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from riseq.data.dialogue_file import read_dialogue, read_questions
from riseq.data.rows import BadRow, Record
from riseq.types import InputError

SAID = ("Who directed Alien?", "Ridley Scott.")
MESSAGES = [{"role": "system", "content": "Be brief."}, *({"role": "user", "content": text} for text in SAID)]


@pytest.mark.parametrize(
    "content",
    [list(SAID), MESSAGES, {"context": list(SAID)}, {"messages": MESSAGES}, [{"question": SAID[0], "answer": SAID[1]}]],
    ids=["strings", "messages", "context", "an object with messages", "turns"],
)
def test_every_form_of_one_dialogue_is_read_alike(tmp_path: Path, content: object) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert read_dialogue(path) == SAID


def test_a_text_file_has_an_utterance_a_line(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(SAID).encode())
    (tmp_path / "chat.txt.gz").write_bytes(gzip.compress("\n".join(SAID).encode()))
    assert read_dialogue(tmp_path / "chat.txt") == read_dialogue(tmp_path / "chat.txt.gz") == SAID


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("chat.json", '["a",\n', "chat.json:2: not JSON: .*expected a list of utterances"),
        ("chat.json", "[" * 100_000, "chat.json: not usable JSON"),
        ("chat.json", '"hello"', "got a str, expected a list of utterances or messages, or an object"),
        ("chat.json", '{"question": "Why?"}', "has neither context nor messages, expected"),
        ("chat.json", '{"context": [], "messages": []}', "has context and messages, expected"),
        ("chat.json", "[7]", r"chat.json: context\[0\] is a int, expected one of"),
        ("chat.json", '["\\ud800"]', r"chat.json: context\[0\]: half a surrogate pair"),
        ("chat.json", "[]", "chat.json: no utterances, expected at least one"),
        ("chat.txt", " \n", "chat.txt: no utterances"),
        ("chat.yaml", "a", r"chat.yaml: no file of one dialogue, expected a name that ends in \.json"),
    ],
)
def test_a_bad_dialogue_is_one_line(tmp_path: Path, name: str, content: str, told: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=told) as caught:
        read_dialogue(tmp_path / name)
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="no such file"):
        read_dialogue(tmp_path / "none.json")


def test_questions_follow_the_dialogue_whatever_file_they_are_in(tmp_path: Path) -> None:
    asked = ["When was Alien released?", "How long is Alien?"]
    (tmp_path / "q.txt").write_text("\n".join(asked) + "\n\n", encoding="utf-8")
    (tmp_path / "q.csv").write_text("question\n" + "\n".join(asked), encoding="utf-8")
    (tmp_path / "q.jsonl").write_text("".join(json.dumps({"question": one}) + "\n" for one in asked), encoding="utf-8")
    for name in ("q.txt", "q.csv", "q.jsonl"):
        records = [one for one in read_questions(tmp_path / name, SAID) if isinstance(one, Record)]
        assert [(one.example.id, one.example.question, one.example.context) for one in records] == [
            ("1", asked[0], SAID),
            ("2", asked[1], SAID),
        ]
        # Read by the engine once, not once a question.
        assert all(one.example.context is SAID for one in records)


def test_a_row_with_a_dialogue_of_its_own_is_bad(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "Why?", "context": ["a"]}\n{"question": "Why?", "context": []}\n{"context": []}\n')
    own, good, bad = read_questions(path, SAID)
    assert isinstance(own, BadRow)
    assert str(own).startswith(f"{path}:1: has a dialogue of its own, expected none")
    assert isinstance(good, Record)
    assert isinstance(bad, BadRow)
    with pytest.raises(InputError, match=r"q.md: unknown kind of file, expected a name that ends in \.txt"):
        read_questions(tmp_path / "q.md")
