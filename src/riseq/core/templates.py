"""Templates: words before and after one copied span, such as "of {}" or "the {} 's"; template 0 is the bare span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from riseq.core.phrases import Phrase
from riseq.types import InputError

Template = tuple[Phrase, Phrase]
"""The words before the span and those after it."""
BARE: Template = ((), ())
SPAN = "{}"
"""What stands for the span where a template is written down."""
MOST_WORDS = 3
"""More words before or after a span are no template: they would hardly occur twice."""


@dataclass(frozen=True)
class TemplateVocabulary:
    """Templates with the most frequent first, after the bare span."""

    templates: tuple[Template, ...] = (BARE,)

    def __post_init__(self) -> None:
        if not self.templates or self.templates[0] != BARE or len(set(self.templates)) != len(self.templates):
            raise ValueError("templates are different from each other, the bare span first")

    @classmethod
    def from_phrases(
        cls, phrases: Iterable[tuple[Phrase, Container[Phrase]]], size: int, min_count: int = 2
    ) -> TemplateVocabulary:
        """Return the ``size`` most frequent templates of ``phrases``, each with the spans that can be copied there.

        A phrase counts for the templates around the longest of its spans that can be copied.
        """
        counts: Counter[Template] = Counter()
        for phrase, spans in phrases:
            fitting = [(len(middle), template) for template, middle in find_splits(phrase) if middle in spans]
            longest = max((length for length, _ in fitting), default=0)
            counts.update(template for length, template in fitting if length == longest)
        del counts[BARE]
        often = (template for template, count in counts.items() if count >= min_count)
        return cls((BARE, *sorted(often, key=lambda one: (-counts[one], one))[:size]))

    @classmethod
    def from_lines(cls, lines: Iterable[str]) -> TemplateVocabulary:
        """Return the templates that ``to_lines`` wrote."""
        found: list[Template] = []
        for number, line in enumerate(lines, start=1):
            words = line.split()
            if words.count(SPAN) != 1:
                raise InputError(f"templates, line {number}: {line!r}, expected words around one {SPAN}")
            at = words.index(SPAN)
            found.append((tuple(words[:at]), tuple(words[at + 1 :])))
        if not found or found[0] != BARE or len(set(found)) != len(found):
            raise InputError(f"templates: expected different ones, {SPAN} first")
        return cls(tuple(found))

    def to_lines(self) -> list[str]:
        """Return one line a template, in order."""
        return [" ".join((*before, SPAN, *after)) for before, after in self.templates]

    def __len__(self) -> int:
        return len(self.templates)


def find_splits(phrase: Phrase) -> Iterator[tuple[Template, Phrase]]:
    """Yield every template that a phrase may have, with the span that it then has."""
    for before in range(min(MOST_WORDS, len(phrase) - 1) + 1):
        for after in range(min(MOST_WORDS, len(phrase) - before - 1) + 1):
            end = len(phrase) - after
            yield (phrase[:before], phrase[end:]), phrase[before:end]
