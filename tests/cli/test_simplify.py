"""Files in, files out: killed and resumed, interrupted, in every format, with bad rows in between."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from riseq.cli.simplify import Handling, simplify_file, simplify_stream
from riseq.controls import Controls
from riseq.data.rows import BadRows
from riseq.data.tables import read_records, write_rows
from riseq.jobs import journal_path
from riseq.systems import Origin
from riseq.systems.registry import SystemChoice
from riseq.types import Example, InputError, Simplification
from tiny_model import export_tiny, make_examples

ORIGIN = SystemChoice("origin")
FORMATS = ["jsonl", "csv", "tsv", "parquet", "jsonl.gz"]


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [str(Path(sys.executable).parent / "riseq"), "simplify", *map(str, arguments)]

    def hear_interrupts() -> None:  # a shell's background job is started deaf to them, and its children with it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts
    )


def wait_for(path: Path, size: int, process: subprocess.Popen[str]) -> bool:
    """Return whether ``path`` grew to ``size`` bytes before ``process`` ended."""
    while process.poll() is None:
        if path.exists() and path.stat().st_size >= size:
            return True
        time.sleep(0.002)
    return False


def write_questions(path: Path, count: int) -> Path:
    """Write made-up dialogues, a bad row after every ninth."""
    rows: list[str] = []
    for example in make_examples(count):
        rows.append(json.dumps({"id": example.id, "context": example.context, "question": example.question}))
        if len(rows) % 10 == 9:
            rows.append('{"context": 7, "question": "Why?"}')
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_been(tmp_path: Path) -> None:
    source = write_questions(tmp_path / "in.jsonl", 6_000)
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert simplify_file(str(source), whole, ORIGIN, Handling()) == 3
    part, rng = journal_path(out), random.Random(4)
    finished: list[int] = []
    for _ in range(6):
        size = part.stat().st_size if part.exists() else 0
        process = start(source, out, "-s", "origin", "--resume")
        assert wait_for(part, size + rng.randint(1, whole.stat().st_size // 7), process)
        process.send_signal(signal.SIGKILL)
        _, err = process.communicate(timeout=60)
        if finished:
            assert f"continuing after {finished[-1]:,} finished row" in err
        # The header is no row, and what has no end yet is none either.
        finished.append(part.read_bytes().count(b"\n") - 1)
        assert not out.exists()
    assert finished == sorted(set(finished))
    code = simplify_file(str(source), out, ORIGIN, Handling(), resume=True)
    assert code == 3
    assert out.read_bytes() == whole.read_bytes()
    assert Path(f"{out}.bad.jsonl").read_bytes() == Path(f"{whole}.bad.jsonl").read_bytes()
    assert not part.exists()


def test_an_interrupt_keeps_what_is_finished_and_says_how_to_go_on(model: Path, tmp_path: Path) -> None:
    source, out = write_questions(tmp_path / "in.jsonl", 600), tmp_path / "out.csv"
    process = start(source, out, "--model", model, "--threads", 1)
    assert wait_for(journal_path(out), 20_000, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    lines = err.splitlines()
    assert process.returncode == 130
    assert lines[0].endswith("the same command with --resume continues")
    assert lines[1:] == ["riseq: interrupted"]
    assert not out.exists()
    with pytest.raises(InputError, match=r"finished rows of a run that did not end; --resume continues"):
        simplify_file(str(source), out, SystemChoice("rise", model, threads=1), Handling())
    assert simplify_file(str(source), out, SystemChoice("rise", model, threads=1), Handling(), resume=True) == 3
    assert len(list(read_records(out))) == 600


@pytest.fixture
def stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An input, and an output whose run broke off after a few rows."""
    source, out = write_questions(tmp_path / "in.jsonl", 40), tmp_path / "out.jsonl"

    class Breaking(Origin):
        def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
            for example in examples:
                if example.id == "20":
                    raise KeyboardInterrupt
                yield from super().simplify([example])

    with monkeypatch.context() as patch:
        patch.setattr("riseq.systems.registry.SystemChoice.load", lambda _: Breaking())
        with pytest.raises(KeyboardInterrupt):
            simplify_file(str(source), out, ORIGIN, Handling())
    assert 5 < journal_path(out).read_bytes().count(b"\n") <= 23
    return source, out


def test_only_unfinished_rows_are_done(stopped: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = stopped
    seen: list[str] = []

    class Listening(Origin):
        def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
            held = list(examples)
            seen.extend(example.id for example in held)
            return super().simplify(held)

    finished = [json.loads(line) for line in journal_path(out).read_bytes().splitlines()[1:]]
    monkeypatch.setattr("riseq.systems.registry.SystemChoice.load", lambda _: Listening())
    assert simplify_file(str(source), out, ORIGIN, Handling(), resume=True) == 3
    assert seen[0] not in [row["result"]["id"] for row in finished if "result" in row]
    assert [record.example.id for record in read_records(out)] == [str(number) for number in range(40)]


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        (SystemChoice("rule"), r"another system \(origin, now rule\)"),
        (SystemChoice("origin", controls=Controls(strength=0.2)), r"another strength \(not set, now 0.2\)"),
        (SystemChoice("origin", controls=Controls(protect=("Ira Hayes",))), r"another protect"),
        (SystemChoice("origin", controls=Controls(n_best=3)), r"another n_best"),
        (SystemChoice("origin", model=Path("examples")), r"another model"),
    ],
)
def test_a_run_with_other_settings_is_refused(
    stopped: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, choice: SystemChoice, told: str
) -> None:
    source, out = stopped
    kept = journal_path(out).read_bytes()
    monkeypatch.setattr("riseq.systems.registry.SystemChoice.load", lambda _: Origin())
    with pytest.raises(InputError, match=told):
        simplify_file(str(source), out, choice, Handling(), resume=True)
    assert journal_path(out).read_bytes() == kept


def test_a_changed_input_is_refused(stopped: tuple[Path, Path]) -> None:
    source, out = stopped
    with source.open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(InputError, match="another input"):
        simplify_file(str(source), out, ORIGIN, Handling(), resume=True)


def test_nothing_to_resume_is_a_new_run(tmp_path: Path) -> None:
    source, out = write_questions(tmp_path / "in.jsonl", 3), tmp_path / "out.jsonl"
    assert simplify_file(str(source), out, ORIGIN, Handling(), resume=True) == 0
    assert len(list(read_records(out))) == 3


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("origin", FORMATS)
def test_any_format_becomes_any_other(tmp_path: Path, origin: str, target: str) -> None:
    examples = make_examples(30)
    source, out = tmp_path / f"in.{origin}", tmp_path / f"out.{target}"
    write_rows(source, ({"id": e.id, "context": list(e.context), "question": e.question} for e in examples))
    assert simplify_file(str(source), out, ORIGIN, Handling()) == 0
    records = list(read_records(out))
    assert [(r.example.id, r.example.context, r.row["text"]) for r in records] == [
        (e.id, e.context, e.question) for e in examples
    ]
    assert {path.name for path in tmp_path.iterdir()} == {source.name, out.name}


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.parquet"])
def test_a_context_may_be_chat_messages(tmp_path: Path, name: str) -> None:
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Who directed Alien?"}]
    source = tmp_path / name
    if name.endswith("parquet"):
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table({"context": [messages], "question": ["When was Alien out?"]}), source)
    else:
        write_rows(source, [{"context": messages, "question": "When was Alien out?"}])
    assert simplify_file(str(source), tmp_path / "out.jsonl", ORIGIN, Handling()) == 0
    assert [record.example.context for record in read_records(tmp_path / "out.jsonl")] == [("Who directed Alien?",)]


def test_a_context_of_wrong_things_is_a_bad_row(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    rows = [
        "[1]",
        '[{"role": "user"}]',
        '[["a", "b", "c"]]',
        "7",
        '[{"role": "user", "content": "\\ud800"}]',
    ]
    source.write_text("".join(f'{{"context": {row}, "question": "Why?"}}\n' for row in rows))
    assert simplify_file(str(source), out, ORIGIN, Handling()) == 3
    reasons = [json.loads(line)["reason"] for line in Path(f"{out}.bad.jsonl").read_text().splitlines()]
    assert len(reasons) == len(rows)
    assert all("context" in reason for reason in reasons), reasons


def test_strict_also_stops_at_what_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Picky(Origin):
        def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
            held = list(examples)
            if any(example.id == "7" for example in held):
                raise InputError("too deep")
            return super().simplify(held)

    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    write_rows(source, ({"id": e.id, "context": list(e.context), "question": e.question} for e in make_examples(9)))
    monkeypatch.setattr("riseq.systems.registry.SystemChoice.load", lambda _: Picky())
    with pytest.raises(BadRows, match=r"in.jsonl:8: too deep"):
        simplify_file(str(source), out, ORIGIN, Handling(strict=True))
    journal_path(out).unlink()
    assert simplify_file(str(source), out, ORIGIN, Handling()) == 3
    assert len(list(read_records(out))) == 8


def test_rows_carry_what_is_known_of_them(model: Path, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    source = tmp_path / "in.jsonl"
    rows: list[Mapping[str, object]] = [
        {"context": [], "question": "Where was Ira Hayes born?"},
        {"context": ["Who was Ira Hayes?"] * 9, "question": "Where was Ira Hayes born?"},
    ]
    write_rows(source, rows)
    for name in ("out.jsonl", "out.parquet", "out.csv"):
        simplify_file(str(source), tmp_path / name, SystemChoice("rise", model, Controls(n_best=3)), Handling())
    plain = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["truncated"] for row in plain] == [False, True]
    for row in plain:
        assert row["text"] in [one["text"] for one in row["alternatives"]]
    table = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["truncated"] for row in table] == [False, True]
    assert [row["confidence"] for row in table] == [row["confidence"] for row in plain]
    for name in ("alternatives", "steps"):
        assert [json.loads(row[name]) for row in table] == [row[name] for row in plain]
        assert [json.loads(str(r.row[name])) for r in read_records(tmp_path / "out.csv")] == [r[name] for r in plain]


@pytest.mark.parametrize("target", ["csv", "parquet"])
def test_an_output_without_rows_has_the_same_columns(tmp_path: Path, target: str) -> None:
    columns = []
    for name, text in (("one.jsonl", '{"context": [], "question": "Why?"}'), ("none.jsonl", "nope")):
        source, out = tmp_path / name, tmp_path / f"{name}.{target}"
        source.write_text(text)
        simplify_file(str(source), out, ORIGIN, Handling())
        if target == "csv":
            columns.append(out.read_text(encoding="utf-8").splitlines()[0])
        else:
            schema = pytest.importorskip("pyarrow.parquet").read_schema(out)
            columns.append(str(dict(zip(schema.names, map(str, schema.types), strict=True))))
    assert columns[0] == columns[1]
    assert "confidence" in columns[0]


def test_a_file_that_cannot_be_read_to_its_end_is_told_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "in.jsonl.gz"
    write_rows(source, ({"context": [], "question": "Why?"} for _ in range(10_000)))
    source.write_bytes(source.read_bytes()[:-20])
    with pytest.raises(InputError, match="the gzip data is cut off here"):
        simplify_file(str(source), tmp_path / "out.jsonl", ORIGIN, Handling())
    assert list(tmp_path.iterdir()) == [source]


def test_windows_files_are_read(tmp_path: Path) -> None:
    for name, text in (
        ("in.jsonl", '{"context": [], "question": "Why?"}\r\n\r\n{"context": ["a\\r\\nb"], "question": "Who?"}\r\n'),
        ("in.csv", 'question,context\r\nWhy?,\r\nWho?,"a\r\nb"\r\n'),
    ):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert simplify_file(str(tmp_path / name), tmp_path / "out.jsonl", ORIGIN, Handling()) == 0
        records = [record.example for record in read_records(tmp_path / "out.jsonl")]
        assert [(one.context, one.question) for one in records] == [((), "Why?"), (("a\r\nb",), "Who?")]


def test_rows_with_half_a_surrogate_pair_are_set_aside(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    rows = [
        '{"context": [], "question": "\\ud800"}',
        '{"\\udc00": 1}',
        '{"context": ["\\u0000"], "question": "\\u0000a"}',
    ]
    source.write_text("\n".join(rows))
    assert simplify_file(str(source), out, ORIGIN, Handling()) == 3
    bad = [json.loads(line)["reason"] for line in Path(f"{out}.bad.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(bad) == 2
    assert "half a surrogate pair" in bad[0]
    assert [record.row["text"] for record in read_records(out)] == ["\x00a"]


def test_one_row_through_a_pipe_is_answered_before_the_next_comes() -> None:
    command = [str(Path(sys.executable).parent / "riseq"), "simplify", "-", "-s", "origin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(5):
            process.stdin.write(json.dumps({"id": str(number), "context": [], "question": "Why?"}) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == str(number)
        process.stdin.close()
        assert process.wait(timeout=60) == 0


def test_what_a_pipe_brought_leaves_no_part_behind(tmp_path: Path) -> None:
    fifo, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(fifo)
    process = start(fifo, out, "-s", "origin", "--strict")
    with fifo.open("w") as pipe:
        pipe.write('{"context": [], "question": "Why?"}\nnope\n')
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"{fifo}:2: not JSON" in err
    assert list(tmp_path.iterdir()) == [fifo]


def test_standard_output_can_be_named(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    source = write_questions(tmp_path / "in.jsonl", 3)
    assert simplify_stream(str(source), ORIGIN, Handling(), as_json=True) == 0
    assert len(capsysbinary.readouterr().out.splitlines()) == 3


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    tracemalloc = pytest.importorskip("tracemalloc")
    peaks = []
    for count in (500, 2_500):
        source = tmp_path / f"{count}.jsonl"
        write_rows(source, ({"context": ["Who?"] * 5, "question": f"Why {n}?"} for n in range(count)))
        simplify_file(str(source), tmp_path / "warm.jsonl", ORIGIN, Handling())
        tracemalloc.start()
        simplify_file(str(source), tmp_path / "out.jsonl", ORIGIN, Handling())
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 200_000, peaks
