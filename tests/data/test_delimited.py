from __future__ import annotations

from pathlib import Path

import pytest

from riseq.data.rows import BadRow
from riseq.data.tables import read_examples, write_rows
from riseq.types import InputError


def _write(folder: Path, text: str | bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _contexts(path: Path) -> list[tuple[str, ...]]:
    return [example.context for example in read_examples(path)]


@pytest.mark.parametrize(
    ("cell", "context"),
    [
        ("", ()),
        ("  ", ()),
        ("[]", ()),
        ('["a", "b"]', ("a", "b")),
        (' ["a"] ', ("a",)),
        ("What is tea?", ("What is tea?",)),
        (" spaced ", (" spaced ",)),
        ("42", ("42",)),
        ('"quoted"', ('"quoted"',)),
        ('{"a": 1}', ('{"a": 1}',)),
        ("[laughs] And then?", ("[laughs] And then?",)),
    ],
)
def test_a_cell_is_a_json_list_or_one_utterance(tmp_path: Path, cell: str, context: tuple[str, ...]) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    assert _contexts(_write(tmp_path, f"context,question\n{quoted},q\n")) == [context]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            '"[1, 2]",q',
            "context[0] is a int, expected one of: strings, messages with role and content, (speaker, text) or "
            "(question, answer) pairs",
        ),
        ('"[""a"", ""b",q', 'context: the string \'["a", "b\' is broken JSON'),
        ("a,b,c", "got 3 cells, expected 2: context, question"),
        ("a", "got 1 cells, expected 2: context, question"),
        ('"a"b,q', "broken quotes: ',' expected after '\"'"),
        ("a,", "question: empty, expected some text"),
    ],
)
def test_a_bad_row_is_told_and_passed_over(tmp_path: Path, row: str, reason: str) -> None:
    # The row before it takes two lines.
    path = _write(tmp_path, f'context,question\n"a\nb",q\n{row}\nc,last\n')
    heard: list[BadRow] = []
    assert [example.question for example in read_examples(path, on_bad=heard.append)] == ["q", "last"]
    assert [(told.file, told.line) for told in heard] == [(str(path), 4)]
    assert heard[0].reason.startswith(reason)


def test_an_unclosed_quote_is_told_where_it_opens(tmp_path: Path) -> None:
    heard: list[BadRow] = []
    path = _write(tmp_path, 'context,question\na,q\n"b,q\nc,q\n')
    assert len(list(read_examples(path, on_bad=heard.append))) == 1
    assert [(told.line, told.reason) for told in heard] == [(3, "broken quotes: unexpected end of data")]


def test_bytes_that_are_not_utf8_spoil_their_row_only(tmp_path: Path) -> None:
    heard: list[BadRow] = []
    path = _write(tmp_path, b'context,question\na,q\n"b\n\xe9",q\nc,last\n')
    assert [example.question for example in read_examples(path, on_bad=heard.append)] == ["q", "last"]
    told = "not UTF-8: got the byte 0xe9 at byte 1 of the line"
    assert [(row.line, row.reason) for row in heard] == [(3, told)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no header, expected one with the columns id, context, question, target"),
        ("id,context\n1,q\n", "no column 'question'; the columns are 'id', 'context'"),
        ("id,context\n", "no column 'question'; the columns are 'id', 'context'"),
        ("question,context,question\n", ":1: the column 'question' is there twice, expected once"),
        ('"a"b,question\n', ":1: broken quotes"),
        (b"context,question,\xe9\n", ":1: not UTF-8"),
    ],
)
def test_a_header_that_will_not_do_is_one_error(tmp_path: Path, text: str | bytes, told: str) -> None:
    path = _write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        list(read_examples(path, on_bad=lambda row: None))
    assert str(caught.value).startswith(str(path))
    assert told in str(caught.value)


def test_a_needed_target_is_a_needed_column(tmp_path: Path) -> None:
    path = _write(tmp_path, "context,question\na,q\n")
    with pytest.raises(InputError, match="no column 'target'"):
        list(read_examples(path, need_target=True))


def test_blanks_around_column_names_do_not_count(tmp_path: Path) -> None:
    assert _contexts(_write(tmp_path, "context , question\na,q\n")) == [("a",)]


def test_a_long_dialogue_fits_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    write_rows(path, [{"context": ["word " * 100_000], "question": "q"}])
    assert _contexts(path) == [("word " * 100_000,)]


def test_what_a_written_file_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    row = {"id": "1", "context": ("é", 'say "hi"'), "question": "a,\r", "target": None, "score": 0.5, "ok": True}
    write_rows(path, [row])
    assert path.read_bytes().decode() == (
        'id,context,question,target,score,ok\n1,"[""é"", ""say \\""hi\\""""]","a,\r",,0.5,true\n'
    )
