"""What "then" comes back as."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.times import complete_times, keep_times
from riseq.text.realise import Copied


@pytest.mark.parametrize(
    ("question", "phrase", "expected", "why"),
    [
        ("who ruled then ?", "berlin", "who ruled then ?", "a city is no time"),
        ("who sang then ?", "back in black", "who sang then ?", "nor is a title"),
        ("who flew then ?", "apollo 11", "who flew then ?", "a number makes no time"),
        ("who was king then ?", "1905", "who was king in 1905 ?", "a year"),
        ("who was king then ?", "in 1905", "who was king in 1905 ?", "with its preposition"),
        ("who was king since then ?", "1905", "who was king since 1905 ?", "or the question's"),
        ("who was king then ?", "the 1960s", "who was king in the 1960s ?", "a decade"),
        ("who sang then ?", "july 1980", "who sang in july 1980 ?", "a month"),
        ("who sang then ?", "may 19 , 2011", "who sang on may 19 , 2011 ?", "a day"),
        ("who sang then ?", "friday", "who sang on friday ?", "of the week"),
        ("who sang then ?", "summer", "who sang in summer ?", "a season"),
    ],
)
def test_then_is_a_time(question: str, phrase: str, expected: str, why: str) -> None:
    words, said = [MARKER, *question.split()], phrase.split()
    at = words.index("then")
    edits = [Edit(Op.SUBSTITUTE, tuple(said)) if k == at else KEEP for k in range(len(words))]
    mended, known = complete_times(words, edits, {at: Copied(0, 2, 2 + len(said))})
    assert " ".join(apply(words, mended)[1:]) == expected, why
    if mended[at].op is Op.KEEP:
        assert known == {}
    else:
        assert mended[at].phrase[known[at].before :] == tuple(said)


def test_other_words_stay() -> None:
    words = [MARKER, "did", "it", "then", "end"]
    other = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("ada",)), KEEP, KEEP]
    assert complete_times(words, other, {}) == (other, {})
    longer = [KEEP, KEEP, KEEP, Edit(Op.SUBSTITUTE, ("ada",)), Edit(Op.SUBSTITUTE)]
    assert complete_times(words, longer, {}) == (longer, {})


def test_a_time_of_the_vocabulary() -> None:
    mended, known = complete_times([MARKER, "who", "then"], [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("1905",))], {})
    assert mended[2].phrase == ("in", "1905")
    assert known == {}


NIGHTS = [
    (
        "are there rooms for that night ?",
        "that",
        "the",
        "in the eclipse",
        "are there rooms for that night ?",
        "no time",
    ),
    ("any hits that year ?", "that", "in 1981", "", "any hits in 1981 year ?", "a time"),
    ("any hits in that song ?", "that", "the", "in the film", "any hits in the song in the film ?", "no span of time"),
]


@pytest.mark.parametrize(
    ("question", "word", "new", "put_in", "wanted", "why"), NIGHTS, ids=[case[5] for case in NIGHTS]
)
def test_that_night_is_a_time(question: str, word: str, new: str, put_in: str, wanted: str, why: str) -> None:
    words = [MARKER, *question.split()]
    at = words.index(word)
    edits = [KEEP] * len(words)
    edits[at] = Edit(Op.SUBSTITUTE, tuple(new.split()))
    if put_in:
        edits[at + 1] = Edit(Op.INSERT, tuple(put_in.split()))
    assert " ".join(apply(words, keep_times(words, edits))[1:]) == wanted, why


def test_a_time_may_take_its_preposition_along() -> None:
    words = [MARKER, "did", "he", "sing", "at", "that", "time", "?"]
    run = [Edit(Op.SUBSTITUTE, ("in", "1983")), Edit(Op.SUBSTITUTE), Edit(Op.SUBSTITUTE)]
    edits = [*[KEEP] * 4, *run, KEEP]
    assert keep_times(words, edits) == edits
