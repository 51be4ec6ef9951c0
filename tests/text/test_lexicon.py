"""Which words carry content."""

from __future__ import annotations

import pytest

from riseq.text.lexicon import find_stem, is_content


@pytest.mark.parametrize("word", ["film", "july", "2022", "élan", "data"])
def test_content(word: str) -> None:
    assert is_content(word)


@pytest.mark.parametrize("word", ["the", "in", "he", "?", "'", "s", "which", ""])
def test_no_content(word: str) -> None:
    assert not is_content(word)


def test_a_plural_is_its_singular() -> None:
    assert find_stem("films") == find_stem("film")
    assert find_stem("gas") == "gas"


@pytest.mark.parametrize(
    "forms",
    [
        "box boxes",
        "study studies studied studying",
        "pull pulls pulled",
        "make makes making made",
        "plan planned",
        "1990 1990s",
        "write writes wrote written writing",
        "freeze froze frozen",
        "shelf shelves",
        "crisis crises",
        "movie movies",
    ],
)
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len(set(map(find_stem, forms.split()))) == 1


def test_words_alike_keep_apart() -> None:
    words = ["string", "sting", "king", "bus", "press", "need", "speed", "thing", "bring", "red"]
    assert len(set(map(find_stem, words))) == len(words)
