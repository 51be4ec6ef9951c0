from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.corpora import PAPER_TURNS, Convention, read_cast
from riseq.data.rows import BadRow, BadRows
from riseq.data.tables import read_examples
from riseq.types import Example, InputError

RAW = ["What is tea? ", "Who grows it?", "Is it old?", 'Why "green"?', "And black?"]
RESOLVED = ["What is tea?", "Who grows tea?", "Is tea old?", '"Green" tea, why?', "And black tea? "]


def _write(folder: Path, raw: list[str] = RAW, resolved: list[str] = RESOLVED) -> Path:
    turns = [{"number": number, "raw_utterance": text} for number, text in enumerate(raw, 1)]
    topics = [{"number": 7, "title": "tea", "description": "All about tea.", "turn": turns}]
    lines = [f"7_{number}\t{text}\r\n" for number, text in enumerate(resolved, 1)]
    resolved_path = folder / "evaluation_topics_annotated_resolved_v1.0.tsv"
    resolved_path.write_text("".join(lines), encoding="utf-8", newline="")
    path = folder / "evaluation_topics_v1.0.json"
    path.write_text(json.dumps(topics, indent=2), encoding="utf-8")
    return path


def test_the_papers_convention_is_the_default(tmp_path: Path) -> None:
    examples = list(read_cast(_write(tmp_path)))
    assert [example.id for example in examples] == ["7_1", "7_2", "7_3", "7_4", "7_5"]
    assert examples[0] == Example("7_1", (), "What is tea?", "What is tea? ")
    assert examples[3].question == '"Green" tea, why?', "quotes are plain text in the official TSV"
    assert examples[4].context == ("What is tea?", "Who grows it?", "Is it old?", 'Why "green"?')
    assert examples[4].question == "And black tea? "


def test_options_change_what_is_shown(tmp_path: Path) -> None:
    path = _write(tmp_path)
    dropped = list(read_cast(path, convention=Convention(keep_first_turns=False, first_resolved=False)))
    assert [example.id for example in dropped] == ["7_2", "7_3", "7_4", "7_5"]
    assert dropped[0].context == ("What is tea? ",)
    window = list(read_cast(path, convention=Convention(turns=PAPER_TURNS)))
    assert window[4].context == ("Who grows it?", "Is it old?", 'Why "green"?')


def test_there_are_no_answers_to_show(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="CAsT 2019 has no answers"):
        read_cast(_write(tmp_path), convention=Convention(answers=True))


def test_the_resolved_file_is_found_or_given(tmp_path: Path) -> None:
    path = _write(tmp_path)
    other = tmp_path / "topics.json"
    path.rename(other)
    with pytest.raises(InputError, match="no resolved turns are given"):
        read_cast(other)
    resolved = tmp_path / "evaluation_topics_annotated_resolved_v1.0.tsv"
    assert len(list(read_cast(other, resolved))) == 5
    resolved.unlink()
    with pytest.raises(InputError, match=r"resolved_v1\.0\.tsv: no such file"):
        read_cast(other, resolved)


def test_every_bad_row_is_told(tmp_path: Path) -> None:
    path = _write(tmp_path, [*RAW[:4], ""], RESOLVED[:2])
    resolved = tmp_path / "evaluation_topics_annotated_resolved_v1.0.tsv"
    resolved.write_text(resolved.read_text(encoding="utf-8") + "no tab here\n7_3\t \n", encoding="utf-8")
    with pytest.raises(BadRows) as caught:
        list(read_cast(path))
    told = [(Path(row.file).suffix, row.line, row.reason) for row in caught.value.rows]
    assert told == [
        (".tsv", 3, "got the string 'no tab here', expected TOPIC_TURN, a tab and a text"),
        (".tsv", 4, "got the string '7_3\\t ', expected TOPIC_TURN, a tab and a text"),
        (".json", 2, "turn 7_3: no resolved form in evaluation_topics_annotated_resolved_v1.0.tsv"),
        (".json", 2, "turn 7_4: no resolved form in evaluation_topics_annotated_resolved_v1.0.tsv"),
        (".json", 2, "raw_utterance: empty, expected some text"),
    ]
    heard: list[BadRow] = []
    assert [example.id for example in read_cast(path, on_bad=heard.append)] == ["7_1", "7_2"]
    assert tuple(heard) == caught.value.rows


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        ({"turn": []}, "number: missing, expected a number; got turn"),
        ({"number": 1}, "turn: missing, expected a list of turns; got number"),
        ({"number": 1, "turn": "x"}, "turn: got the string 'x', expected a list of turns"),
        ({"number": 1, "turn": [3]}, "turn[0]: got the number 3, expected an object"),
    ],
)
def test_a_topic_of_another_shape_is_a_bad_row(tmp_path: Path, topic: dict[str, object], reason: str) -> None:
    path = _write(tmp_path)
    path.write_text(json.dumps([topic]), encoding="utf-8")
    with pytest.raises(BadRows) as caught:
        list(read_cast(path))
    assert [row.reason for row in caught.value.rows] == [reason]


def test_the_official_files_give_the_papers_rows(data_dir: Path) -> None:
    built = list(read_cast(data_dir / "cast19" / "evaluation_topics_v1.0.json"))
    assert len(built) == 479
    assert built == list(read_examples(data_dir / "cast19" / "test.qonly.jsonl"))
