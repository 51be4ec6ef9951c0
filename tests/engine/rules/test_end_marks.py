"""The mark at the end of a question that is resolved."""

from __future__ import annotations

import pytest

from riseq.core.edits import DELETE, KEEP, MARKER, Edit, Op
from riseq.engine.rules.end_marks import keep_end_marks

MARK = Edit(Op.INSERT, ("?",))


@pytest.mark.parametrize(
    ("question", "after", "stays", "why"),
    [
        ("list his films", "films", False, "a request is no question"),
        ("any sequels", "sequels", False, "nor are a few words"),
        ("how did he do at the masters go", "masters", False, "a question does not end in its middle"),
        ("was he hurt ?", "hurt", False, "it has its mark"),
        ("was he hurt ?", "?", False, "one is enough"),
        ("was he hurt", "hurt", True, "a question that lacks it"),
        ("what else", "else", True, "a question word"),
    ],
)
def test_a_mark_is_put_at_the_end_of_a_question_alone(question: str, after: str, stays: bool, why: str) -> None:
    words = [MARKER, *question.split()]
    at = words.index(after)
    edits = [MARK if k == at else KEEP for k in range(len(words))]
    assert keep_end_marks(words, edits) == (edits if stays else [KEEP] * len(words)), why


def test_the_last_mark_stays() -> None:
    words = [MARKER, "show", "them", "."]
    assert keep_end_marks(words, [KEEP, KEEP, KEEP, DELETE]) == [KEEP] * 4
    swallowed = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("ada",)), Edit(Op.SUBSTITUTE)]
    assert keep_end_marks(words, swallowed) == [*swallowed[:3], KEEP]
    said_again = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("ada", ".")), Edit(Op.SUBSTITUTE)]
    assert keep_end_marks(words, said_again) == said_again


def test_a_name_with_a_mark_is_put_in() -> None:
    words = [MARKER, "list", "films"]
    edits = [KEEP, KEEP, Edit(Op.INSERT, ("of", "yahoo", "!"))]
    assert keep_end_marks(words, edits) == edits
