"""The pairs that RISE learns from, each with what the network is told of the words that may go.

A network that only sees pairs learns that new words may go, for in half of CANARD's the target leaves out content words
that its context lacks. So every pair comes with the truth of it (are all words that go said in the dialogue?), once
without being told; and dialogues are mixed so that a question may stay as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np

from riseq.core.phrases import PhraseVocabulary
from riseq.data.corpora import read_everyday
from riseq.data.dataset import load_dataset, locate_dataset
from riseq.model.inputs import Condition
from riseq.text.words import find_stems
from riseq.train.augment import borrow_answers, drop_answers, swap_entities
from riseq.train.corpus import load_pairs, split_pair
from riseq.train.settings import RiseSettings
from riseq.types import Example

Pair = tuple[Example, Condition]
UNTOLD = 0.25
"""The share of the pairs of ``with_truth`` that are also used without their truth."""
BARE = 0.15
"""The share of everyday dialogues that come without their answers, where the questions alone say what goes."""
AFTER = 0.2
"""The share of foreign dialogues that come after a pair's own: there the question keeps its name."""


def gather_pairs(settings: RiseSettings, rng: np.random.Generator) -> tuple[list[Pair], PhraseVocabulary]:
    """Return the training pairs with what is made from them, and the phrases of the pairs as they came."""
    plain, answered = list[Example](), list[Example]()
    for name, found in load_pairs(settings):
        (answered if ".qa" in Path(name).name else plain).extend(found)
    examples = plain + answered
    everyday = [one for name in settings.everyday for one in read_everyday(locate_dataset(name))][: settings.limit]
    phrases = PhraseVocabulary.from_pairs(map(split_pair, examples + everyday), settings.phrases, settings.min_count)
    answers = [utterance for e in answered for utterance in e.context[1::2]]
    every = [
        *examples,
        *drop_answers(answered, settings.drop_answers, rng),
        *borrow_answers(plain, answers, settings.borrow_answers, rng),
        *swap_entities(examples, settings.swap, rng),
    ]
    pairs = [(e, Condition.UNKNOWN) for e in every]
    if settings.grounded:
        truths = [e for name in settings.with_truth for e in load_dataset(name)[: settings.limit] if e.context]
        pairs += [(e, find_condition(e)) for e in every + truths]
        pairs += [(e, Condition.UNKNOWN) for e in truths if rng.random() < UNTOLD]
        pairs += mix_unrelated(examples + truths, settings.unrelated, rng)
        pairs += mix_foreign([*examples, *truths, *everyday], settings.foreign, rng)
    for copy in range(settings.everyday_copies):
        pairs += [(e, Condition.GROUNDED) for e in choose_forms(everyday, copy, rng)]
    return pairs, phrases


def find_condition(example: Example) -> Condition:
    """Return whether every content word that the target leaves out was said in the dialogue."""
    lost = find_stems([example.question]) - find_stems([example.target or ""])
    return Condition.GROUNDED if lost <= find_stems(example.context) else Condition.UNGROUNDED


def choose_forms(pairs: Sequence[Example], copy: int, rng: np.random.Generator) -> list[Example]:
    """Return one form of each question: the best in every other copy, the others in turn in the rest."""
    chosen = []
    for _, group in groupby(pairs, key=lambda pair: pair.id):
        forms = list(group)
        form = forms[0] if copy % 2 == 0 else forms[(copy // 2 + 1) % len(forms)]
        bare = replace(form, context=form.context[::2])
        chosen.append(bare if rng.random() < BARE and find_condition(bare) is Condition.GROUNDED else form)
    return chosen


def mix_unrelated(pairs: Sequence[Example], share: float, rng: np.random.Generator) -> list[Pair]:
    """Return questions after dialogues with which they share no content word: they stay as they are."""
    made: list[Pair] = []
    for _ in range(int(share * len(pairs))):
        one, other = (pairs[int(k)] for k in rng.integers(len(pairs), size=2))
        if not find_stems([one.question]) & find_stems(other.context):
            example = Example(f"{one.id}/unrelated", other.context, one.question, one.question)
            made.append((example, Condition.GROUNDED))
    return made


def mix_foreign(pairs: Sequence[Example], share: float, rng: np.random.Generator) -> list[Pair]:
    """Return pairs with a foreign dialogue before theirs, where they still refer, or after it, where they stay."""
    made: list[Pair] = []
    for _ in range(int(share * len(pairs))):
        one, other = (pairs[int(k)] for k in rng.integers(len(pairs), size=2))
        if find_stems([one.question, *one.context]) & find_stems(other.context):
            continue
        turns = 2 if len(other.context) > 1 else 1
        foreign = other.context[:turns] if rng.random() < 0.5 else other.context[:4]
        if rng.random() >= AFTER:
            joined = replace(one, id=f"{one.id}/before", context=(*foreign, *one.context))
            made.append((joined, find_condition(joined)))
        elif find_condition(one) is Condition.GROUNDED:
            context = (*one.context[-4:], *foreign)
            made.append((Example(f"{one.id}/after", context, one.question, one.question), Condition.GROUNDED))
    return made
