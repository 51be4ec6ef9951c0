"""What a dialogue has said, and where."""

from __future__ import annotations

import pytest

from riseq.engine.dialogue import DialogueWords

CURIE = ["Who was Marie Curie?", "A physicist. Curie was born in Warsaw.", "Did she study at MIT?"]
MENTIONS = [
    (CURIE, "Marie Curie", (0, "Marie Curie"), "the whole name before a later part of it"),
    (CURIE, "Curie", (1, "Curie"), "of equals the latest"),
    (CURIE, "Pierre Curie", (1, "Curie"), "a part where nobody said more"),
    (CURIE, "the Massachusetts Institute of Technology", (2, "MIT"), "an acronym stands for its name"),
    (["The World Health Organization met."], "WHO's", None, "who is no content word"),
    (["The European Space Agency met."], "ESA", (0, "European Space Agency"), "a name stands for its acronym"),
    (["Do I need a visa for Japan?"], "Do I need a visa for", (0, "need a visa"), "small words lie between"),
    (["I made a cake. A cake?"], "making cakes", (0, "made a cake"), "words by their stems"),
    (CURIE, "where did she", None, "small words refer to nothing"),
    (CURIE, "Berlin", None, "nobody said it"),
    ([], "Berlin", None, "nobody said anything"),
]


@pytest.mark.parametrize(("context", "old", "expected", "why"), MENTIONS, ids=[case[3] for case in MENTIONS])
def test_mentions(context: list[str], old: str, expected: tuple[int, str] | None, why: str) -> None:
    mention = DialogueWords(context).find_mention(old)
    found = mention and (mention.utterance, context[mention.utterance][mention.start : mention.end])
    assert found == expected, why


def test_a_head_was_said_only_without_a_sibling_before_it() -> None:
    assert DialogueWords(["Which iPhone is that?"]).says_head("iphone", ["new"])
    assert not DialogueWords(["What is throat cancer?"]).says_head("cancer", ["lung"])


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (["Who was Ira Hayes?"], False),
        (["what did he do", "Any other facts"], False),
        (["", "  "], False),
        (["Who was Ira Hayes?", "A Marine."], True),
    ],
)
def test_answers_are_no_questions(context: list[str], expected: bool) -> None:
    assert DialogueWords(context).has_answers is expected
