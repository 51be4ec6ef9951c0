"""The cost of long dialogues and what reading in part does: the tables, on a model that is as good as free."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import bench_length
from riseq import Simplifier
from riseq.data.dialogue import Item, read_item
from riseq.engine import reading
from riseq.engine.dialogue import DialogueWords
from riseq.engine.reading import Reader
from riseq.types import Simplification
from tiny_model import make_pieces

PIECES = make_pieces("bert")


class Free:
    pieces = PIECES

    def __call__(
        self, question: str, context: tuple[str, ...], read: str = "all", grounded: bool = True
    ) -> Simplification:
        return Simplification(question, question if read == "all" else "it?")

    def batch(self, items: Iterable[Item], grounded: bool = True, read: str = "all") -> Iterator[Simplification]:
        return (self(*read_item(item)) for item in items)


def read_tables(shown: str) -> list[list[list[str]]]:
    """Return the rows of each table, without its head."""
    tables = [part.splitlines() for part in shown.split("\n\n") if part.lstrip().startswith("|")]
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:] if line] for table in tables]


def test_the_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr(Simplifier, "load", lambda *_, **__: Free())
    monkeypatch.setattr(reading, "LONG", reading.LONG)  # main sets it
    dev = tmp_path / "dev.jsonl"
    rows = [{"question": "Was it?", "context": ["film " * size], "target": "Was it?"} for size in (9, 150, 250, 400)]
    dev.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    arguments = ["--repeat", "1", "--cases", "3", "--dev", str(dev), "--long", "128"]
    monkeypatch.setattr(sys, "argv", ["bench_length.py", *arguments])
    bench_length.main()
    lengths, chats, grounded, benchmark = read_tables(capsys.readouterr().out)
    assert [int(row[0]) for row in lengths] == [2 * one for one in bench_length.EXCHANGES]
    assert [row[0] for row in chats][2:] == list(bench_length.WAYS)
    assert [row[:2] for row in grounded] == [
        ["all", "4"],
        ["129 to 160", "1"],
        ["225 to 300", "1"],
        ["over 300", "1"],
    ]
    assert [row[:2] for row in benchmark] == [row[:2] for row in grounded]


def test_chats_are_made_long_before_the_cases_own_dialogue() -> None:
    case = {"question": "Was the film?", "context": ["Who was Zappa?", "A band."]}
    cases = [case, {"question": "Who?", "context": []}]
    (asked,) = bench_length.join_chats(Free(), cases, [("film " * 20, "song")], 1)  # type: ignore[arg-type]
    assert asked.context[-2:] == ("Who was Zappa?", "A band.")
    assert bench_length.count_pieces(Free(), asked.context) > bench_length.OVER  # type: ignore[arg-type]


def test_the_controls_choose_otherwise_and_only_for_as_long_as_they_are_asked() -> None:
    context = ("Zappa was it.", *["The film was a song of the band."] * 60, "So?", "Yes.")
    reader, own = Reader(DialogueWords(context), PIECES), Reader.choose
    latest = bench_length.choose_latest(reader, ["zappa"])
    assert latest == reader.sentences[-len(latest) :]
    assert 0 < len(latest) < len(reader.sentences)
    with bench_length.choosing(bench_length.WAYS["last turn"]):
        assert reader.choose(["zappa"]) == []
    assert Reader.choose is own
    assert [one.utterance for one in reader.choose(["zappa"])] == [0]
