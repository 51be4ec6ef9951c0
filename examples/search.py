"""Conversational search end to end: what BM25 finds for questions as people ask them, and once they are resolved.

    python examples/search.py [--resolver MODEL] [--data FOLDER] [--show]

The folder has passages.jsonl ({"id", "text"}) and dialogues.jsonl ({"id", "turns"}; a turn was said so, is in full so,
was answered so, and its answer is in that passage). Each question is searched in several ways; first turns, which are
self-contained as they are, do not count. ``--show`` prints each question with what was made of it, and the rank.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riseq import Resolver
from riseq.engine.bm25 import Bm25

DATA = Path(__file__).resolve().parent / "search"


@dataclass(frozen=True)
class Turn:
    """A question in its dialogue, and the passage that answers it."""

    said: str
    full: str
    passage: str
    context: tuple[str, ...]
    """What was said before it: questions as they were asked, and their answers."""


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_follow_ups(path: Path) -> Iterator[Turn]:
    """Yield the turns of all dialogues but for their first ones."""
    for dialogue in read_jsonl(path):
        context: list[str] = []
        for turn in dialogue["turns"]:
            if context:
                yield Turn(turn["said"], turn["full"], turn["passage"], tuple(context))
            context += [turn["said"], turn["answer"]]


def make_queries(turns: Sequence[Turn], resolver: Resolver) -> dict[str, list[str]]:
    """Return the queries of each way to search."""
    resolved = resolver.resolve_many((turn.said, turn.context) for turn in turns)
    return {
        "the question as it was asked": [turn.said for turn in turns],
        "with the question and the answer before it": [" ".join((*turn.context[-2:], turn.said)) for turn in turns],
        "with the whole dialogue before it": [" ".join((*turn.context, turn.said)) for turn in turns],
        "resolved by riseq": [result.text for result in resolved],
        "in full, by hand": [turn.full for turn in turns],
    }


def find_rank(index: Bm25, query: str, wanted: int) -> int | None:
    """Return at which place, from 1, the wanted passage is found; None where it is not."""
    found = [hit.index for hit in index.search(query, len(index))]
    return found.index(wanted) + 1 if wanted in found else None


def measure(ranks: Sequence[int | None]) -> tuple[float, float, float]:
    """Return the mean reciprocal rank, and the shares found first and among the first three."""
    first, three = (sum(rank is not None and rank <= most for rank in ranks) / len(ranks) for most in (1, 3))
    return sum(1 / rank for rank in ranks if rank is not None) / len(ranks), first, three


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resolver", help="a folder, or a name on the hub; else the model that ships")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", action="store_true", help="print every question, with its rank in each way")
    asked = parser.parse_args()
    passages = read_jsonl(asked.data / "passages.jsonl")
    places = {passage["id"]: place for place, passage in enumerate(passages)}
    index = Bm25(passage["text"] for passage in passages)
    turns = list(read_follow_ups(asked.data / "dialogues.jsonl"))
    queries = make_queries(turns, Resolver.load(asked.resolver, threads=1))
    ranks = {
        way: [find_rank(index, text, places[turn.passage]) for text, turn in zip(texts, turns, strict=True)]
        for way, texts in queries.items()
    }
    if asked.show:
        for number, turn in enumerate(turns):
            print(turn.passage)
            for way, texts in queries.items():
                print(f"  {ranks[way][number] or '-':>3}  {texts[number]}")
    print(f"{len(turns)} questions, {len(passages)} passages")
    print("| query | MRR | first | in the first three |\n|---|---|---|---|")
    for way, found in ranks.items():
        print(f"| {way} | {' | '.join(f'{share:.2f}' for share in measure(found))} |")


if __name__ == "__main__":
    main()
