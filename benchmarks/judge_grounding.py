"""Judge how grounded a model is: what it drops though nobody said it, and what it changes in a foreign dialogue.

    python benchmarks/judge_grounding.py [--model MODEL] [--data SET ...] [--unrelated SET] [--pairs 1000] [--limit N]

A violation is a content word of a question that is neither in the result nor, by its stem, in the dialogue, unless the
dialogue has it as an acronym or says the noun it stands before. For ``--unrelated`` each question of the set comes
after the dialogue of another with which it shares no content word; it should stay as it is. Sets are those of
RISEQ_DATA, or files.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from riseq.engine.dialogue import DialogueWords, find_initials
from riseq.engine.simplifier import Simplifier
from riseq.text.lexicon import find_stem, is_content
from riseq.text.words import find_stems, forms
from riseq.types import Example, InputError

SETS = ("canard/test.qonly", "canard/test.qa", "cast19/test.qonly", "everyday/suite")


def find_violations(example: Example, text: str) -> list[str]:
    """Return the content words of the question that ``text`` lost though the dialogue gives no reason to."""
    words, kept, said = forms(example.question), find_stems([text]), find_stems(example.context)
    dialogue = DialogueWords(example.context)
    lost = []
    for index, word in enumerate(words):
        if not is_content(word) or find_stem(word) in kept | said or dialogue.find_spelled(word):
            continue
        # "the new iPhone" after "iPhones", "the United Nations" after "UN".
        phrase = list(takewhile(is_content, words[index:]))
        start = index - len(list(takewhile(is_content, reversed(words[:index]))))
        whole = [*words[start:index], *phrase]
        short = any(
            find_initials(whole[first:last]) in dialogue
            for first in range(index - start + 1)
            for last in range(max(index - start + 1, first + 2), len(whole) + 1)
        )
        if not short and said.isdisjoint(map(find_stem, phrase[1:])):
            lost.append(word)
    return lost


def pair_unrelated(examples: Sequence[Example], count: int, seed: int = 1) -> Iterator[Example]:
    """Yield questions after the dialogues of others with which they share no content word."""
    rng = np.random.default_rng(seed)
    dialogues = [example.context for example in examples if example.context]
    for index in rng.permutation(len(examples))[:count]:
        asked = find_stems([examples[index].question])
        for _ in range(50):
            context = dialogues[rng.integers(len(dialogues))]
            if asked.isdisjoint(find_stems(context)):
                yield replace(examples[index], context=context)
                break


def simplify(model: Simplifier, examples: Iterable[Example]) -> list[str]:
    """Return the grounded result for each example."""
    return [result.text for result in model.batch((example.question, example.context) for example in examples)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts and return the exit code: 2 for a user's mistake, told in one line."""
    from riseq.data.dataset import load_dataset
    from riseq.metrics.behaviour import load_cases

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--model")
    parser.add_argument("--data", nargs="*", default=SETS)
    parser.add_argument("--unrelated", default="canard/test.qa")
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args(arguments)
    try:
        model = Simplifier.load(asked.model)
        for name in asked.data:
            suite = Path(name).name.startswith("suite")
            examples = ([case.example for case in load_cases(name)] if suite else load_dataset(name))[: asked.limit]
            texts = simplify(model, examples)
            found = [find_violations(example, text) for example, text in zip(examples, texts, strict=True)]
            print(f"{name}: {len(examples):,} results, {sum(map(bool, found))} with a word lost that nobody said")
            for example, text, lost in zip(examples, texts, found, strict=True):
                if lost and asked.show:
                    print(f"  {lost} {example.question!r} -> {text!r}")
        pairs = list(pair_unrelated(load_dataset(asked.unrelated), asked.pairs))
        texts = simplify(model, pairs)
        changed = [(pair, text) for pair, text in zip(pairs, texts, strict=True) if text != pair.question]
        same = 100 * (1 - len(changed) / len(pairs))
        print(f"{asked.unrelated} after unrelated dialogues: {len(pairs):,} questions, {same:.1f}% unchanged")
        for pair, text in changed if asked.show else ():
            print(f"  {pair.question!r} -> {text!r}")
    except InputError as error:
        print(f"judge_grounding: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
