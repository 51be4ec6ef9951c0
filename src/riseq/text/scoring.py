"""The paper's scoring form of a text: lower-cased BERT word pieces, cut to 30, joined back to words.

NOTICE: ``bert_uncased_vocab.txt`` beside this file is the vocabulary of bert-base-uncased, Copyright 2018 The Google AI
Language Team Authors, under the Apache License, Version 2.0 (https://github.com/google-research/bert), unchanged.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from riseq.text.pieces import Pieces
from riseq.text.words import split

LIMIT = 30
"""How many word pieces of an utterance the paper keeps."""

CACHED_WORDS = 100_000


def scoring_form(text: str, limit: int = LIMIT) -> str:
    """Return the first ``limit`` word pieces of ``text`` joined to words; a word BERT can't spell is ``[UNK]``."""
    pieces: list[str] = []
    for word in split(text):
        if len(pieces) >= limit:
            break
        pieces += _spell(word.form)
    return " ".join(pieces[:limit]).replace(" ##", "")


@lru_cache(maxsize=1)
def load_bert_pieces() -> Pieces:
    """Return BERT's uncased vocabulary, which comes with the package; it is read once."""
    return Pieces.load(Path(__file__).with_name("bert_uncased_vocab.txt"))


@lru_cache(maxsize=CACHED_WORDS)
def _spell(form: str) -> tuple[str, ...]:
    return load_bert_pieces().spell(form)
