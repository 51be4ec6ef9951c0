"""Copied phrases (``riseq.core.copyable``) written and found, on packed integers. Needs the extra ``train``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from riseq.core import copy_kernels as compiled
from riseq.core.batch import PhraseIndex
from riseq.core.copyable import Copyable
from riseq.core.packed import Ints, Offsets, Packed


def write_copies(copyable: Copyable, row: Offsets, numbers: Offsets) -> Packed:
    """Return the words of these numbers: the span in its template."""
    starts, ends = copyable.find_slices(row, numbers)
    template = numbers % len(copyable.templates)
    before, after = copyable.templates.before, copyable.templates.after
    lengths = before.lengths[template] + ends - starts + after.lengths[template]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = np.empty(offsets[-1], dtype=np.int32)
    compiled.write(copyable.words.values, starts, ends, *copyable.templates.arrays, template, values, offsets)
    return Packed(values, offsets)


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
