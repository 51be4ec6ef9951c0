"""What a gold edit does, case by case."""

from __future__ import annotations

import pytest

from riseq.metrics.content import Kind, Place, find_kind, find_places

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


def test_places_have_what_went_and_what_came() -> None:
    places = list(find_places("Did Nolan win an Oscar for Memento?", "Did he win an Oscar?"))
    assert places == [Place(("nolan",), ("he",)), Place(("for", "memento"), ())]
