"""Cases (a question in its dialogue with what a person would accept), and whether an output is accepted."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from riseq.data.corpora import read_everyday
from riseq.data.dataset import complete_pair, is_complete, load_dataset, locate_dataset, read_dataset, reverse_pair
from riseq.data.rows import BadRow, FieldError, OnBad, Record, sift, take_texts
from riseq.data.tables import read_outcomes
from riseq.files import STDIN, name_source, open_source
from riseq.text.lexicon import is_content
from riseq.text.words import forms
from riseq.types import Example

ALL = "all"
RESOLVE_SUFFIX, COMPLETE_SUFFIX = "+resolve", "+complete"
"""What stands after the name of a set that is read backwards, and of one whose questions are complete and stay."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question in its dialogue, and how an answer is judged."""

    example: Example
    gold: tuple[str, ...]
    """Forms that a person would say there, the example's target first."""
    phenomenon: str = ""
    """What it tries; "" in a set of targets, where other forms may be as good as the one written down."""
    keep: tuple[str, ...] = ()
    """What would be lost for good."""
    gone: tuple[str, ...] = ()
    """What was said before, and would not be said again."""
    bad: tuple[str, ...] = ()
    """Words that would be wrong, such as "he" for a woman."""
    resolves: bool = field(default=False, kw_only=True)
    """Whether the self-contained question is wanted: right is what has its content words, and no others."""


def load_cases(name: str | Path, *, on_bad: OnBad | None = None) -> list[Case]:
    """Return the cases of a suite (rows with ``gold``), of everyday dialogues (``turns``) or of a set with targets.

    Those of a set called ``NAME+resolve`` are read backwards: the conversational question is asked, the self-contained
    one is wanted. Those of ``NAME+complete`` ask the self-contained question in its dialogue, which then stays;
    one with a word that points back is none.
    """
    for suffix, turn in ((RESOLVE_SUFFIX, reverse_pair), (COMPLETE_SUFFIX, complete_pair)):
        if str(name).endswith(suffix):
            found = load_cases(str(name).removesuffix(suffix), on_bad=on_bad)
            found = [case for case in found if suffix == RESOLVE_SUFFIX or is_complete(case.example)]
            return [
                Case(turn(case.example), (case.example.question,), case.phenomenon, resolves=True) for case in found
            ]
    path = locate_dataset(name)
    first: object = None
    if str(path) != STDIN and ".jsonl" in str(path).lower():
        with open_source(path) as file, suppress(ValueError, RecursionError):
            first = json.loads(file.readline())
    columns = first if isinstance(first, dict) else {}
    if "turns" in columns:
        questions = (list(pairs) for _, pairs in groupby(read_everyday(path), key=lambda pair: pair.id))
        return [Case(pairs[0], tuple(one.target or "" for one in pairs), "everyday") for pairs in questions]
    if "gold" in columns:
        rows = read_outcomes(path)
        return list(sift((_read_case(row, name_source(path)) for row in rows), on_bad))
    return [Case(one, (one.target or "",)) for one in read_dataset(path, on_bad=on_bad, need_target=True)]


def is_backwards(name: str | Path) -> bool:
    """Return whether the name of a set says that its questions are resolved."""
    return str(name).endswith((RESOLVE_SUFFIX, COMPLETE_SUFFIX))


def load_scored(name: str, *, need_target: bool = False) -> list[Example]:
    """Return the examples of a set that outputs are scored on, backwards where its name says so."""
    if is_backwards(name):
        return [case.example for case in load_cases(name)]
    return load_dataset(name, need_target=need_target)


def _read_case(outcome: Record | BadRow, file: str) -> Case | BadRow:
    if isinstance(outcome, BadRow):
        return outcome
    try:
        gold, *words = (take_texts(outcome.row, field) for field in ("gold", "keep", "gone", "bad"))
        example = replace(outcome.example, target=gold[0])
    except (FieldError, IndexError) as error:
        return BadRow(file, outcome.line, str(error) if isinstance(error, FieldError) else "gold: empty")
    return Case(example, gold, str(outcome.row.get("phenomenon") or "suite"), *words)


class Verdict(NamedTuple):
    """What is right about an output; "shortened" where nothing is to be left out is to be one of the gold forms."""

    kept: bool  # nothing new is lost
    shortened: bool  # nothing is said twice
    clean: bool  # no word is wrong
    right: bool  # all three
    exact: bool  # a gold form, but for case, spaces and end marks


def judge(case: Case, text: str) -> Verdict:
    """Return the verdict on ``text``; in a set of targets only the target is right, unless it is to be resolved."""

    def has(phrase: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(phrase.lower())}(?!\w)", text.lower()) is not None

    def normalise(form: str) -> str:
        return " ".join(forms(form.replace("’", "'"))).strip(" ?.!")

    exact = normalise(text) in map(normalise, case.gold)
    if case.resolves:
        wanted, said = (Counter(filter(is_content, forms(form))) for form in (case.gold[0], text))
        return Verdict(wanted <= said, wanted <= said, said <= wanted, wanted == said, exact)
    kept, clean = all(map(has, case.keep)), not any(map(has, case.bad))
    shortened = not any(map(has, case.gone)) if case.gone else exact
    return Verdict(kept, shortened, clean, kept and shortened and clean, exact)


def measure_behaviour(cases: Sequence[Case], texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return by phenomenon, and for ``ALL`` last, the number of cases and the percentage of each part of a verdict."""
    groups: dict[str, list[Verdict]] = {name: [] for name in (*sorted({case.phenomenon for case in cases}), ALL)}
    for case, text in zip(cases, texts, strict=True):
        for name in (case.phenomenon, ALL):
            groups[name].append(judge(case, text))
    return {
        name: {"n": len(of)} | {part: 100 * sum(getattr(one, part) for one in of) / len(of) for part in Verdict._fields}
        for name, of in groups.items()
    }
