"""What a model can say, and the best of it at a span: a phrase of its vocabulary, or words copied from what it reads.

Words that can be said in several ways have the sum of all of them; ``riseq.train.phrasing`` finds the same in torch.
Dimensions in names: N spans, P what is scored, J columns and R templates that are looked at, M ways.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from riseq.core.copyable import LIKELIEST_COLUMNS, LIKELIEST_TEMPLATES
from riseq.core.phrases import Phrase, PhraseVocabulary
from riseq.core.templates import Template, TemplateVocabulary, find_splits
from riseq.engine.backends import ScoreArray
from riseq.text.lexicon import APOSTROPHES, ARTICLES, is_content

BARE_COLUMNS = 64
"""How many columns are looked at where there are no templates: training then knows the sums of all of them."""
IMPOSSIBLE = -1e3
"""The log-probability below which something cannot be said."""


class CopiedWords(NamedTuple):
    """Where words of a phrase come from: words ``first`` to ``stop`` of what is read."""

    first: int
    stop: int
    before: int
    """How many words of the phrase stand before them."""


class BestPhrase(NamedTuple):
    """The likeliest words at a span."""

    words: Phrase
    probability: float
    copied: CopiedWords | None = None
    """Their likeliest mention; None where they cannot be copied."""
    owner: BestPhrase | None = None
    """The likeliest copied words that say whose something is, where the likeliest words are an article alone."""


class _Way(NamedTuple):
    """One way to say words: its column in the scores, and its template."""

    column: int
    template: int
    copied: CopiedWords | None = None


@dataclass(frozen=True)
class Phrasing:
    """Everything that a model can say."""

    vocabulary: PhraseVocabulary
    copies: int = 0
    """The longest phrase, in words, that can be copied; 0: none."""
    templates: TemplateVocabulary = field(default_factory=TemplateVocabulary)

    @cached_property
    def _numbers(self) -> Mapping[Template, int]:
        return {template: number for number, template in enumerate(self.templates.templates)}

    def find_best(self, scores_NP: ScoreArray, read_N: Sequence[Sequence[str]]) -> list[BestPhrase]:
        """Return the best phrase of each span by a network's scores; ``read_N`` are the words that each copies from.

        A network that copies scores the vocabulary, then all spans of the longest row, then templates if it has any.
        """
        if not self.copies:
            best_N = scores_NP.argmax(-1).tolist()
            found = zip(best_N, scores_NP, strict=True)
            return [BestPhrase(self.vocabulary[best], math.exp(scores_P[best])) for best, scores_P in found]
        count = len(self.templates)
        templates_NT = scores_NP[:, -count:] if count > 1 else np.zeros((len(scores_NP), 1), dtype=np.float32)
        columns_NP = scores_NP[:, : scores_NP.shape[1] - count] if count > 1 else scores_NP
        found_N = self._list_likeliest(columns_NP, templates_NT, read_N)
        spans = [(span, words, way) for span, found in enumerate(found_N) for words, ways in found for way in ways]
        span_M, column_M, template_M = np.array([(span, way.column, way.template) for span, _, way in spans]).T
        # A phrase of the vocabulary has no template.
        added_M = np.where([way.copied is not None for *_, way in spans], templates_NT[span_M, template_M], 0)
        scores_M = (columns_NP[span_M, column_M] + added_M).astype(np.float64)
        return _sum_ways(len(scores_NP), spans, scores_M)

    def _list_likeliest(
        self, columns_NP: ScoreArray, templates_NT: ScoreArray, read_N: Sequence[Sequence[str]]
    ) -> list[list[tuple[Phrase, list[_Way]]]]:
        """Return for each span the words of its likeliest ways, each with all ways to say them."""
        most = LIKELIEST_COLUMNS if len(self.templates) > 1 else BARE_COLUMNS
        top_NJ, top_NR = _find_top(columns_NP, most), _find_top(templates_NT, LIKELIEST_TEMPLATES)
        copied_NJ = top_NJ >= len(self.vocabulary)
        likely_NJ = np.take_along_axis(columns_NP, top_NJ, 1)
        added_NJR = np.where(copied_NJ[:, :, None], np.take_along_axis(templates_NT, top_NR, 1)[:, None], -np.inf)
        added_NJR[:, :, 0] = np.where(copied_NJ, added_NJR[:, :, 0], 0)
        ways_NJR = likely_NJ[:, :, None] + added_NJR
        flat = ways_NJR.reshape(len(ways_NJR), -1)
        chosen_NM = _find_top(flat, most)
        column_NM = np.take_along_axis(top_NJ, chosen_NM // ways_NJR.shape[2], 1).tolist()
        template_NM = np.take_along_axis(top_NR, chosen_NM % ways_NJR.shape[2], 1).tolist()
        possible_NM = (np.take_along_axis(flat, chosen_NM, 1) > IMPOSSIBLE).tolist()
        found_N = []
        for columns, templates, possible, read in zip(column_NM, template_NM, possible_NM, read_N, strict=True):
            ways = zip(columns, templates, possible, strict=True)
            said = dict.fromkeys(self._say(column, template, read) for column, template, able in ways if able)
            places: dict[str, list[int]] = defaultdict(list)
            for place, word in enumerate(read):
                places[word].append(place)
            found_N.append([(words, list(self._find_ways(words, read, places))) for words in said])
        return found_N

    def _say(self, column: int, template: int, read: Sequence[str]) -> Phrase:
        """Return the words of one way."""
        span = column - len(self.vocabulary)
        if span < 0:
            return self.vocabulary[column]
        before, after = self.templates.templates[template]
        first = span // self.copies
        return (*before, *read[first : first + span % self.copies + 1], *after)

    def _find_ways(self, words: Phrase, read: Sequence[str], places: Mapping[str, Sequence[int]]) -> Iterator[_Way]:
        """Yield all ways to say ``words``; ``places`` has where each word is read."""
        if words in self.vocabulary:
            yield _Way(self.vocabulary.ids[words], 0)
        for template, middle in find_splits(words):
            number, count = self._numbers.get(template), len(middle)
            if number is None or count > self.copies:
                continue
            for first in places.get(middle[0], ()):
                if tuple(read[first : first + count]) == middle:
                    column = len(self.vocabulary) + first * self.copies + count - 1
                    yield _Way(column, number, CopiedWords(first, first + count, len(template[0])))


def _sum_ways(count: int, spans: Sequence[tuple[int, Phrase, _Way]], scores_M: NDArray[np.float64]) -> list[BestPhrase]:
    """Return for each of ``count`` spans the words with the largest sum of their ways' probabilities."""
    sums: dict[tuple[int, Phrase], float] = defaultdict(float)
    likeliest: dict[tuple[int, Phrase], tuple[float, CopiedWords]] = {}
    for (span, words, way), odds in zip(spans, np.exp(scores_M).tolist(), strict=True):
        key = span, words
        sums[key] += odds
        if way.copied is not None and odds >= likeliest.get(key, (0.0,))[0]:  # of equals the latest
            likeliest[key] = odds, way.copied
    best: list[BestPhrase | None] = [None] * count
    for (span, words), odds in sums.items():
        now = best[span]
        if now is None or odds > now.probability:
            mention = likeliest.get((span, words))
            best[span] = BestPhrase(words, min(odds, 1.0), None if mention is None else mention[1])
    found = [one for one in best if one is not None]
    return [
        one._replace(owner=_find_owner(span, sums, likeliest)) if ARTICLES.issuperset(one.words) and likeliest else one
        for span, one in enumerate(found)
    ]


def _find_owner(
    span: int,
    sums: Mapping[tuple[int, Phrase], float],
    likeliest: Mapping[tuple[int, Phrase], tuple[float, CopiedWords]],
) -> BestPhrase | None:
    """Return the likeliest copied words at a span that end in an apostrophe, or in one and an s."""
    owners = [key for key in likeliest if key[0] == span and _is_possessive(key[1])]
    if not owners:
        return None
    key = max(owners, key=sums.__getitem__)
    return BestPhrase(key[1], min(sums[key], 1.0), likeliest[key][1])


def _is_possessive(words: Phrase) -> bool:
    return not APOSTROPHES.isdisjoint(words[-2:]) and any(map(is_content, words))


def _find_top(scores_NP: ScoreArray, count: int) -> NDArray[np.int64]:
    """Return the columns of the ``count`` largest scores of each row, or of all there are, in no order."""
    width = scores_NP.shape[1]
    if count >= width:
        return np.broadcast_to(np.arange(width), scores_NP.shape)
    return np.argpartition(scores_NP, width - count, axis=1)[:, width - count :]
