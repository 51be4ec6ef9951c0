"""What the network hardly believes in is not put in."""

from __future__ import annotations

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.engine.rules.doubts import drop_doubtful


def test_only_unlikely_insertions_go() -> None:
    likely, unlikely, mark = (Edit(Op.INSERT, (word,)) for word in ("rome", "paris", "?"))
    replaced = Edit(Op.SUBSTITUTE, ("it",))
    edits, odds = [KEEP, likely, unlikely, replaced, DELETE, mark], [1.0, 0.2, 0.1, 0.01, 0.01, 0.01]
    assert drop_doubtful(edits, odds, later=True, points_back=True) == [KEEP, likely, KEEP, replaced, DELETE, mark]
    assert drop_doubtful(edits, odds, later=False, points_back=False) == edits
    odds[2] = 0.04
    assert drop_doubtful(edits, odds, later=False, points_back=True) == edits
    assert drop_doubtful(edits, odds, later=False, points_back=False)[2] == KEEP


def test_a_first_pass_of_small_words_puts_in_nothing() -> None:
    article, mark, noun = (Edit(Op.INSERT, (word,)) for word in ("the", "?", "rome"))
    replaced = Edit(Op.SUBSTITUTE, ("she",))
    assert drop_doubtful([article, replaced, mark], [1.0] * 3, False, True) == [KEEP, replaced, mark]
    assert drop_doubtful([article, noun], [1.0] * 2, False, True) == [article, noun]
    assert drop_doubtful([article], [1.0], True, True) == [article]
