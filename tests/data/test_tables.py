from __future__ import annotations

import gzip
import io
import json
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.data.dialogue import EXPECTED
from riseq.data.rows import BadRow, BadRows, example_row
from riseq.data.tables import SUFFIXES, check_output, read_examples, read_records, write_rows
from riseq.types import Example, InputError

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text('a\r\n\t",[]{}\\\x00 é😀\u2028\x85', max_size=8)
FILLED = TEXTS.filter(lambda text: bool(text.strip()))
EXAMPLES = st.builds(
    Example,
    id=TEXTS.filter(bool),
    context=st.lists(TEXTS, max_size=4).map(tuple),
    question=FILLED,
    target=st.none() | FILLED,
)
GOOD = '{"id": "a", "context": ["Who?"], "question": "Who is it?"}'


def _write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def _reasons(path: Path, need_target: bool = False) -> list[tuple[int, str]]:
    heard: list[BadRow] = []
    list(read_examples(path, on_bad=heard.append, need_target=need_target))
    assert all(row.file == str(path) for row in heard)
    return [(row.line, row.reason) for row in heard]


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(examples=st.lists(EXAMPLES, max_size=5))
def test_examples_survive_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, examples: list[Example]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"round{suffix}"
    assert write_rows(path, map(example_row, examples)) == len(examples)
    assert list(read_examples(path)) == examples


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_rows_give_the_same_bytes(tmp_path: Path, suffix: str) -> None:
    rows = [example_row(Example("1", ("a", "b"), "q", "t"))] * 3
    for name in ("one", "two"):
        write_rows(tmp_path / f"{name}{suffix}", rows)
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


def test_an_id_is_the_row_number_where_there_is_none(tmp_path: Path) -> None:
    rows = ['{"context": [], "question": "a"}', "", "broken", '{"id": null, "context": [], "question": "b"}']
    path = _write(tmp_path, "a.jsonl", "\n".join([*rows, '{"id": 70, "context": [], "question": "c"}']))
    assert [example.id for example in read_examples(path, on_bad=lambda row: None)] == ["1", "3", "70"]
    table = _write(tmp_path, "a.csv", "context,question\n,a\n\n,b\n")
    assert [example.id for example in read_examples(table)] == ["1", "2"]


def test_the_same_id_may_come_twice(tmp_path: Path) -> None:
    assert len(list(read_examples(_write(tmp_path, "a.jsonl", f"{GOOD}\n{GOOD}\n")))) == 2


def test_other_columns_come_with_the_record(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.csv", "question,note,context\nWho is it?,mine,Who?\n")
    record = next(read_records(path))
    assert record.example == Example("1", ("Who?",), "Who is it?")
    assert record.row == {"question": "Who is it?", "note": "mine", "context": ["Who?"]}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"context": [], "question": "a"', "not JSON: Expecting ',' delimiter at character 32, expected an object"),
        ("[1, 2]", "got the list [1, 2], expected an object with context and question"),
        ("null", "got null, expected an object with context and question"),
        ('{"context": []}', "question: missing, expected a string; got context"),
        ("{}", "question: missing, expected a string; got no fields"),
        ('{"context": [], "question": ""}', "question: empty, expected some text"),
        ('{"context": [], "question": " \\n"}', "question: empty, expected some text"),
        ('{"context": [], "question": null}', "question: got null, expected a string"),
        ('{"context": [], "question": ["a"]}', "question: got the list ['a'], expected a string"),
        (
            '{"context": 7, "question": "b"}',
            f"the context is a int, expected a list of utterances, oldest first: {EXPECTED}",
        ),
        ('{"context": ["a", 7], "question": "b"}', f"context[1] is a int, expected one of: {EXPECTED}"),
        ('{"messages": [], "id": "b"}', "messages: the last one is not the user's, expected the question"),
        ('{"context": [], "question": "b", "id": true}', "id: got the boolean True, expected a string"),
        ('{"context": [], "question": "b", "target": 1.5}', "target: got the number 1.5, expected a string"),
        (
            '{"context": ["\\ud83d"], "question": "b"}',
            "context[0]: half a surrogate pair at character 0, expected Unicode",
        ),
    ],
)
def test_a_bad_line_is_told_with_its_field(tmp_path: Path, line: str, reason: str) -> None:
    path = _write(tmp_path, "a.jsonl", f"{GOOD}\n\n{line}\n{GOOD}\n")
    assert _reasons(path) == [(3, reason)]
    with pytest.raises(BadRows) as caught:
        list(read_examples(path))
    assert str(caught.value) == f"{path}:3: {reason}"


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"context": ' + "[" * 100_000, '{"id": ' + "9" * 5000 + "}"])
def test_json_python_cannot_take_is_a_bad_row(tmp_path: Path, nested: str) -> None:
    ((line, reason),) = _reasons(_write(tmp_path, "a.jsonl", f"{nested}\n{GOOD}\n"))
    assert line == 1
    assert reason.startswith("not usable JSON")
    assert len(reason) < 250


def test_long_values_are_cut_in_messages(tmp_path: Path) -> None:
    ((_, reason),) = _reasons(_write(tmp_path, "a.jsonl", json.dumps({"context": [], "question": ["x" * 9999]})))
    assert len(reason) < 150


def test_all_bad_rows_are_told_after_the_good_ones(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", f"1\n{GOOD}\n2\n{GOOD}\n")
    examples = read_examples(path)
    assert [next(examples).id, next(examples).id] == ["a", "a"]
    with pytest.raises(BadRows) as caught:
        next(examples)
    assert [row.line for row in caught.value.rows] == [1, 3]


def test_a_needed_target_must_be_there(tmp_path: Path) -> None:
    rows: list[dict[str, str | None]] = [{"target": "t"}, {}, {"target": None}, {"target": " "}]
    lines = [json.dumps({"context": [], "question": "q", **row}) for row in rows]
    path = _write(tmp_path, "a.jsonl", "\n".join(lines))
    missing, empty = "target: missing, expected some text", "target: empty, expected some text"
    assert _reasons(path, need_target=True) == [(2, missing), (3, empty), (4, empty)]
    assert [example.target for example in read_examples(path)] == ["t", None, None, None]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".jsonl.gz"])
def test_a_byte_order_mark_is_no_text(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_rows(path, [example_row(Example("1", (), "q"))])
    plain = gzip.decompress(path.read_bytes()) if suffix.endswith(".gz") else path.read_bytes()
    _write(tmp_path, path.name, b"\xef\xbb\xbf" + plain)
    assert list(read_examples(path)) == [Example("1", (), "q")]


def test_an_empty_jsonl_has_no_examples(tmp_path: Path) -> None:
    assert list(read_examples(_write(tmp_path, "a.jsonl", ""))) == []


def test_windows_lines_are_lines(tmp_path: Path) -> None:
    assert len(list(read_examples(_write(tmp_path, "a.jsonl", f"{GOOD}\r\n\r\n{GOOD}\r\n")))) == 2
    table = _write(tmp_path, "a.csv", "context,question\r\n,a\r\n,b\r\n")
    assert [example.question for example in read_examples(table)] == ["a", "b"]


def test_a_name_may_be_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "A.JSONL.GZ"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert len(list(read_examples(path))) == 1


@pytest.mark.parametrize("name", ["a.txt", "a", "a.jso", "a.gz", "a.parquet.gz", "jsonl"])
def test_an_unknown_suffix_is_told_at_once(tmp_path: Path, name: str) -> None:
    path = _write(tmp_path, name, "")
    for act in (read_examples, check_output):
        with pytest.raises(InputError, match=r"unknown kind of file, expected a name that ends in \.jsonl, \.csv"):
            act(path)


def test_standard_input_is_jsonl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{GOOD}\nx\n".encode())))
    heard: list[BadRow] = []
    assert list(read_examples("-", on_bad=heard.append)) == [Example("a", ("Who?",), "Who is it?")]
    assert [(row.file, row.line) for row in heard] == [("<stdin>", 2)]


def test_standard_output_is_jsonl(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    check_output("-")
    assert write_rows("-", [{"id": "é", "context": ["a"]}]) == 1
    assert capfdbinary.readouterr().out == '{"id": "é", "context": ["a"]}\n'.encode()


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    def rows(failure: BaseException) -> Iterator[dict[str, object]]:
        for number in range(9000):
            yield {"id": str(number), "context": [], "question": "q"}
        raise failure

    for suffix in SUFFIXES:
        path = _write(tmp_path, f"out{suffix}", "what was there")
        before = path.read_bytes()
        for failure in (ValueError("no"), KeyboardInterrupt(), OSError("not the output's")):
            with pytest.raises(type(failure)) as caught:
                write_rows(path, rows(failure))
            assert caught.value is failure
            assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == len(SUFFIXES)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_a_column_the_first_row_lacks_is_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    with pytest.raises(InputError) as caught:
        write_rows(path, [{"id": "1", "question": "q"}, {"id": "2"}, {"id": "3", "note": "n"}])
    assert str(caught.value) == f"{path}: row 3: the column 'note' is not in the first row; expected id, question"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_text_that_is_no_unicode_is_told(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match="row 1: half a surrogate pair"):
        write_rows(tmp_path / f"a{suffix}", [{"id": "\ud83d"}])
    assert not list(tmp_path.iterdir())


def test_reading_holds_one_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    write_rows(path, ({"id": str(n), "context": ["word " * 20], "question": "q" * 50} for n in range(20_000)))
    tracemalloc.start()
    count = sum(1 for _ in read_examples(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 1_000_000, "the text alone is over 4 MB"


def test_a_file_may_be_rewritten_from_itself(tmp_path: Path) -> None:
    path = _write(tmp_path, "a.jsonl", f"{GOOD}\n" * 3)
    assert write_rows(path, ({**record.row, "text": "Who?"} for record in read_records(path))) == 3
    assert [record.row["text"] for record in read_records(path)] == ["Who?"] * 3


def test_the_papers_training_set_reads_whole(data_dir: Path) -> None:
    examples = list(read_examples(data_dir / "canard" / "train.all.jsonl.gz", need_target=True))
    assert len(examples) == 31_526
    assert examples[0].context == ()
