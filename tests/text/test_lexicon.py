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
