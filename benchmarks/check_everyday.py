"""Check everyday dialogues: their structure, what their forms lose and bring, and how near they come to the suite.

    python benchmarks/check_everyday.py [DIALOGUES.jsonl ...] [--suite SUITE.jsonl] [--show]

One remark a line with ``--show``, else their numbers by kind. A remark is not always a mistake: a stem is a word
without its plural's s, so "doesn't" for "don't" is a lost word and a new one. data/everyday/README.md says what a
dialogue holds.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from riseq.files import open_source
from riseq.text.lexicon import find_stem, is_content
from riseq.text.words import find_stems, forms

FOLDER = Path(__file__).resolve().parent.parent / "data" / "everyday"
DIALOGUES, SUITE = FOLDER / "dialogues.jsonl.gz", FOLDER / "suite.jsonl"
MORE_DIALOGUES = FOLDER / "dialogues-2.jsonl.gz", FOLDER / "dialogues-3.jsonl.gz"

UNCHANGED = ("topic-switch", "unrelated-name")
"""The phenomena in which a question stays as it is."""
MOST_WORDS = 34
MUCH_ALIKE = 0.75
"""The share of content words from which two questions are much alike: those of both over those of either."""
REFERRING = frozenset(
    re.findall(r"\w+", "here there one ones both two each other else either neither former latter first")
)
"""Words that a form may bring beside those of the closed class."""

Kind = Literal["structure", "loses", "new", "long", "changed", "suite"]
KINDS: dict[Kind, str] = {
    "structure": "a field is missing or of another type, an id is there twice, a phenomenon is not of the list",
    "loses": "a form leaves out a content word that the dialogue does not say",
    "new": "a form brings a content word that neither the question nor the dialogue has",
    "long": f"a question has more than {MOST_WORDS} words",
    "changed": f"a form of {' or '.join(UNCHANGED)} differs from its question",
    "suite": "a question is much like one of the suite",
}


@dataclass(frozen=True, slots=True)
class Remark:
    """What is to be looked at, and in which dialogue."""

    kind: Kind
    where: str
    text: str


@dataclass(frozen=True)
class Checker:
    """What dialogues are held against: the phenomena of the specification, and the suite's questions."""

    phenomena: frozenset[str]
    suite: Sequence[str]

    @cached_property
    def suite_stems(self) -> list[set[str]]:
        """The stems of each question of the suite."""
        return [find_stems([question]) for question in self.suite]

    def check_dialogues(self, dialogues: Sequence[dict[str, Any]]) -> Iterator[Remark]:
        """Yield what is to be looked at in ``dialogues``."""
        for identifier, times in Counter(str(one.get("id")) for one in dialogues).items():
            if times > 1:
                yield Remark("structure", identifier, f"the id is there {times} times")
        for dialogue in dialogues:
            wrong = list(self.check_structure(dialogue))
            yield from wrong or self.check_pairs(dialogue)

    def check_structure(self, dialogue: dict[str, Any]) -> Iterator[Remark]:
        """Yield what a reader could not use."""
        where = str(dialogue.get("id"))
        if set(dialogue) != {"id", "domain", "turns", "next"} or not dialogue["turns"] or not dialogue["next"]:
            yield Remark("structure", where, "expected id, domain, turns and next")
            return
        for number, turn in enumerate(dialogue["turns"]):
            if set(turn) != {"full", "said", "answer"} or not all(map(is_text, turn.values())):
                yield Remark("structure", where, f"turn {number}: expected full, said and answer")
        if dialogue["turns"][0].get("full") != dialogue["turns"][0].get("said"):
            yield Remark("structure", where, "the first question is said in full")
        for number, one in enumerate(dialogue["next"]):
            said = one.get("said")
            if set(one) != {"full", "said", "about"} or not is_text(one["full"]) or not isinstance(said, list):
                yield Remark("structure", where, f"next {number}: expected full, a list said, and about")
            elif not said or not all(map(is_text, said)):
                yield Remark("structure", where, f"next {number}: said has no form, or an empty one")
            elif one["about"] not in self.phenomena:
                yield Remark("structure", where, f"next {number}: no phenomenon is called {one['about']!r}")

    def check_pairs(self, dialogue: dict[str, Any]) -> Iterator[Remark]:
        """Yield what the questions and their forms show."""
        context: list[str] = []
        for number, turn in enumerate(dialogue["turns"]):
            if number:
                yield from self.check_question(f"{dialogue['id']}/{number}", context, turn["full"], [turn["said"]])
            context += [turn["said"], turn["answer"]]
        for number, one in enumerate(dialogue["next"]):
            where = f"{dialogue['id']}/next-{number}"
            yield from self.check_question(where, context, one["full"], one["said"])
            if one["about"] in UNCHANGED and one["said"] != [one["full"]]:
                yield Remark("changed", where, f"{one['about']}: {one['said']}")

    def check_question(self, where: str, context: Sequence[str], full: str, said: Sequence[str]) -> Iterator[Remark]:
        """Yield what a question and its forms show; of the context every word counts, small ones too."""
        words, stems = forms(full), find_stems([full])
        heard = {find_stem(word) for utterance in context for word in forms(utterance)}
        if len(words) > MOST_WORDS:
            yield Remark("long", where, full)
        if any(stems and len(stems & other) > MUCH_ALIKE * len(stems | other) for other in self.suite_stems):
            yield Remark("suite", where, full)
        for form in said:
            kept = {find_stem(word) for word in forms(form)}
            asked = {find_stem(word) for word in words}
            lost = sorted(word for word in words if is_content(word) and find_stem(word) not in kept | heard)
            new = {word for word in forms(form) if is_content(word) and find_stem(word) not in asked | heard}
            if lost:
                yield Remark("loses", where, f"{', '.join(lost)}: {full!r} -> {form!r}")
            if new - REFERRING:
                yield Remark("new", where, f"{', '.join(sorted(new - REFERRING))}: {full!r} -> {form!r}")


def is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def read_lines(path: Path) -> list[dict[str, Any]]:
    with open_source(path) as file:
        return [json.loads(line) for line in file]


def read_phenomena(path: Path = FOLDER / "DIALOGUES.md") -> frozenset[str]:
    """Return the phenomena that the specification lists after "`about` is one of:"."""
    listed = path.read_text(encoding="utf-8").partition("`about` is one of:")[2].partition(".")[0]
    return frozenset(re.findall(r"[a-z-]+", listed))


def make_checker(suite: Path = SUITE) -> Checker:
    return Checker(read_phenomena(), [case["question"] for case in read_lines(suite)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogues", nargs="*", type=Path, default=[DIALOGUES])
    parser.add_argument("--suite", type=Path, default=SUITE)
    parser.add_argument("--show", action="store_true", help="print every remark")
    arguments = parser.parse_args()
    dialogues = [one for path in arguments.dialogues for one in read_lines(path)]
    remarks = list(make_checker(arguments.suite).check_dialogues(dialogues))
    for remark in remarks if arguments.show else ():
        print(f"{remark.where}  {remark.kind}  {remark.text}")
    counts = Counter(remark.kind for remark in remarks)
    for kind, meaning in KINDS.items():
        print(f"{counts[kind]:5}  {kind}: {meaning}")
    print(f"{len(dialogues)} dialogues, {len(remarks)} remarks")


if __name__ == "__main__":
    main()
