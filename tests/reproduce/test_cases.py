"""Cases chosen by rule, and diffs of words."""

from __future__ import annotations

import pytest

from riseq.reproduce.cases import ChosenCase, choose_cases, diff_words
from riseq.reproduce.document import Piece, needs_space

DIFFS = [
    ("Who saw Alien?", "Who saw Alien?", [("same", "Who saw Alien?")]),
    ("Who saw Alien?", "Who saw it?", [("same", "Who saw"), ("old", "Alien"), ("new", "it"), ("same", "?")]),
    ("Who saw Ira Hayes?", "Who saw him?", [("same", "Who saw"), ("old", "Ira Hayes"), ("new", "him"), ("same", "?")]),
    ("In 1984, who won?", "Who won?", [("old", "In 1984,"), ("same", "Who won?")]),
    ("Why?", "Why not?", [("same", "Why"), ("new", "not"), ("same", "?")]),
    ("Why?", "", [("old", "Why?")]),
]


@pytest.mark.parametrize(("before", "after", "expected"), DIFFS)
def test_a_diff_has_what_went_before_what_came(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    assert [(piece.kind, piece.text) for piece in diff_words(before, after)] == expected


def test_a_diff_read_without_its_old_pieces_is_the_text_after() -> None:
    after = "Did he win any awards for it, then?"
    text = ""
    for piece in diff_words("In 1999, did Nolan win any awards for Memento?", after):
        if piece.kind != "old":
            text += f" {piece.text}" if text and needs_space(piece.text) else piece.text
    assert text == after
    assert Piece("same", "x") != Piece("new", "x")


def test_the_rules_choose_by_distance_and_none_twice() -> None:
    questions = ["a b c d", "a b c", "a b", "a", "a b c d e"]
    targets = ["a", "a", "a b", "a", "a b c d e"]
    texts = ["a", "a", "x", "a", "x y z"]
    others = [["a", "p q r s t", "x", "a", "x y z"]]
    chosen = choose_cases(
        questions, targets, texts, others, {"best gain": 1, "worst loss": 2, "largest disagreement": 5}
    )
    assert chosen == [
        ChosenCase(0, "best gain", 3.0),
        ChosenCase(4, "worst loss", 5.0),
        ChosenCase(2, "worst loss", 2.0),
        ChosenCase(1, "largest disagreement", 5.0),
    ]


def test_nothing_is_chosen_where_nothing_changes() -> None:
    assert choose_cases(["a"], ["a"], ["a"], [["a"]]) == []
