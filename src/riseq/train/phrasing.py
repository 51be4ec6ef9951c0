"""The phrasing policy's scores of a batch's spans by words, whichever ways there are to say them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core.batch import PhraseIndex, lookup_phrases, phrase_slices
from riseq.core.copies import find_copies, find_ways, write_copies
from riseq.core.copyable import LIKELIEST_COLUMNS, LIKELIEST_TEMPLATES, Copyable
from riseq.core.packed import Ints
from riseq.model.network import NEVER
from riseq.train.actions import Index, gumbel_argmax

Put = Callable[[NDArray[Any]], Tensor]


class PhraseScores(Protocol):
    """Log-probabilities of phrases at U spans; a phrase is its words, and has one id (``riseq.core.copyable``)."""

    def take(self, at_N: Index, chosen_N: Index) -> Tensor:
        """Return the log-probability of each phrase at its span; of -1, no phrase, any number."""

    def best(self) -> Index:
        """Return the likeliest phrase of each span."""

    def draw(self, at_N: Index) -> Index:
        """Return a phrase for each of these spans, drawn."""

    def settle(self, at_N: Index, ids_N: Index) -> Index:
        """Return the id that stands for the words of each phrase."""


@dataclass(frozen=True, slots=True)
class WordScores:
    """Scores with a column for all words that can be said."""

    scores_UP: Tensor
    put: Put

    def take(self, at_N: Index, chosen_N: Index) -> Tensor:
        """Return the log-probability of each phrase at its span."""
        return self.scores_UP[self.put(at_N), self.put(chosen_N.clip(0))]

    def best(self) -> Index:
        """Return the likeliest phrase of each span."""
        return _fetch(self.scores_UP.argmax(-1))

    def draw(self, at_N: Index) -> Index:
        """Return a phrase for each of these spans, drawn."""
        return _fetch(gumbel_argmax(self.scores_UP.detach()[self.put(at_N)]))

    def settle(self, at_N: Index, ids_N: Index) -> Index:  # noqa: ARG002 (they are settled)
        """Return the ids as they are."""
        return ids_N


@dataclass(frozen=True, slots=True)
class TemplateScores:
    """Scores of phrases that may be spans in templates: there are too many to have a column each.

    A way to say words is a phrase of the vocabulary, or a span and a template, which are chosen apart from each other.
    """

    scores_UP: Tensor
    """Of the vocabulary, and of spans behind it in whatever template."""
    templates_UT: Tensor
    row_U: Index
    copyable: Copyable
    index: PhraseIndex
    put: Put

    def take(self, at_N: Index, chosen_N: Index) -> Tensor:
        """Return the log-probability of each phrase at its span: the sum over all ways to say its words."""
        known = np.flatnonzero(chosen_N >= 0)
        at, row = at_N[known], self.row_U[at_N[known]]
        words, start, end = self._write(row, chosen_N[known])
        of, spans, templates = find_ways(self.copyable, row, words, start, end)
        said = lookup_phrases(words, start, end, self.index)
        in_vocabulary = np.flatnonzero(said >= 0)
        of_M = np.concatenate([in_vocabulary, of])
        column_M = np.concatenate([said[in_vocabulary], len(self.index.phrases) + spans])
        template_M = np.concatenate([np.full_like(in_vocabulary, -1), templates])
        at_M = self.put(at[of_M])
        added_M = self.templates_UT[at_M, self.put(template_M.clip(0))]
        ways_M = self.scores_UP[at_M, self.put(column_M)] + added_M * self.put(template_M >= 0)
        return _sum_ways(ways_M, self.put(known[of_M]), len(chosen_N))

    def best(self, columns: int = LIKELIEST_COLUMNS, templates: int = LIKELIEST_TEMPLATES) -> Index:
        """Return the likeliest phrase of each span, of those that its likeliest ways say."""
        scores, by_template = self.scores_UP.detach(), self.templates_UT.detach()
        found_UJ = scores.topk(min(columns, scores.shape[1]), dim=1)
        found_UR = by_template.topk(min(templates, by_template.shape[1]), dim=1)
        copied_UJ = found_UJ.indices >= len(self.index.phrases)
        added_UJR = found_UR.values[:, None].expand(-1, copied_UJ.shape[1], -1) * copied_UJ[:, :, None]
        ways_UJR = found_UJ.values[:, :, None] + added_UJR
        # A phrase of the vocabulary has no template: one of its ways is enough.
        ways_UJR[:, :, 1:] = ways_UJR[:, :, 1:].masked_fill(~copied_UJ[:, :, None], 2 * NEVER)
        flat = ways_UJR.flatten(1)
        chosen_UC = flat.topk(min(columns, flat.shape[1]), dim=1).indices
        width = ways_UJR.shape[2]
        column = found_UJ.indices.gather(1, chosen_UC // width)
        template = found_UR.indices.gather(1, chosen_UC % width)
        at = np.repeat(np.arange(len(self.row_U)), chosen_UC.shape[1])
        ids = self.settle(at, self._make_ids(_fetch(column).ravel(), _fetch(template).ravel(), at))
        with torch.no_grad():
            sums_UC = self.take(at, ids).view(chosen_UC.shape)
        found: Index = ids.reshape(chosen_UC.shape)[np.arange(len(chosen_UC)), _fetch(sums_UC.argmax(1))]
        return found

    def draw(self, at_N: Index) -> Index:
        """Return a phrase for each of these spans, drawn: a way to say it."""
        at = self.put(at_N)
        column = _fetch(gumbel_argmax(self.scores_UP.detach()[at]))
        template = _fetch(gumbel_argmax(self.templates_UT.detach()[at]))
        return self.settle(at_N, self._make_ids(column, template, at_N))

    def settle(self, at_N: Index, ids_N: Index) -> Index:
        """Return the id that stands for the words of each phrase."""
        known = len(self.index.phrases)
        copied = np.flatnonzero(ids_N >= known)
        row = self.row_U[at_N[copied]]
        words, start, end = self._write(row, ids_N[copied])
        said = lookup_phrases(words, start, end, self.index)
        settled = ids_N.copy()
        settled[copied] = np.where(said >= 0, said, known + find_copies(self.copyable, row, words, start, end))
        return settled

    def _make_ids(self, column_N: Index, template_N: Index, at_N: Index) -> Index:
        """Return the ids of ways; a span that cannot be copied, which has next to no mass, is said to be no phrase."""
        known, copyable = len(self.index.phrases), self.copyable
        span_N = (column_N - known).clip(0)
        starts = copyable.words.offsets[self.row_U[at_N]] + span_N // copyable.longest
        inside = starts < copyable.words.offsets[self.row_U[at_N] + 1]
        fits = inside & (span_N % copyable.longest < copyable.room[np.where(inside, starts, 0)])
        copied = np.where(fits, known + span_N * len(copyable.templates) + template_N, -1)
        return np.where(column_N < known, column_N, copied)

    def _write(self, row_N: Index, ids_N: Index) -> tuple[Ints, Index, Index]:
        """Return words, and where in them each phrase starts and ends."""
        vocabulary, known = self.index.phrases, len(self.index.phrases)
        copied = np.flatnonzero(ids_N >= known)
        start, end = phrase_slices(vocabulary, np.where(ids_N < known, ids_N, -1))
        made = write_copies(self.copyable, row_N[copied], ids_N[copied] - known)
        start[copied], end[copied] = (len(vocabulary.values) + edge for edge in (made.offsets[:-1], made.offsets[1:]))
        return np.concatenate([vocabulary.values, made.values]), start, end


def _sum_ways(ways_M: Tensor, of_M: Tensor, count: int) -> Tensor:
    """Return the log of the sum of the probabilities of each phrase's ways; next to nothing where it has none."""
    largest_N = ways_M.new_full((count,), 2 * NEVER).scatter_reduce_(0, of_M, ways_M.detach(), "amax")
    sums_N = ways_M.new_zeros(count).index_add(0, of_M, (ways_M - largest_N[of_M]).exp())
    return largest_N + sums_N.clamp_min(1e-30).log()


def _fetch(tensor: Tensor) -> Index:
    found: Index = tensor.cpu().numpy()
    return found
