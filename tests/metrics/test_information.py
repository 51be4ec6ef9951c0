"""Which content words are lost."""

from __future__ import annotations

import pytest

from riseq.metrics.content import Loss, find_lost, measure_loss
from riseq.text.lexicon import CLOSED_CLASS, is_content


@pytest.mark.parametrize("word", ["film", "1984", "ıstanbul", "u2"])
def test_open_classes_carry_content(word: str) -> None:
    assert is_content(word)


@pytest.mark.parametrize("word", ["the", "he", "did", "?", "'", "s", "why", "any"])
def test_closed_classes_and_marks_do_not(word: str) -> None:
    assert not is_content(word)


def test_the_list_is_of_lower_cased_words() -> None:
    assert all(word == word.lower() and word.isalpha() for word in CLOSED_CLASS)


def test_lost_words_come_in_order_and_as_often_as_they_are_lost() -> None:
    target = "did he win awards for films after films ?"
    assert find_lost("did he win ?", target) == ["awards", "films", "films"]
    assert find_lost("did he win films and awards ?", target) == ["films"]
    assert find_lost(target, target) == []


def test_shares_are_of_words_and_of_questions() -> None:
    texts = ["did he win any awards ?", "why did it sink in april 1912 ?"]
    targets = ["did he win any awards for films ?", "why did it sink ?"]
    assert measure_loss(texts, targets) == Loss(words=1 / 4, questions=1 / 2, extra=2 / 5)


def test_nothing_to_lose_is_no_loss() -> None:
    assert measure_loss(["why ?"], ["why ?"]) == Loss(0.0, 0.0, 0.0)
