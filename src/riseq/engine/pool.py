"""What to ask next: the questions of a pool that fit a dialogue, less those that it has asked or answered already.

A question fits if it shares words of its subject, by stem, with the dialogue: BM25, in which the latest utterances
count the most, times the share of the question's own words that the dialogue has said. With embeddings, meaning counts
too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riseq.controls import check_count
from riseq.engine.bm25 import Bm25, Floats, find_subject
from riseq.engine.dialogue import DialogueWords, is_question
from riseq.text.lexicon import PRONOUNS, QUESTION_WORDS
from riseq.text.words import find_stems, forms
from riseq.types import InputError, Simplification

Embed = Callable[[Sequence[str]], Any]
"""What gives each text a row of numbers, near each other for what means the same: a sentence encoder's ``encode``."""
FADE = 0.4
"""What a question with its answer counts beside the next one, unless that refers back by a pronoun: talk moves on."""
LEAST = 0.1
"""How near the best score a question must be: sharing a word by chance is no reason to be asked."""
READ = 10
"""How many of the last utterances decide; by ``FADE`` older ones count little."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A question of a pool that fits a dialogue."""

    index: int
    """Its place in the pool."""
    question: str
    score: float
    """How well it fits; comparable within one dialogue and pool."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that may be asked next: its conversational form, and how well it fits the dialogue."""

    result: Simplification
    score: float
    index: int
    """The question's place in the pool."""

    @property
    def text(self) -> str:
        """The conversational question, to show."""
        return self.result.text

    @property
    def question(self) -> str:
        """The self-contained question, to answer."""
        return self.result.question

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON has it: the result's keys, ``score`` and ``index``."""
        return {**self.result.to_dict(), "score": self.score, "index": self.index}


class QuestionPool:
    """Self-contained questions, read once and ranked for any number of dialogues."""

    def __init__(self, questions: Iterable[str], embed: Embed | None = None) -> None:
        """Read the questions; ``embed`` is called once for all of them, and then once for each dialogue."""
        if isinstance(questions, str):
            raise InputError("the pool is a string, expected a list of questions")
        self.questions = tuple(questions)
        for index, question in enumerate(self.questions):
            if not isinstance(question, str):
                raise InputError(f"pool[{index}] is a {type(question).__name__}, expected a string")
        self._embed = embed
        self._words = [_Words.of(question) for question in self.questions]
        self._vectors = self._read_vectors(self.questions) if embed is not None and self.questions else None
        self._index = Bm25(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    def pick(self, context: Sequence[str], n: int = 3) -> list[Pick]:
        """Return at most ``n`` questions that fit the utterances of ``context``, oldest first, the best one first.

        Left out are those that the dialogue asked or answered already, those that say the same as a better one, and
        those that fit far worse than the best.
        """
        check_count("n", n)
        if not self.questions or not context:
            return []
        scores, dialogue = self._score(context), DialogueWords(context)
        picked: list[Pick] = []
        best = 0.0
        for index in np.argsort(-scores, kind="stable").tolist():
            score, words = float(scores[index]), self._words[index]
            if len(picked) == n or score <= 0 or score < LEAST * best:
                break
            if was_said(words, dialogue) or any(words.says_same(self._words[one.index]) for one in picked):
                continue
            best = best or score
            picked.append(Pick(index, self.questions[index], score))
        return picked

    def _score(self, context: Sequence[str]) -> Floats:
        scores, said_stems = self._index.score(_weigh_stems(context))
        scores *= said_stems / np.maximum(self._index.sizes, 1)
        if self._vectors is None:
            return scores
        said = [text for text in context if text.strip()][-READ:]
        turns = np.cumsum([0, *map(_opens_subject, reversed(said))])[:-1]
        fading = FADE ** turns[::-1].astype(np.float64)
        topic = _normalise(fading @ self._read_vectors(said)) if said else np.zeros(self._vectors.shape[1])
        near = np.maximum(self._vectors @ topic, 0)
        both: Floats = (scores / max(scores.max(), 1e-9) + near) / 2
        return both

    def _read_vectors(self, texts: Sequence[str]) -> Floats:
        assert self._embed is not None
        vectors = np.asarray(self._embed(list(texts)), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise InputError(
                f"embed gave {vectors.shape} for {len(texts)} texts, expected a row of finite numbers each"
            )
        return _normalise(vectors)


@dataclass(frozen=True, slots=True)
class _Words:
    """What of a question tells whether another one is the same: its content words, and what it asks for."""

    stems: frozenset[str]
    asks: str
    """Its question word ("where"), after "how" with the next one ("how long"); empty where it has none."""

    @classmethod
    def of(cls, question: str) -> _Words:
        """Return those of ``question``."""
        return cls(frozenset(find_stems([question])), _find_question_word(forms(question)))

    def says_same(self, other: _Words) -> bool:
        """Return whether one asks for the same as the other, with a word more or less."""
        return self.asks == other.asks and (self.stems <= other.stems or other.stems <= self.stems)


def was_said(question: _Words, dialogue: DialogueWords) -> bool:
    """Return whether an utterance has asked or answered the question.

    It has if it says all the question's content words, or with a pronoun ("Where was she born?") all those that are not
    from before it. Where it is a question, it must ask for the same: where, when, how long.
    """
    before: set[str] = set()
    for text in dialogue.context:
        words, said = forms(text), find_stems([text])
        new = question.stems - before if PRONOUNS.intersection(words) else question.stems
        if new and new <= said and (_find_question_word(words) == question.asks or not is_question(text)):
            return True
        before |= said
    return False


def _find_question_word(words: Sequence[str]) -> str:
    for index, word in enumerate(words):
        if word in QUESTION_WORDS:
            return " ".join(words[index : index + 2]) if word == "how" else word
    return ""


def _weigh_stems(context: Sequence[str]) -> dict[str, float]:
    """Return the subjects of the last utterances, each with the weight of the latest one that says it."""
    weights: dict[str, float] = {}
    weight = 1.0
    for text in reversed(context[-READ:]):
        for stem in find_subject(text):
            weights.setdefault(stem, weight)
        weight *= FADE if _opens_subject(text) else 1.0
    return weights


def _opens_subject(text: str) -> bool:
    """Return whether ``text`` is a question that does not refer back."""
    return is_question(text) and not PRONOUNS.intersection(forms(text))


def _normalise(vectors: Floats) -> Floats:
    """Return the vectors at length 1; one of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    normal: Floats = vectors / np.where(lengths == 0, 1, lengths)
    return normal
