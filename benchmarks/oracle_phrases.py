"""What edits can say on the way back, from the conversational question to the self-contained one, as JSON Lines.

Pairs are read backwards and aligned as -MLD has them. A needed phrase is said by the vocabulary, by a span that is
copied from what is read, or by such a span in a template ("of {}", "the {} 's"). Printed for each set and each way of
saying: the share of the phrases, of the pairs that one pass reaches exactly, and the scores with the edits left out
that cannot be said. With --passes also the scores where such an edit says the longest part that it can, pass by pass.

    python benchmarks/oracle_phrases.py --pieces weights/gte/tokenizer.json --templates 50 --templates 200 --passes 3
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.core.levenshtein import gold_edits
from riseq.core.phrases import Phrase, PhraseVocabulary
from riseq.core.templates import Template, TemplateVocabulary, find_splits
from riseq.metrics.behaviour import load_cases
from riseq.metrics.scores import score
from riseq.model.inputs import ContextWindow, encode_context, shown_words
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Example, InputError

Says = Callable[["Pair", Phrase], bool]


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair with its gold edits, and the spans that can be copied."""

    example: Example
    source: list[str]
    edits: list[Edit]
    spans: frozenset[Phrase]

    @property
    def phrases(self) -> list[Phrase]:
        """The phrases that the edits need."""
        return [edit.phrase for edit in self.edits if edit.phrase]


def read_pairs(name: str, pieces: Pieces, window: ContextWindow, copies: int, limit: int | None) -> list[Pair]:
    """Return the pairs of a set, which its name says to read backwards."""
    found = []
    for example in (case.example for case in load_cases(name)[:limit]):
        source, target = forms(example.question), forms(example.target or "")
        shown = shown_words(example.context, encode_context(pieces, example.context, window))
        spans = frozenset(
            tuple(row[at : at + n])
            for row in (*shown, source)
            for n in range(1, copies + 1)
            for at in range(len(row) + 1 - n)
        )
        found.append(Pair(example, source, gold_edits([MARKER, *source], [MARKER, *target]), spans))
    return found


def leave_out(pair: Pair, says: Says) -> str:
    """Return what the edits make of the source, less those whose phrase cannot be said."""
    edits, left = [], False
    for edit in pair.edits:
        if edit.phrase or edit.op is not Op.SUBSTITUTE:  # not within a run
            left = bool(edit.phrase) and not says(pair, edit.phrase)
        edits.append(KEEP if left else edit)
    return " ".join(apply([MARKER, *pair.source], edits)[1:])


def say_parts(pair: Pair, says: Says, passes: int) -> str:
    """Return what the question becomes where an edit that cannot be said says the longest part of it that can be."""
    words, target = [MARKER, *pair.source], [MARKER, *forms(pair.example.target or "")]
    for _ in range(passes):
        edits, left = [], False
        for edit in gold_edits(words, target):
            if edit.phrase or edit.op is not Op.SUBSTITUTE:
                part = find_part(pair, edit.phrase, says)
                left = bool(edit.phrase) and not part
                edit = Edit(edit.op, part)
            edits.append(KEEP if left else edit)
        words = apply(words, edits)
    return " ".join(words[1:])


def find_part(pair: Pair, phrase: Phrase, says: Says) -> Phrase:
    """Return the longest part of ``phrase`` that can be said, the leftmost of several; nothing where none can."""
    for count in range(len(phrase), 0, -1):
        for at in range(len(phrase) - count + 1):
            if says(pair, phrase[at : at + count]):
                return phrase[at : at + count]
    return ()


def measure_parts(pairs: Sequence[Pair], says: Says, passes: int) -> dict[str, float]:
    """Return the scores of what is said in parts."""
    scores = score([say_parts(pair, says, passes) for pair in pairs], [pair.example.target or "" for pair in pairs])
    return {"bleu4": round(scores.bleu4, 2), "rougeL": round(scores.rougeL, 2), "exact": round(scores.exact, 2)}


def measure(pairs: Sequence[Pair], says: Says) -> dict[str, float]:
    """Return the shares of phrases and pairs, in percent, and the oracle's scores."""
    said = [[says(pair, phrase) for phrase in pair.phrases] for pair in pairs]
    scores = score([leave_out(pair, says) for pair in pairs], [pair.example.target or "" for pair in pairs])
    shares = sum(map(sum, said)) / max(1, sum(map(len, said))), sum(map(all, said)) / len(pairs)
    rounded = (round(value, 2) for value in (*(100 * share for share in shares), scores.bleu4, scores.rougeL))
    return dict(zip(("phrases", "pairs", "bleu4", "rougeL"), rounded, strict=True))


def ways_of_saying(
    vocabulary: PhraseVocabulary, templates: TemplateVocabulary, sizes: Sequence[int]
) -> Iterator[tuple[str, Says]]:
    """Yield what can be said, from least to most."""
    yield "nothing", lambda _pair, _phrase: False
    yield f"{len(vocabulary)} phrases", lambda _pair, phrase: phrase in vocabulary
    yield "copied alone", lambda pair, phrase: phrase in pair.spans
    yield "+ copied", lambda pair, phrase: phrase in vocabulary or phrase in pair.spans

    for size in sizes:
        allowed = frozenset(templates.templates[: size + 1])
        yield f"+ copied in {len(allowed) - 1} templates", partial(_fits, vocabulary, allowed)
    yield "+ copied in any", partial(_fits, vocabulary, None)


def _fits(vocabulary: PhraseVocabulary, allowed: Container[Template] | None, pair: Pair, phrase: Phrase) -> bool:
    """Return whether ``phrase`` is in the vocabulary, or a span of the pair in one of the templates."""
    splits = find_splits(phrase)
    return phrase in vocabulary or any(
        middle in pair.spans and (allowed is None or template in allowed) for template, middle in splits
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares and return the exit code: 2 for a user's mistake, told in one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", nargs="+", default=["canard/train.keywords.qa", "data/everyday/dialogues.jsonl.gz"])
    parser.add_argument("--data", nargs="+", default=["canard/train.answers.qa", "canard/dev.qa", "everyday/suite"])
    parser.add_argument(
        "--pieces", type=Path, default=Path("weights/gte/tokenizer.json"), help="a vocabulary of pieces"
    )
    parser.add_argument("--phrases", type=int, default=3461, help="phrases of the vocabulary")
    parser.add_argument("--min-count", type=int, default=2, help="how often a phrase must occur")
    parser.add_argument("--copies", type=int, default=8, help="the longest copied span, in words")
    parser.add_argument("--templates", type=int, action="append", help="how many templates; repeat for more")
    parser.add_argument("--context-pieces", type=int, default=224, help="how much of a dialogue is read")
    parser.add_argument("--passes", type=int, default=0, help="also say phrases in parts, in up to so many passes")
    parser.add_argument("--limit", type=int, help="only the first rows of each set")
    parser.add_argument("--show", type=int, default=0, help="also print this many of the templates")
    asked = parser.parse_args(arguments)
    window = ContextWindow(None, None, asked.context_pieces)
    try:
        pieces = Pieces.load(asked.pieces)
        read = {
            name: read_pairs(f"{name}+resolve", pieces, window, asked.copies, asked.limit)
            for name in dict.fromkeys([*asked.learn, *asked.data])
        }
    except InputError as error:
        print(f"oracle_phrases: {error}", file=sys.stderr)
        return 2
    learnt = [pair for name in asked.learn for pair in read[name]]
    words = [([MARKER, *pair.source], [MARKER, *forms(pair.example.target or "")]) for pair in learnt]
    vocabulary = PhraseVocabulary.from_pairs(words, asked.phrases, asked.min_count)
    needed = ((phrase, pair.spans) for pair in learnt for phrase in pair.phrases if phrase not in vocabulary)
    sizes = asked.templates or [50, 200]
    templates = TemplateVocabulary.from_phrases(needed, max(sizes))
    if asked.show:
        print(json.dumps({"templates": templates.to_lines()[: asked.show]}), flush=True)
    for name in asked.data:
        pairs = read[name]
        for way, says in ways_of_saying(vocabulary, templates, sizes):
            print(json.dumps({"data": name, "n": len(pairs), "says": way, **measure(pairs, says)}), flush=True)
            for passes in range(1, asked.passes + 1) if way.startswith("+") else ():
                said = f"{way}, in parts, {passes} passes"
                print(json.dumps({"data": name, "says": said, **measure_parts(pairs, says, passes)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
