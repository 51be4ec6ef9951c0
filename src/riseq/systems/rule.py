"""Rule: the paper's second baseline (Yu et al., 2020), anaphora and ellipsis by two hand-written rules.

A noun chunk that an earlier question already had becomes a pronoun: "it", or for a plural "they" or "them" by its role.
After a preposition, preposition and chunk are dropped instead. One replacement a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.systems.chunks import QUESTION_WORDS, Chunk, Chunker
from riseq.text.realise import realise
from riseq.text.words import Word, split
from riseq.types import Example, Simplification

BATCH = 256

Memory = frozenset[tuple[str, ...]]


class Rule:
    """Replaces or drops the first noun chunk of a question that the dialogue already had."""

    name = "rule"

    def __init__(self) -> None:
        self._chunker = Chunker()

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        """Yield each question with its repeated noun chunk replaced or dropped; unchanged where there is none."""
        remaining = iter(examples)
        while batch := list(islice(remaining, BATCH)):
            # The turns of one dialogue share most of their context: each utterance is parsed once a batch.
            texts = dict.fromkeys(text for one in batch if one.context for text in (*one.context, one.question))
            chunks = dict(zip(texts, self._chunker.read(texts), strict=True))
            for example in batch:
                if example.context:
                    memory = remember([chunks[utterance] for utterance in example.context])
                    yield rewrite(example, chunks[example.question], memory)
                else:
                    yield Simplification(example.question, example.question)


def remember(context: Sequence[Sequence[Chunk]]) -> Memory:
    """Return the chunks in memory after the utterances of ``context``: the new ones of the last that brought any."""
    memory: Memory = frozenset()
    for chunks in context:
        new = frozenset(chunk.words for chunk in chunks if not is_known(chunk, memory))
        memory = new or memory
    return memory


def is_known(chunk: Chunk, memory: Memory) -> bool:
    """Return whether ``chunk`` is one of the chunks in memory, or the words of a part of one."""
    size = len(chunk.words)
    return any(
        chunk.words == earlier[start : start + size] for earlier in memory for start in range(len(earlier) - size + 1)
    )


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
