"""The command line: what it prints, and what it says to a mistake."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import riseq
from riseq.cli import main
from riseq.hub import find_default_model

ROWS = [
    {
        "id": "film",
        "context": ["Who directed Alien?"],
        "question": "When was Alien released?",
        "target": "When was it out?",
    },
    {"id": "empty", "context": [], "question": "Pourquoi « ça » ?", "target": "Pourquoi ?"},
]
BAD = ['{"context": [], "question": ""}', "nope", '{"context": 7, "question": "Why?"}']
KEYS = ["n", "bleu1", "bleu2", "bleu3", "bleu4", "rougeL", "cider", "exact", "distance"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class Shell:
    """Runs the command line in this process, where it costs nothing, and hands back what a shell would see."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *arguments: object) -> Outcome:
        code = main([str(argument) for argument in arguments])
        out, err = self._capture.readouterr()
        return Outcome(code, out, err)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return Shell(capsys)


def write_lines(path: Path, rows: Sequence[Mapping[str, object] | str]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "questions.jsonl", ROWS)


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "bad.jsonl", [ROWS[0], *BAD])


class TestSimplify:
    def test_a_question_prints_its_conversational_form_alone(self, shell: Shell) -> None:
        outcome = shell("simplify", "When was Alien released?", "-c", "Who directed Alien?", "-c", "Is it good?")
        assert outcome == Outcome(0, "When was it released?\n", "")

    def test_a_question_shows_its_edits(self, shell: Shell) -> None:
        outcome = shell("simplify", "When was Alien released?", "--context", "Who directed Alien?", "--show-edits")
        assert outcome == Outcome(0, "When was [-Alien-]{+it+} released?\nWhen was it released?\n", "")

    def test_a_question_may_have_a_slash(self, shell: Shell) -> None:
        assert shell("simplify", "and/or?", "-s", "origin") == Outcome(0, "and/or?\n", "")

    def test_a_question_without_context_is_unchanged(self, shell: Shell) -> None:
        assert shell("simplify", "When was Alien released?", "--show-edits").out == "When was Alien released?\n"

    def test_a_pipe_gets_jsonl(self, shell: Shell, questions: Path) -> None:
        outcome = shell("simplify", questions)
        first, second = map(json.loads, outcome.out.splitlines())
        assert outcome.code == 0
        edit = {"op": "substitute", "start": 9, "end": 14, "old": "Alien", "new": "it"}
        for name in ("probability", "refers_to"):  # the trained system has them
            first["steps"][0]["edits"][0].pop(name, None)
        assert first == {
            "id": "film",
            "context": ["Who directed Alien?"],
            "question": "When was Alien released?",
            "text": "When was it released?",
            "confidence": first["confidence"],
            "truncated": False,
            "reason": None,
            "steps": [{"text": "When was it released?", "edits": [edit]}],
            "target": "When was it out?",
        }
        assert (second["text"], second["steps"]) == ("Pourquoi « ça » ?", [])

    def test_standard_input_is_jsonl(self, shell: Shell, questions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(questions.read_bytes())))
        outcome = shell("simplify", "-", "-s", "origin")
        assert [json.loads(line)["id"] for line in outcome.out.splitlines()] == ["film", "empty"]

    def test_show_edits_lists_the_dialogues(self, shell: Shell, questions: Path) -> None:
        lines = shell("simplify", questions, "--show-edits").out.splitlines()
        assert lines[:6] == [
            "film",
            "  context   Who directed Alien?",
            "  question  When was Alien released?",
            "  edits     When was [-Alien-]{+it+} released?",
            "  result    When was it released?",
            "",
        ]

    def test_the_examples_all_come_through(self, shell: Shell, root: Path) -> None:
        outcome = shell("simplify", root / "examples" / "dialogues.jsonl", "--show-edits")
        assert outcome.code == 0
        assert 8 <= outcome.out.count("  result ") <= 12
        assert outcome.out.count("[-") > 5

    @pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.csv", "out.tsv", "out.parquet"])
    def test_a_file_out_is_read_back(self, shell: Shell, questions: Path, tmp_path: Path, name: str) -> None:
        from riseq.data.tables import read_records

        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        outcome = shell("simplify", questions, name, "-s", "origin")
        assert (outcome.code, outcome.out, outcome.err) == (0, "", f"riseq: wrote 2 questions to {name}\n")
        records = list(read_records(tmp_path / name))
        assert [record.row["text"] for record in records] == [row["question"] for row in ROWS]
        assert [record.example.context for record in records] == [("Who directed Alien?",), ()]

    def test_steps_are_json_in_a_cell(self, shell: Shell, questions: Path, tmp_path: Path) -> None:
        shell("simplify", questions, "out.csv")
        with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
            first = next(csv.DictReader(file))
        assert json.loads(first["steps"])[0]["edits"][0]["new"] == "it"


@pytest.mark.skipif(find_default_model() is None, reason="no model ships with this checkout")
class TestControls:
    QUESTION = ("When was Alien released?", "-c", "Who directed Alien?")

    def test_a_question_takes_them(self, shell: Shell) -> None:
        assert shell("simplify", *self.QUESTION).out == "When was it released?\n"
        assert shell("simplify", *self.QUESTION, "--strength", "0").out == "When was Alien released?\n"
        assert shell("simplify", *self.QUESTION, "--protect", "Who", "--protect", "alien").out.count("Alien") == 1

    def test_the_guard_can_be_taken_away(self, shell: Shell) -> None:
        assert shell("simplify", "--guard", *self.QUESTION).code == 0
        assert shell("simplify", "--no-guard", *self.QUESTION).code == 0
        assert shell("explain", "--no-guard", *self.QUESTION).code == 0

    def test_a_file_takes_them(self, shell: Shell, questions: Path) -> None:
        for options in (["--strength", "0"], ["--protect", "Alien"], ["--max-passes", "1"]):
            rows = [json.loads(line) for line in shell("simplify", questions, *options).out.splitlines()]
            assert ("Alien" in rows[0]["text"]) == (options[0] != "--max-passes")
            assert len(rows[0]["steps"]) <= 1

    def test_explain_shows_the_passes(self, shell: Shell) -> None:
        outcome = shell("explain", *self.QUESTION)
        lines = outcome.out.splitlines()
        assert (outcome.code, outcome.err) == (0, "")
        assert lines[1] == "pass 1      When was [-Alien-]{+it+} released?"
        assert lines[2].endswith("%  substitute Alien → it")
        assert lines[3].strip() == 'refers to "Alien" (utterance 1)'
        assert lines[4] == "result      When was it released?"

    def test_explain_takes_them(self, shell: Shell) -> None:
        assert "nothing to edit" in shell("explain", *self.QUESTION, "--strength", "0").out


class TestBadRows:
    def test_the_others_are_done_and_the_exit_code_tells(self, shell: Shell, bad: Path, tmp_path: Path) -> None:
        outcome = shell("simplify", bad, "out.jsonl", "-s", "origin")
        assert (outcome.code, outcome.out) == (3, "")
        assert outcome.err.splitlines() == [
            "riseq: wrote 1 question to out.jsonl",
            "riseq: left out 3 bad rows of 4; the reasons are in out.jsonl.bad.jsonl",
        ]
        rows = [json.loads(line) for line in (tmp_path / "out.jsonl.bad.jsonl").read_text().splitlines()]
        assert [(row["row"], row["line"]) for row in rows] == [(2, 2), (3, 3), (4, 4)]
        assert rows[0] == {"row": 2, "line": 2, "reason": "question: empty, expected some text", "file": str(bad)}
        assert {path.name for path in tmp_path.iterdir()} == {"bad.jsonl", "out.jsonl", "out.jsonl.bad.jsonl"}

    def test_skip_bad_is_content_with_it(self, shell: Shell, bad: Path, tmp_path: Path) -> None:
        assert shell("simplify", bad, "out.jsonl", "-s", "origin", "--skip-bad").code == 0
        assert (tmp_path / "out.jsonl.bad.jsonl").exists()

    def test_an_older_runs_bad_rows_go(self, shell: Shell, bad: Path, questions: Path, tmp_path: Path) -> None:
        shell("simplify", bad, "out.jsonl", "-s", "origin")
        assert shell("simplify", questions, "out.jsonl", "-s", "origin").code == 0
        assert not (tmp_path / "out.jsonl.bad.jsonl").exists()

    def test_strict_tells_all_and_writes_nothing(self, shell: Shell, bad: Path, tmp_path: Path) -> None:
        outcome = shell("simplify", bad, "out.jsonl", "-s", "origin", "--strict")
        told = outcome.err.splitlines()
        assert (outcome.code, outcome.out) == (2, "")
        assert [line.startswith(f"riseq: {bad}:{number}: ") for number, line in enumerate(told, 2)] == [True] * 3 + [
            False
        ]
        assert "3 bad rows" in told[-1]
        assert list(tmp_path.iterdir()) == [bad]
        assert shell("simplify", bad, "-s", "origin", "--strict").out == ""

    def test_more_than_a_message_holds_are_all_told(self, shell: Shell, tmp_path: Path) -> None:
        file = write_lines(tmp_path / "worse.jsonl", ["nope"] * 50)
        assert len(shell("simplify", file, "-s", "origin", "--strict").err.splitlines()) == 51

    def test_a_pipe_gets_the_others_and_the_reasons_are_told(self, shell: Shell, bad: Path) -> None:
        outcome = shell("simplify", bad, "-s", "origin")
        assert outcome.code == 3
        assert [json.loads(line)["id"] for line in outcome.out.splitlines()] == ["film"]
        assert [line.startswith(f"riseq: skipped {bad}:") for line in outcome.err.splitlines()] == [True] * 3 + [False]
        assert "went on without 3 bad rows of 4" in outcome.err
        assert shell("simplify", bad, "-s", "origin", "--skip-bad").code == 0

    @pytest.mark.parametrize("verb", [["evaluate", "-s", "origin", "-d"], ["data", "stats"], ["vocab"]])
    def test_every_verb_takes_it(self, shell: Shell, bad: Path, verb: list[str]) -> None:
        assert shell(*verb, bad).code == 2
        assert shell(*verb, bad, "--skip-bad").code == 0


class TestEvaluate:
    def test_json_is_one_object_with_the_nine_keys(self, shell: Shell, questions: Path) -> None:
        outcome = shell("evaluate", "--system", "origin", "--data", questions, "--json")
        scores = json.loads(outcome.out)
        assert list(scores) == KEYS
        assert (scores["n"], scores["exact"], outcome.err) == (2, 0.0, "")

    def test_the_table_has_the_same_numbers(self, shell: Shell, questions: Path) -> None:
        scores = json.loads(shell("evaluate", "-s", "origin", "-d", questions, "--json").out)
        header, row = shell("evaluate", "-s", "origin", "-d", questions).out.splitlines()
        assert header.split() == ["system", "n", "B-1", "B-2", "B-3", "B-4", "R-L", "CIDEr", "exact", "%", "distance"]
        assert row.split()[:3] == ["origin", "2", f"{scores['bleu1']:.1f}"]

    def test_evaluate_asks_the_benchmarks_way_where_it_is_told(self, shell: Shell, questions: Path) -> None:
        ways = [shell("evaluate", "-d", questions, *way, "--json") for way in ([], ["--grounded"], ["--no-grounded"])]
        assert [one.code for one in ways] == [0, 0, 0]
        assert ways[0].out == ways[1].out
        refused = shell("evaluate", "-s", "origin", "-d", questions, "--no-grounded")
        assert refused.code == 2
        assert "grounded" in refused.err

    def test_confidences_are_checked_where_it_is_asked_for(self, shell: Shell, questions: Path) -> None:
        told = json.loads(shell("evaluate", "-d", questions, "--confidence", "--json").out)
        assert list(told) == [*KEYS, "confidence"]
        line = shell("evaluate", "-d", questions, "--confidence").out.splitlines()[-1]
        ece, auc = (f"{told['confidence'][name]:.3f}" for name in ("ece", "auc"))
        assert line == f"confidence: expected calibration error {ece}, AUC {auc}"
        assert shell("evaluate", "-s", "origin", "-d", questions, "--confidence").code == 2

    def test_a_suite_is_judged_by_phenomenon(self, shell: Shell, tmp_path: Path) -> None:
        case = {"context": [{"role": "user", "content": "Who directed Alien?"}], "keep": [], "gone": [], "bad": []}
        thing = {"phenomenon": "thing", "question": "When was Alien released?", "gold": ["When was it released?"]}
        switch = {"phenomenon": "switch", "question": "Who is Emma?", "gold": ["Who is Emma?"]}
        rows = [{**case, **thing, "gone": ["Alien"]}, {**case, **switch}]
        suite = tmp_path / "suite.jsonl"
        suite.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        told = json.loads(shell("evaluate", "-s", "origin", "-d", suite, "--json").out)
        assert (told["n"], told["kept"], told["right"], told["phenomena"]["thing"]["right"]) == (2, 100, 50, 0)
        header, *shown = shell("evaluate", "-s", "origin", "-d", suite).out.splitlines()
        assert header.split() == ["phenomenon", "n", "kept", "shortened", "clean", "right", "exact", "%"]
        assert shown[-1].split() == ["all", "2", "100.0", "50.0", "100.0", "50.0", "50.0"]

    def test_predictions_stand_beside_their_targets(self, shell: Shell, questions: Path, tmp_path: Path) -> None:
        shell("evaluate", "-s", "origin", "-d", questions, "--predictions", "p.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [(row["prediction"], row["target"]) for row in rows] == [
            (row["question"], row["target"]) for row in ROWS
        ]


class TestSets:
    def test_stats(self, shell: Shell, questions: Path) -> None:
        lines = shell("data", "stats", questions).out.splitlines()
        assert ["questions", "2"] in [line.split() for line in lines]
        assert ["with", "context", "1", "50.0"] in [line.split() for line in lines]

    def test_vocab_writes_the_most_frequent_phrases(self, shell: Shell, tmp_path: Path) -> None:
        pairs = [("Is Bob in?", "Is he in?"), ("Is Al in?", "Is he in?"), ("Is Eve in?", "Is she in?")]
        rows = [{"context": [], "question": question, "target": target} for question, target in pairs]
        file = write_lines(tmp_path / "pairs.jsonl", rows)
        outcome = shell("vocab", file, "--size", "1", "--output", "phrases.txt")
        assert outcome.out.split()[-2:] == ["1", "66.7"]
        assert (tmp_path / "phrases.txt").read_text(encoding="utf-8") == "he\n"
        assert shell("vocab", file).out.split()[-2:] == ["2", "100.0"]


MISTAKES = [
    (["simplify", "missing.jsonl"], "missing.jsonl: no such file"),
    (["simplify", "folder"], "folder: is a folder"),
    (["simplify", ""], "the question is empty"),
    (["simplify", "Why?", "-c", " "], "context 1 is empty"),
    (["simplify", "Why", "not?"], "put a question in quotes"),
    (["simplify", "Why?", "--system", "nope"], "no system is called 'nope'"),
    (["simplify", "Why?", "-s", "rule", "--model", "folder"], "takes no model"),
    (["simplify", "questions.jsonl", "-c", "Who?"], "--context goes with a question"),
    (["simplify", "questions.jsonl", "out.txt"], "out.txt: unknown kind of file"),
    (["simplify", "questions.jsonl", "none/out.jsonl"], "there is no folder"),
    (["simplify", "questions.jsonl", "folder"], "folder: unknown kind of file"),
    (["simplify", "wrong.csv"], "wrong.csv: no column 'question'"),
    (["simplify", "binary.csv"], "binary.csv:1: not UTF-8"),
    (["simplify", "questions.txt"], "questions.txt: unknown kind of file"),
    (["simplify", "Why?", "-s", "rise", "--strength", "2"], "strength is 2.0, expected a number from 0 to 1"),
    (["simplify", "Why?", "-s", "rise", "--protect", " "], "protect[0] is ' ', expected at least one word"),
    (["simplify", "questions.jsonl", "-s", "rise", "--max-passes", "0"], "max_passes is 0, expected 1 or more"),
    (["simplify", "Why?", "-s", "origin", "--max-passes", "2"], "--max-passes goes with the system 'rise'"),
    (["simplify", "questions.jsonl", "-s", "rise", "--n-best", "0"], "n_best is 0, expected 1 or more"),
    (["simplify", "questions.jsonl", "--resume"], "--resume goes with an OUTPUT file"),
    (["simplify", "-", "out.jsonl", "-s", "origin", "--resume"], "--resume goes with a file"),
    (["simplify", "Why?", "--resume"], "--resume goes with a file of questions"),
    (["simplify", "questions.jsonl", "--strict", "--skip-bad"], "--strict and --skip-bad contradict each other"),
    (["simplify", "questions.jsonl", "out.csv", "--show-edits"], "--show-edits is for the terminal"),
    (["simplify", "questions.jsonl", "out.csv", "-s", "rise", "-m", "nowhere"], "nowhere: no such folder"),
    (["explain", ""], "the question is empty"),
    (["explain", "questions.jsonl"], "questions.jsonl: explain takes one question in quotes; riseq simplify FILE"),
    (["explain", "missing.jsonl"], "missing.jsonl: no such file"),
    (["simplify", "Why?", "-s", "mine.py:Mine", "--strength", "7"], "strength is 7.0, expected a number from 0 to 1"),
    (["simplify", "Why?", "-s", "mine.py:Mine", "--strength", "0.7"], "--strength goes with a class that takes"),
    (["simplify", "Why?", "-s", "origin", "--no-guard"], "--guard goes with the system 'rise', not with 'origin'"),
    (["explain", "Why?", "--strength", "x"], "--strength: expected a number"),
    (["evaluate", "-d", "missing.jsonl"], "missing.jsonl: no such file"),
    (["evaluate", "-d", "nothing.jsonl"], "nothing.jsonl: no questions"),
    (["vocab", "nothing.jsonl", "-k", "0"], "'--size'"),
    (["simplify"], "Missing argument 'INPUT'; see riseq simplify --help"),
    (["simplify", "Why?", "--nope"], "No such option: --nope"),
    (["nope"], "No such command 'nope'"),
]


@pytest.mark.parametrize(("arguments", "told"), MISTAKES, ids=[" ".join(case[0]) for case in MISTAKES])
def test_a_mistake_is_one_line_and_code_2(
    shell: Shell, questions: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "nothing.jsonl").touch()
    (tmp_path / "questions.txt").write_bytes(questions.read_bytes())
    (tmp_path / "binary.csv").write_bytes(bytes(range(128, 256)))
    write_lines(tmp_path / "wrong.csv", ["id,context", "1,Why?"])
    write_lines(tmp_path / "mine.py", ["from riseq.systems import Origin as Mine"])
    before = sorted(tmp_path.iterdir())
    outcome = shell(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("riseq: ")
    assert outcome.err.count("\n") == 1
    assert told in outcome.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("arguments", [[], ["--help"], ["data"], ["simplify", "-h"], ["evaluate", "--help"]])
def test_help(shell: Shell, arguments: list[str]) -> None:
    outcome = shell(*arguments)
    assert outcome.code == 0
    assert "Usage: riseq" in outcome.out


def test_verbs_have_examples(shell: Shell) -> None:
    for verb in (["simplify"], ["explain"], ["evaluate"], ["data", "stats"], ["vocab"]):
        assert f"  riseq {' '.join(verb)} " in shell(*verb, "--help").out


def test_version(shell: Shell) -> None:
    assert shell("--version") == Outcome(0, f"riseq {riseq.__version__}\n", "")


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [str(Path(sys.executable).parent / "riseq"), *arguments]

    def hear_interrupts() -> None:  # a shell's background job is started deaf to them, and its children with it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=hear_interrupts,
    )


def test_completion_knows_the_verbs() -> None:
    environment = {**os.environ, "_RISEQ_COMPLETE": "complete_bash", "COMP_WORDS": "riseq sim", "COMP_CWORD": "1"}
    command = [str(Path(sys.executable).parent / "riseq")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.stdout.split() == ["simplify"]


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "many.jsonl", ROWS * 20_000)
    process = start("simplify", str(file), "-s", "origin")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_an_interrupt_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    fifo = tmp_path / "never.jsonl"
    os.mkfifo(fifo)
    process = start("simplify", str(fifo), str(tmp_path / "out.jsonl"), "-s", "origin")
    with fifo.open("w"):  # returns when riseq reads, and it waits for rows until we close
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "riseq: interrupted\n")
    assert list(tmp_path.iterdir()) == [fifo]
