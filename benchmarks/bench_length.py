"""What a question costs by the length of its dialogue, read whole and in part, and what the latter does to quality.

    python benchmarks/bench_length.py [--model MODEL] [--threads N] [--repeat 3] [--suite SUITE.jsonl] [--dev DEV.jsonl]
        [--cases N] [--rows N] [--seed 0] [--long 224]

Three tables. The first is of one exchange said again and again, so that only the length changes. The second is of the
suite's cases after other everyday dialogues, until each chat has over 300 pieces. The third is of CANARD's dialogues
with answers (RISEQ_DATA) as they are, by length; with a lower ``--long`` it shows from which length on reading in part
pays. Ways to read take turns on each question and its best time counts. Beside
``all`` and ``relevant`` stand two controls that tell what choosing sentences is worth beyond reading less: ``latest``
reads as many pieces but the latest sentences, ``last turn`` nothing before the last turn.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from judge_everyday import SUITE
from riseq import Simplifier
from riseq.data.dialogue import read_context
from riseq.engine import reading
from riseq.engine.reading import BUDGET, LAST_TURN, Reader, Sentence
from riseq.files import open_source
from riseq.metrics.behaviour import Case, judge
from riseq.metrics.scores import score
from riseq.text.words import forms
from riseq.types import Example

EXCHANGE = (
    "Who was Marie Curie?",
    "She was a physicist and chemist who did pioneering work on radioactivity in Paris, won two Nobel Prizes, raised"
    " two daughters and ran a laboratory.",
)
QUESTION = "Where did Marie Curie study physics?"
EXCHANGES = (1, 2, 4, 8, 12, 16)
FILLERS = SUITE.with_name("dialogues.jsonl.gz")
OVER = 300
"""The chats that the aim of twice the speed is about have more pieces than this."""
MOST = 500
"""How long chats are made at most, but for the last dialogue added: beyond 512 ``all`` would not be all."""
EDGES = (128, 160, 192, 224, OVER)
"""Where the lengths begin that CANARD's dialogues are told apart by."""
Choose = Callable[[Reader, Sequence[str]], list[Sentence]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question after a dialogue, and what tells whether its answer is good."""

    question: str
    context: tuple[str, ...]
    case: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a question, and the best milliseconds that took."""

    text: str
    ms: float


def choose_latest(reader: Reader, _: Sequence[str]) -> list[Sentence]:
    """Return the latest sentences before the last turn that the budget has room for."""
    last = range(max(0, len(reader.utterances) - LAST_TURN), len(reader.utterances))
    room, chosen = BUDGET - sum(sum(map(len, reader.utterances[one])) + 1 for one in last), []
    for one in reversed(reader.sentences):
        room -= one.size + 1
        if room < 0:
            break
        chosen.append(one)
    return chosen[::-1]


WAYS: Mapping[str, Choose | None] = {
    "all": None,
    "relevant": Reader.choose,
    "latest": choose_latest,
    "last turn": lambda *_: [],
}
"""Ways to read a long dialogue: how the sentences before the last turn are chosen; None reads all."""


@contextmanager
def choosing(choose: Choose | None) -> Iterator[None]:
    """Make engines choose sentences by ``choose`` where they read in part."""
    own = Reader.choose
    Reader.choose = choose or own  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Reader.choose = own  # type: ignore[method-assign]


def answer(
    model: Simplifier, asked: Sequence[Asked], repeat: int, ways: Sequence[str] = tuple(WAYS), **options: Any
) -> dict[str, list[Answered]]:
    """Return the answers to all questions by each of ``ways``, which take turns on each question."""
    found: dict[str, list[Answered]] = {way: [] for way in ways}
    for one in asked:
        best = dict.fromkeys(ways, float("inf"))
        texts = dict.fromkeys(ways, "")
        for _ in range(repeat):
            for way in ways:
                with choosing(WAYS[way]):
                    read: Literal["all", "relevant"] = "all" if way == "all" else "relevant"
                    began = time.perf_counter()
                    texts[way] = model(one.question, context=one.context, read=read, **options).text
                    best[way] = min(best[way], 1_000 * (time.perf_counter() - began))
        for way in ways:
            found[way].append(Answered(texts[way], best[way]))
    return found


def count_pieces(model: Simplifier, context: Sequence[str]) -> int:
    """Return how many pieces a dialogue has, a mark after each utterance counted."""
    return sum(len(model.pieces.encode(forms(text))) + 1 for text in context)


def join_chats(
    model: Simplifier, cases: Sequence[Mapping[str, Any]], fillers: Sequence[Sequence[str]], seed: int
) -> list[Asked]:
    """Return the cases that have a dialogue, each after other dialogues until it has 301 to 500 pieces."""
    rng, asked = random.Random(seed), []
    for case in cases:
        context = read_context(case["context"])
        if not context:
            continue
        least = rng.randint(OVER + 1, MOST)
        while count_pieces(model, context) < least:
            context = (*rng.choice(fillers), *context)
        asked.append(Asked(case["question"], context, case))
    return asked


def read_fillers(path: Path) -> list[tuple[str, ...]]:
    """Return the everyday dialogues as they were said."""
    with open_source(path) as file:
        rows = [json.loads(line) for line in file]
    return [tuple(text for turn in row["turns"] for text in (turn["said"], turn["answer"])) for row in rows]


def find_ratio(found: Mapping[str, Sequence[Answered]], way: str) -> float:
    """Return how many times as fast as all together the questions are read in this way."""
    return sum(one.ms for one in found["all"]) / sum(one.ms for one in found[way])


def write_row(*cells: object) -> str:
    """Return a row of a table; numbers have one digit after the point, but for ratios, which come as text."""
    return "| " + " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |"


def print_lengths(model: Simplifier, repeat: int) -> None:
    """Print what one question costs after one exchange said again and again."""
    print(write_row("utterances", "pieces", "all, ms", "times the shortest", "relevant, ms", "times as fast"))
    print("|---|---|---|---|---|---|")
    shortest = None
    for exchanges in EXCHANGES:
        context = EXCHANGE * exchanges
        found = answer(model, [Asked(QUESTION, context, {})], repeat, ("all", "relevant"))
        whole, part = found["all"][0].ms, found["relevant"][0].ms
        shortest = shortest or whole
        cells = len(context), count_pieces(model, context), whole, whole / shortest, part
        print(write_row(*cells, f"{find_ratio(found, 'relevant'):.2f}"))


def print_chats(model: Simplifier, cases: Sequence[Mapping[str, Any]], asked: Sequence[Asked], repeat: int) -> None:
    """Print what is right and what it costs in chats made long, and of the same cases alone."""
    alone = [Asked(one["question"], read_context(one["context"]), one) for one in cases if one["context"]]
    short = answer(model, alone, 1, ("all", "relevant"))
    print(write_row("read", "chats", "right", "exact", "median ms", "times as fast"))
    print("|---|---|---|---|---|---|")
    for way, found in short.items():
        print(write_row(f"own dialogue alone, {way}", len(alone), *rate(alone, found), "", ""))
    found_by = answer(model, asked, repeat)
    for way, found in found_by.items():
        middle = statistics.median(one.ms for one in found)
        print(write_row(way, len(asked), *rate(asked, found), middle, f"{find_ratio(found_by, way):.2f}"))


def make_case(row: Mapping[str, Any]) -> Case:
    """Return a row of the suite as what the judge reads."""
    example = Example(row["id"], (), row["question"], row["gold"][0])
    return Case(example, tuple(row["gold"]), row["phenomenon"], *(tuple(row[name]) for name in ("keep", "gone", "bad")))


def rate(asked: Sequence[Asked], found: Sequence[Answered]) -> tuple[float, float]:
    """Return the percentages of right and exact answers."""
    judged = [judge(make_case(one.case), answered.text) for one, answered in zip(asked, found, strict=True)]
    right, exact = sum(one.right for one in judged), sum(one.exact for one in judged)
    return 100 * right / len(judged), 100 * exact / len(judged)


def print_canard(model: Simplifier, rows: Sequence[Mapping[str, Any]], repeat: int, grounded: bool) -> None:
    """Print BLEU-4 on CANARD's dialogues, of all and by length, read whole and in part, and the times."""
    asked = [Asked(one["question"], tuple(one["context"]), one) for one in rows]
    sizes = [count_pieces(model, one.context) for one in asked]
    in_part = [index for index, size in enumerate(sizes) if size > reading.LONG]
    whole = [
        one.text for one in model.batch([(one.question, one.context) for one in asked], grounded=grounded, read="all")
    ]
    found = answer(model, [asked[index] for index in in_part], repeat, grounded=grounded)
    targets = [one.case["target"] for one in asked]
    print(write_row("pieces", "rows", *(f"B-4 {way}" for way in WAYS), *(f"times, {way}" for way in [*WAYS][1:])))
    print("|" + "---|" * (1 + 2 * len(WAYS)))
    edges = sorted({reading.LONG, *(edge for edge in EDGES if edge > reading.LONG)})
    spans = [(f"{first + 1} to {last}", first, last) for first, last in pairwise(edges)]
    most = max(sizes)
    for name, least, last in (("all", -1, most), *spans, (f"over {edges[-1]}", edges[-1], most)):
        kept = [index for index, size in enumerate(sizes) if least < size <= last]
        if not kept:
            continue
        scores, ratios = [], []
        for way in WAYS:
            texts = dict(enumerate(whole)) | {index: one.text for index, one in zip(in_part, found[way], strict=True)}
            scores.append(f"{score([texts[one] for one in kept], [targets[one] for one in kept]).bleu4:.2f}")
            if way != "all" and least >= reading.LONG:
                here = {way: [one for index, one in zip(in_part, found[way], strict=True) if index in kept]}
                here["all"] = [one for index, one in zip(in_part, found["all"], strict=True) if index in kept]
                ratios.append(f"{find_ratio(here, way):.2f}")
        print(write_row(name, len(kept), *scores, *(ratios or [""] * (len(WAYS) - 1))))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--suite", type=Path, default=SUITE)
    parser.add_argument("--dev", type=Path, help="else canard/dev.qa.jsonl of RISEQ_DATA; without either no table")
    parser.add_argument("--cases", type=int, help="use only the first so many cases")
    parser.add_argument("--rows", type=int, help="use only so many rows of the set, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--long", type=int, default=reading.LONG, help="read in part from more pieces than this on")
    given = parser.parse_args()
    reading.LONG = given.long
    model = Simplifier.load(given.model, threads=given.threads)
    print(f"{model!r}\nread whole up to {reading.LONG} pieces, else {BUDGET} of them\n")
    print_lengths(model, given.repeat)
    cases = list(map(json.loads, given.suite.read_text(encoding="utf-8").splitlines()))[: given.cases]
    print(f"\n{given.suite.name}, chats of {OVER + 1} to about {MOST} pieces\n")
    print_chats(model, cases, join_chats(model, cases, read_fillers(FILLERS), given.seed), given.repeat)
    data = os.environ.get("RISEQ_DATA")
    dev = given.dev or (Path(data, "canard", "dev.qa.jsonl") if data else None)
    if dev is None:
        return
    rows = list(map(json.loads, dev.read_text(encoding="utf-8").splitlines()))
    if given.rows is not None and given.rows < len(rows):
        rows = random.Random(given.seed).sample(rows, given.rows)
    for grounded in (True, False):
        print(f"\n{dev.name}, {'grounded' if grounded else 'the benchmark’s way'}\n")
        print_canard(model, rows, given.repeat, grounded)


if __name__ == "__main__":
    main()
