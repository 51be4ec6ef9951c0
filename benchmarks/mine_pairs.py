"""Make pairs to train on of conversational questions that nobody has rewritten: resolved, and kept where all agree.

    python benchmarks/mine_pairs.py FOLDER OUT.jsonl [--resolver MODEL] [--model MODEL] [--least 0.8] [--limit N]

FOLDER has the dialogues of a split of the Schema-Guided Dialogue data (CC BY-SA 4.0): ``dialogues_*.json``, with
``turns`` of a ``speaker`` and an ``utterance``. What a user says is a question to resolve where it is one sentence
with a question mark at its end. A pair is kept where the resolver changed the question and is sure of it (``--least``),
and where the simplifier, asked for the resolved question in the same dialogue, says what the user said and is sure too.
How many were left out, and why, is printed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from riseq.engine.resolver import Resolver
from riseq.engine.simplifier import Simplifier
from riseq.files import write_text
from riseq.text.words import forms
from riseq.types import Example, Simplification

WORDS = range(3, 21)
"""How long a question may be, in words."""
LATEST = 6
"""How many utterances before a question are its context."""


def read_questions(folder: Path) -> Iterator[Example]:
    """Yield the users' questions in their dialogues; none that is the first thing said."""
    for path in sorted(folder.glob("dialogues_*.json")):
        for dialogue in json.loads(path.read_text(encoding="utf-8")):
            said: list[str] = []
            for number, turn in enumerate(dialogue["turns"]):
                text = " ".join(turn["utterance"].split())
                if said and turn["speaker"] == "USER" and is_question(text):
                    yield Example(f"{dialogue['dialogue_id']}/{number}", tuple(said[-LATEST:]), text)
                said.append(text)


def is_question(text: str) -> bool:
    """Return whether ``text`` is one sentence, a question of a usual length.

    >>> is_question("Do they have live music?"), is_question("Great. Do they have live music?")
    (True, False)
    """
    return bool(re.fullmatch(r"[^.?!;]+\?", text)) and len(forms(text)) - 1 in WORDS


def find_fault(asked: str, resolved: Simplification, again: Simplification, least: float) -> str:
    """Return why a question is left out, or nothing where its pair is kept."""
    if not resolved.changed:
        return "not changed by the resolver"
    if (resolved.confidence or 0.0) < least:
        return "the resolver is not sure"
    if [*forms(again.text)] != [*forms(asked)]:
        return "simplified to something else"
    return "" if (again.confidence or 0.0) >= least else "the simplifier is not sure"


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--resolver", help="a folder or a name; else the model that ships")
    parser.add_argument("--model", help="the same of the simplifier")
    parser.add_argument("--least", type=float, default=0.8, help="the least confidence, both ways")
    parser.add_argument("--limit", type=int, help="the most questions asked, spread over all")
    arguments = parser.parse_args(given)
    asked = list(read_questions(arguments.folder))
    if arguments.limit is not None:
        asked = asked[:: max(1, -(-len(asked) // arguments.limit))]
    resolved = Resolver.load(arguments.resolver).resolve_many([(one.question, one.context) for one in asked])
    back = [(result.text, one.context) for one, result in zip(asked, resolved, strict=True)]
    again = Simplifier.load(arguments.model).batch(back)
    faults, rows = Counter[str](), list[str]()
    for one, result, short in zip(asked, resolved, again, strict=True):
        faults[fault := find_fault(one.question, result, short, arguments.least)] += 1
        if not fault:
            row = {"id": one.id, "context": one.context, "question": result.text, "target": one.question}
            rows.append(json.dumps(row, ensure_ascii=False))
    write_text(arguments.out, "".join(f"{row}\n" for row in rows))
    print(f"{len(asked)} questions, {faults.pop('', 0)} kept; " + ", ".join(f"{n} {why}" for why, n in faults.items()))


if __name__ == "__main__":
    main()
