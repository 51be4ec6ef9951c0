"""Templates around copied spans: which are learnt, and all ways to say words against plain searches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riseq.core.batch import index_phrases
from riseq.core.copies import find_copies, find_same, find_ways, write_copies
from riseq.core.copyable import Copyable, PackedTemplates, make_copyable, pack_templates
from riseq.core.packed import Interner, pack
from riseq.core.templates import BARE, TemplateVocabulary, find_splits
from riseq.types import InputError

words = st.integers(1, 3)
rows = st.lists(st.lists(st.integers(0, 3), max_size=8).map(lambda row: [0, *row]), min_size=1, max_size=3)
sides = st.lists(words, max_size=2).map(tuple)
Templates = list[tuple[tuple[int, ...], tuple[int, ...]]]
NONE: Templates = [((), ())]
templates = st.lists(st.tuples(sides, sides), max_size=4, unique=True).map(
    lambda found: [one for one in found if any(one)]
)


def make(lists: list[list[int]], longest: int, given_templates: Templates) -> Copyable:
    every = [*NONE, *given_templates]
    packed = PackedTemplates(*(pack([one[side] for one in every]) for side in (0, 1)))
    return make_copyable(pack(lists), longest, packed)


def say(row: list[int], longest: int, given_templates: Templates) -> dict[int, tuple[int, ...]]:
    """Return the words of every span of a row in every template, by number."""
    every = [*NONE, *given_templates]
    found = {}
    for i in range(len(row)):
        for n in range(1, longest + 1):
            if i + n <= len(row) and 0 not in row[i : i + n]:
                for t, (before, after) in enumerate(every):
                    found[(i * longest + n - 1) * len(every) + t] = (*before, *row[i : i + n], *after)
    return found


@settings(deadline=None)  # the first call compiles
@given(rows, st.integers(1, 3), templates, st.lists(words, min_size=1, max_size=6), st.data())
def test_all_ways_to_say_words_are_found(
    lists: list[list[int]], longest: int, given_templates: Templates, said: list[int], data: st.DataObject
) -> None:
    copyable, count = make(lists, longest, given_templates), len(given_templates) + 1
    row = data.draw(st.lists(st.integers(0, len(lists) - 1), min_size=1, max_size=4))
    start = [data.draw(st.integers(0, len(said) - 1)) for _ in row]
    end = [data.draw(st.integers(at + 1, len(said))) for at in start]
    asked = np.array(row), np.array(said, dtype=np.int32), np.array(start), np.array(end)
    of, spans, of_templates = find_ways(copyable, *asked)
    first = find_copies(copyable, *asked)
    for k in range(len(row)):
        every = say(lists[row[k]], longest, given_templates)
        wanted = {number for number, cut in every.items() if list(cut) == said[start[k] : end[k]]}
        assert {int(number) for number in (spans * count + of_templates)[of == k]} == wanted
        assert (of == k).sum() == len(wanted), "each once"
        assert first[k] == min(wanted, key=lambda number: (number % count, number), default=-1)


@settings(deadline=None)
@given(rows, st.integers(1, 3), templates)
def test_what_is_written_is_the_span_in_its_template(
    lists: list[list[int]], longest: int, given_templates: Templates
) -> None:
    copyable = make(lists, longest, given_templates)
    wanted = [
        (k, number, cut) for k, row in enumerate(lists) for number, cut in say(row, longest, given_templates).items()
    ]
    made = write_copies(
        copyable, np.array([k for k, *_ in wanted], dtype=np.int64), np.array([n for _, n, _ in wanted], dtype=np.int64)
    )
    assert [tuple(row.tolist()) for row in made] == [cut for *_, cut in wanted]


def test_what_lies_in_no_utterance_is_not_written() -> None:
    with pytest.raises(ValueError, match="within an utterance"):
        write_copies(make([[0, 1, 2]], 2, [((1,), ())]), np.array([0]), np.array([1]))
    with pytest.raises(ValueError, match="expected bare ones"):
        find_same(make([[0, 1]], 1, [((1,), ())]), index_phrases(pack([[1]])))


def test_the_most_frequent_templates_are_those_around_the_longest_span() -> None:
    spans = {("alien",), ("the",), ("the", "film"), ("film",)}
    phrases = [("of", "alien"), ("of", "alien"), ("in", "the", "film"), ("in", "the", "film"), ("alien", "'", "s")]
    found = TemplateVocabulary.from_phrases(((phrase, spans) for phrase in phrases), 9)
    assert found.to_lines() == ["{}", "in {}", "of {}"], "'s is needed once, and in the {} has a longer span"
    assert TemplateVocabulary.from_phrases(((phrase, spans) for phrase in phrases), 1).to_lines() == ["{}", "in {}"]
    assert len(TemplateVocabulary.from_phrases([], 9)) == 1


def test_a_phrase_is_split_in_every_way() -> None:
    assert list(find_splits(("a",))) == [(BARE, ("a",))]
    assert list(find_splits(("a", "b"))) == [(BARE, ("a", "b")), (((), ("b",)), ("a",)), ((("a",), ()), ("b",))]


def test_templates_come_back_from_their_lines() -> None:
    made = TemplateVocabulary((BARE, (("of", "the"), ()), (("the",), ("'", "s"))))
    assert made.to_lines() == ["{}", "of the {}", "the {} ' s"]
    assert TemplateVocabulary.from_lines(made.to_lines()) == made
    interner = Interner()
    packed = pack_templates(made, interner)
    assert interner.unpack(packed.before) == [[], ["of", "the"], ["the"]]
    assert interner.unpack(packed.after) == [[], [], ["'", "s"]]


@pytest.mark.parametrize("lines", [["of {}"], [], ["{}", "{}"], ["{}", "of"], ["{}", "{} {}"]], ids=str)
def test_wrong_lines_are_refused(lines: list[str]) -> None:
    with pytest.raises(InputError, match="templates"):
        TemplateVocabulary.from_lines(lines)


def test_the_bare_span_is_first() -> None:
    with pytest.raises(ValueError, match="bare span first"):
        TemplateVocabulary(((("of",), ()),))
