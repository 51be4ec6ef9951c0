"""A training or validation set as packed integers: what the sampler and the network read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import MARKER
from riseq.core.packed import Interner, Packed, pack
from riseq.core.phrases import PhraseVocabulary
from riseq.model.inputs import encode_context
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Example, InputError

MAX_WORDS = 40
"""A longer question or target is left out of training: CANARD has one in a thousand, and the scores stop at 30."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pairs with their contexts; the marker is word 0 of every question and target."""

    contexts: Packed
    sources: Packed
    targets: Packed
    has_context: NDArray[np.bool_]
    examples: tuple[Example, ...]

    def __len__(self) -> int:
        return len(self.examples)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Every word that can stand in a question, and the pieces of each."""

    interner: Interner
    pieces: Pieces
    phrases: PhraseVocabulary

    def phrase_words(self) -> Packed:
        """Return the words of each phrase."""
        return self.interner.pack(self.phrases)

    def piece_table(self) -> Packed:
        """Return the pieces of each word, by its number; the marker's is [SEP]."""
        rows: list[Sequence[int]] = [[self.pieces.sep_id]]
        rows += [self.pieces.cut(self.interner.word(number)) for number in range(1, len(self.interner))]
        return pack(rows)


def split_pair(example: Example) -> tuple[list[str], list[str]]:
    """Return the words of an example's question and target, each after the marker."""
    if example.target is None:
        raise InputError(f"example {example.id}: no target; training and scoring need one")
    return [MARKER, *forms(example.question)], [MARKER, *forms(example.target)]


def build_corpus(
    examples: Iterable[Example], interner: Interner, pieces: Pieces, max_words: int | None = None
) -> Corpus:
    """Return the examples as packed integers; pairs with more than ``max_words`` words on a side are left out."""
    kept, sources, targets, contexts = [], [], [], []
    for example in examples:
        source, target = split_pair(example)
        if max_words is not None and max(len(source), len(target)) > max_words + 1:
            continue
        kept.append(example)
        sources.append(source)
        targets.append(target)
        contexts.append(encode_context(pieces, example.context).ids)
    return Corpus(
        contexts=pack(contexts),
        sources=interner.pack(sources),
        targets=interner.pack(targets),
        has_context=np.array([bool(example.context) for example in kept], dtype=np.bool_),
        examples=tuple(kept),
    )
