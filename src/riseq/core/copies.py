"""Phrases that are copied: spans of consecutive words of what a policy reads, bare or in templates, on packed integers.

What a state's policy reads is a row of words with the marker before each utterance. A span of n words from word i of
its row on has the number ``i * longest + n - 1``, and in template t of T (``riseq.core.templates``; 0 is the bare one)
that number times T, plus t; as a phrase its id is that on top of the vocabulary's size. Several ways may say the same
words: the id that stands for all is the vocabulary's, or that of the first template's first span. Needs the extra
``train``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core import copy_kernels as compiled
from riseq.core.batch import PhraseIndex
from riseq.core.packed import Interner, Ints, Offsets, Packed, pack
from riseq.core.templates import TemplateVocabulary

MARKED = 0
"""The marker's integer (``riseq.core.packed.Interner``)."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedTemplates:
    """The words before and after a copied span, by template."""

    before: Packed
    after: Packed

    def __len__(self) -> int:
        return len(self.before)

    @property
    def arrays(self) -> tuple[Ints, Offsets, Ints, Offsets]:
        """The words as the kernels take them."""
        return self.before.values, self.before.offsets, self.after.values, self.after.offsets


BARE_ONLY = PackedTemplates(pack([[]]), pack([[]]))


def pack_templates(templates: TemplateVocabulary, interner: Interner) -> PackedTemplates:
    """Return templates in interned words."""
    return PackedTemplates(*(interner.pack([one[side] for one in templates.templates]) for side in (0, 1)))


@dataclass(frozen=True, slots=True, eq=False)
class Copyable:
    """Rows of words to copy from, at most ``longest`` at a time."""

    words: Packed
    longest: int
    room: Offsets
    """How many words can be copied from each word on, up to its utterance's end; none from a marker on."""
    templates: PackedTemplates = BARE_ONLY

    def find_slices(self, row: Offsets, numbers: Offsets) -> tuple[Offsets, Offsets]:
        """Return where the spans of these numbers start and end in the words' values, whatever their templates."""
        spans = numbers // len(self.templates)
        starts = self.words.offsets[row] + spans // self.longest
        counts = spans % self.longest + 1
        inside = starts < self.words.offsets[row + 1]
        if not inside.all() or (counts > self.room[starts]).any():
            raise ValueError("a span that is copied lies within an utterance of its row")
        return starts, starts + counts

    def write(self, row: Offsets, numbers: Offsets) -> Packed:
        """Return the words of these numbers: the span in its template."""
        starts, ends = self.find_slices(row, numbers)
        template = numbers % len(self.templates)
        before, after = self.templates.before, self.templates.after
        lengths = before.lengths[template] + ends - starts + after.lengths[template]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        values = np.empty(offsets[-1], dtype=np.int32)
        compiled.write(self.words.values, starts, ends, *self.templates.arrays, template, values, offsets)
        return Packed(values, offsets)


def make_copyable(words: Packed, longest: int, templates: PackedTemplates = BARE_ONLY) -> Copyable:
    """Return rows of words, each with a marker before every utterance, as what can be copied from."""
    if longest < 1:
        raise ValueError(f"a copied phrase has one word or more; got at most {longest}")
    if len(words) and (not words.lengths.min() or words.values[words.offsets[:-1]].any()):
        raise ValueError("a row of words to copy from starts with its marker")
    ends = np.append(np.flatnonzero(words.values == MARKED), len(words.values))
    at = np.arange(len(words.values))
    return Copyable(words, longest, np.minimum(ends[np.searchsorted(ends, at)] - at, longest), templates)


def find_copies(copyable: Copyable, row: Offsets, words: Ints, start: Offsets, end: Offsets) -> Offsets:
    """Return the number that stands for ``words[start:end]`` in row ``row``, -1 where it cannot be copied."""
    _check_slices(words, start, end)
    found = np.empty(len(start), dtype=np.int64)
    rows = copyable.words
    where = rows.values, rows.offsets, copyable.room, copyable.longest, *copyable.templates.arrays
    compiled.find_copies(*where, row, words, start, end, found)
    return found


def find_ways(
    copyable: Copyable, row: Offsets, words: Ints, start: Offsets, end: Offsets
) -> tuple[Offsets, Offsets, Offsets]:
    """Return every way to copy ``words[start:end]`` from row ``row``: which slice, the span's number, the template."""
    _check_slices(words, start, end)
    rows = copyable.words
    where = rows.values, rows.offsets, copyable.room, copyable.longest, *copyable.templates.arrays
    none = np.empty(0, dtype=np.int64)
    count = compiled.list_ways(*where, row, words, start, end, none, none, none)
    of, spans, templates = np.empty((3, count), dtype=np.int64)
    compiled.list_ways(*where, row, words, start, end, of, spans, templates)
    return of, spans, templates


def find_same(copyable: Copyable, index: PhraseIndex) -> NDArray[np.int32]:
    """Return the id that stands for each bare span's words, by word and by length, [words, longest].

    A span that cannot be copied has its own. Only where there are no templates.
    """
    if len(copyable.templates) > 1:
        raise ValueError("spans in templates have no table of equal words; expected bare ones")
    rows = copyable.words
    found = np.empty((len(rows.values), copyable.longest), dtype=np.int32)
    vocabulary = (index.phrases.values, index.phrases.offsets, index.hashes, index.ids)
    compiled.find_same(rows.values, rows.offsets, copyable.room, *vocabulary, found)
    return found


def _check_slices(words: Ints, start: Offsets, end: Offsets) -> None:
    if len(start) and (start.min() < 0 or (end <= start).any() or end.max() > len(words)):
        raise ValueError(f"a phrase is a slice of the {len(words)} words and not empty")
