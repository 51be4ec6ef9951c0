from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.corpora import PAPER_TURNS, Convention, read_canard
from riseq.data.rows import BadRow, BadRows
from riseq.data.tables import read_examples
from riseq.types import Example, InputError

TITLES = ["Ada Lovelace", "Work"]
RAW = ["What did Ada do?", "When did she do it? ", "Why?", "Who helped?", "Was he paid?"]
RESOLVED = [f"{question} (about Ada Lovelace)" for question in RAW]
ANSWERS = ["She wrote a program.", "In 1843.", "She liked it.", "Babbage."]


def _dialogue(name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for turn, (raw, resolved) in enumerate(zip(RAW, RESOLVED, strict=True)):
        earlier = [utterance for pair in zip(RAW[:turn], ANSWERS[:turn], strict=True) for utterance in pair]
        history = [*TITLES, *earlier]
        rows.append(
            {"History": history, "QuAC_dialog_id": name, "Question": raw, "Question_no": turn + 1, "Rewrite": resolved}
        )
    return rows


def _write(folder: Path, rows: object, name: str = "dev.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path


def test_the_papers_convention_is_the_default(tmp_path: Path) -> None:
    examples = list(read_canard(_write(tmp_path, _dialogue("C_1") + _dialogue("C_2"))))
    assert [example.id for example in examples] == [f"canard-dev-C_{d}-{t}" for d in (1, 2) for t in (2, 3, 4, 5)]
    assert examples[0] == Example("canard-dev-C_1-2", (RESOLVED[0],), RESOLVED[1], RAW[1])
    assert examples[3].context == (RESOLVED[0], *RAW[1:4])


def test_options_change_what_is_shown(tmp_path: Path) -> None:
    path = _write(tmp_path, _dialogue("C_1"))
    kept = list(read_canard(path, convention=Convention(keep_first_turns=True)))
    assert [len(example.context) for example in kept] == [0, 1, 2, 3, 4]
    raw = list(read_canard(path, convention=Convention(first_resolved=False)))
    assert raw[0].context == (RAW[0],)
    window = Convention(answers=True, turns=PAPER_TURNS)
    answered = list(read_canard(path, convention=window))
    assert answered[0].context == (RESOLVED[0], ANSWERS[0])
    assert answered[3].context == (RAW[1], ANSWERS[1], RAW[2], ANSWERS[2], RAW[3], ANSWERS[3])
    assert not any(title in example.context for example in answered for title in TITLES)


def test_the_split_is_the_files_unless_it_is_given(tmp_path: Path) -> None:
    path = _write(tmp_path, _dialogue("C_1"), "train.official.json")
    assert next(read_canard(path)).id == "canard-train-C_1-2"
    assert next(read_canard(path, split="mine")).id == "canard-mine-C_1-2"


def test_a_dialogue_without_its_first_turn_shows_the_raw_question(tmp_path: Path) -> None:
    assert next(read_canard(_write(tmp_path, _dialogue("C_1")[1:]))).context == (RAW[0],)


def test_every_bad_row_is_told_with_its_line(tmp_path: Path) -> None:
    rows: list[object] = list(_dialogue("C_1"))
    rows[1] = {**_dialogue("C_1")[1], "Rewrite": " "}
    rows[2] = {**_dialogue("C_1")[2], "History": ["title"]}
    rows[3] = {**_dialogue("C_1")[3], "Question_no": "4"}
    rows.append(7)
    rows.append({"History": [*TITLES, 3, "a"]})
    path = _write(tmp_path, rows)
    text = path.read_text(encoding="utf-8")
    with pytest.raises(BadRows) as caught:
        list(read_canard(path))
    reasons = [row.reason for row in caught.value.rows]
    assert reasons == [
        "Rewrite: empty, expected some text",
        "History: got 1 strings, expected two titles, then questions with answers",
        "Question_no: got the string '4', expected a whole number",
        "got the number 7, expected an object",
        "History[2]: got the number 3, expected a string",
    ]
    lines = text.splitlines()
    for row in caught.value.rows[:3]:
        assert lines[row.line - 1].strip() == "{"
    assert lines[caught.value.rows[3].line - 1].strip() == "7,"
    heard: list[BadRow] = []
    assert [example.id for example in read_canard(path, on_bad=heard.append)] == ["canard-dev-C_1-5"]
    assert tuple(heard) == caught.value.rows


def test_a_missing_file_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_canard(tmp_path / "dev.json")


@pytest.mark.parametrize(("split", "count"), [("dev", 2940), ("test", 4800)])
@pytest.mark.parametrize("answers", [False, True])
def test_the_official_file_gives_the_papers_rows(data_dir: Path, split: str, count: int, answers: bool) -> None:
    folder = data_dir / "canard"
    built = list(read_canard(folder / f"{split}.official.json", convention=Convention(answers=answers)))
    prepared = list(read_examples(folder / f"{split}.{'qa' if answers else 'qonly'}.jsonl"))
    assert len(built) == count
    assert built == prepared
