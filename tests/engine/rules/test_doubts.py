"""What the network hardly believes in is not put in."""

from __future__ import annotations

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.engine.rules.doubts import drop_doubtful


def test_only_unlikely_insertions_go() -> None:
    likely, unlikely, mark = (Edit(Op.INSERT, (word,)) for word in ("rome", "paris", "?"))
    replaced = Edit(Op.SUBSTITUTE, ("it",))
    edits = [KEEP, likely, unlikely, replaced, DELETE, mark]
    left = drop_doubtful(edits, [1.0, 0.2, 0.1, 0.1, 0.1, 0.1], 0.15)
    assert left == [KEEP, likely, KEEP, replaced, DELETE, mark]
    assert drop_doubtful(edits, [0.0] * 6, 0.0) == edits
