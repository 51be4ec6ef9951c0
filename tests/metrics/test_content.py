"""Which content words are lost, and what a gold edit does."""

from __future__ import annotations

import pytest

from riseq.metrics.content import Kind, Loss, count_lost, find_changes, find_kind, measure_loss
from riseq.text.lexicon import CLOSED_CLASS, is_content


@pytest.mark.parametrize("word", ["film", "1984", "ıstanbul", "u2"])
def test_open_classes_carry_content(word: str) -> None:
    assert is_content(word)


@pytest.mark.parametrize("word", ["the", "he", "did", "?", "'", "s", "why", "any"])
def test_closed_classes_and_marks_do_not(word: str) -> None:
    assert not is_content(word)


def test_the_list_is_of_lower_cased_words() -> None:
    assert all(word == word.lower() and word.isalpha() for word in CLOSED_CLASS)


def test_words_are_lost_as_often_as_they_are_missing() -> None:
    target = "did he win awards for films after films ?"
    assert count_lost("did he win ?", target) == 3
    assert count_lost("did he win films and awards ?", target) == 1
    assert count_lost(target, target) == 0


def test_shares_are_of_words_and_of_questions() -> None:
    texts = ["did he win any awards ?", "why did it sink in april 1912 ?"]
    targets = ["did he win any awards for films ?", "why did it sink ?"]
    assert measure_loss(texts, targets) == Loss(words=1 / 4, questions=1 / 2, extra=2 / 5)


def test_nothing_to_lose_is_no_loss() -> None:
    assert measure_loss(["why ?"], ["why ?"]) == Loss(0.0, 0.0, 0.0)


CASES = [
    ("When was Alien released?", "When was it released?", Kind.ANAPHORA, "a name becomes a pronoun"),
    ("Did Ira Hayes have a wife?", "Did he have a wife?", Kind.ANAPHORA, "so does a name of two words"),
    ("What is Emily Dickinson's best poem?", "What is her best poem?", Kind.ANAPHORA, "and a possessive"),
    ("Who sang on Pale Green Ghosts?", "Who sang on this album?", Kind.ANAPHORA, "a pointing word with its noun"),
    ("What are the symptoms of throat cancer?", "What are the symptoms?", Kind.ELLIPSIS, "a tail is dropped"),
    ("In 1984 who won the war?", "Who won the war?", Kind.ELLIPSIS, "a head is dropped"),
    ("Did Nolan win an Oscar for Memento?", "Did he win an Oscar?", Kind.BOTH, "a pronoun here, a gap there"),
    ("Why is the sky blue?", "Why is the sky blue?", Kind.UNCHANGED, "nothing happens"),
    ("Why is the sky blue?", "why is the sky BLUE ?", Kind.UNCHANGED, "case and spacing are nothing"),
    ("Who was the director of Alien?", "Who was the maker of Alien?", Kind.REWORDED, "one content word for another"),
    ("Where is it to be found?", "Where is it found?", Kind.REWORDED, "only closed-class words go"),
    ("Did the band tour?", "Did they tour?", Kind.ANAPHORA, "the article goes with its noun"),
    ("What else did he do?", "What did he do?", Kind.REWORDED, "a pronoun that was there is no anaphora"),
]


@pytest.mark.parametrize(("question", "target", "kind", "why"), CASES, ids=[case[3] for case in CASES])
def test_the_rule(question: str, target: str, kind: Kind, why: str) -> None:
    assert find_kind(question, target) is kind, why


def test_changes_have_what_went_and_what_came() -> None:
    changes = list(find_changes("Did Nolan win an Oscar for Memento?", "Did he win an Oscar?"))
    assert changes == [(["nolan"], ["he"]), (["for", "memento"], [])]
