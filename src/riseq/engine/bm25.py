"""BM25: texts that share words of their subject, by stem, with a query; the rarer the word, the more it counts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from riseq.controls import check_count
from riseq.text.lexicon import GENERIC_WORDS, find_stem, is_content
from riseq.text.words import forms
from riseq.types import InputError

Floats = npt.NDArray[np.float64]
SATURATION, LENGTH = 1.5, 0.75
"""BM25's k1 and b, the usual ones."""
_GENERIC = frozenset(map(find_stem, GENERIC_WORDS))


@dataclass(frozen=True, slots=True)
class Hit:
    """A text that was found."""

    index: int
    """Its place among the texts."""
    score: float


class Bm25:
    """Texts, read once and searched any number of times."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Read the texts."""
        if isinstance(texts, str):
            raise InputError("the texts are a string, expected a list of strings")
        subjects = [find_subject(text) for text in texts]
        self.sizes = np.array([len(one) for one in subjects], dtype=np.int64)
        """How many different stems each text has."""
        lengths = np.array([one.total() for one in subjects], dtype=np.float64)
        norms = SATURATION * (1 - LENGTH + LENGTH * lengths / max(lengths.mean(), 1.0)) if subjects else lengths
        places: defaultdict[str, list[int]] = defaultdict(list)
        for index, stems in enumerate(subjects):
            for stem in stems:
                places[stem].append(index)
        self._values: dict[str, tuple[npt.NDArray[np.intp], Floats]] = {}
        for stem, found in places.items():
            rarity = np.log1p((len(subjects) - len(found) + 0.5) / (len(found) + 0.5))
            times = np.array([subjects[one][stem] for one in found], dtype=np.float64)
            self._values[stem] = (np.array(found), rarity * times * (SATURATION + 1) / (times + norms[found]))

    def __len__(self) -> int:
        return len(self.sizes)

    def score(self, weights: Mapping[str, float]) -> tuple[Floats, Floats]:
        """Return the score of each text for stems with their weights, and how many of the stems it has."""
        scores, shared = np.zeros(len(self)), np.zeros(len(self))
        for stem, weight in weights.items():
            if stem in self._values:
                found, values = self._values[stem]
                scores[found] += weight * values
                shared[found] += 1
        return scores, shared

    def search(self, query: str, n: int = 10) -> list[Hit]:
        """Return at most ``n`` texts that share a word with ``query``, the best first, of equals the first.

        >>> Bm25(["The Nile is long.", "Saturn has rings.", "Rings of gold."]).search("What are Saturn's rings?", 1)
        [Hit(index=1, score=...)]
        """
        check_count("n", n)
        scores, _ = self.score({stem: float(count) for stem, count in find_subject(query).items()})
        ranked = np.argsort(-scores, kind="stable")[:n].tolist()
        return [Hit(index, float(scores[index])) for index in ranked if scores[index] > 0]


def find_subject(text: str) -> Counter[str]:
    """Return how often each word, by stem, is in ``text`` that says what it is about."""
    stems = map(find_stem, filter(is_content, forms(text)))
    return Counter(stem for stem in stems if stem not in _GENERIC)
