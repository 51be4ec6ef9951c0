"""What phrases can be copied from: spans of consecutive words of what a policy reads, bare or in templates.

What a state's policy reads is a row of words with the marker before each utterance. A span of n words from word i of
its row on has the number ``i * longest + n - 1``, and in template t of T (``riseq.core.templates``; 0 is the bare one)
that number times T, plus t; as a phrase its id is that on top of the vocabulary's size. Several ways may say the same
words: the id that stands for all is the vocabulary's, or that of the first template's first span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from riseq.core.packed import Interner, Ints, Offsets, Packed, pack
from riseq.core.templates import TemplateVocabulary

MARKED = 0
"""The marker's integer (``riseq.core.packed.Interner``)."""
LIKELIEST_COLUMNS, LIKELIEST_TEMPLATES = 8, 4
"""How many phrases and spans, and how many templates, the likeliest, the best phrase is looked for among."""


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


def make_copyable(words: Packed, longest: int, templates: PackedTemplates = BARE_ONLY) -> Copyable:
    """Return rows of words, each with a marker before every utterance, as what can be copied from."""
    if longest < 1:
        raise ValueError(f"a copied phrase has one word or more; got at most {longest}")
    if len(words) and (not words.lengths.min() or words.values[words.offsets[:-1]].any()):
        raise ValueError("a row of words to copy from starts with its marker")
    ends = np.append(np.flatnonzero(words.values == MARKED), len(words.values))
    at = np.arange(len(words.values))
    return Copyable(words, longest, np.minimum(ends[np.searchsorted(ends, at)] - at, longest), templates)
