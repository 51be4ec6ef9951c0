"""Exact match, distance and the share of edits."""

from __future__ import annotations

import pytest

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.metrics.edits import match_exactly, measure_distances, share_by_kind
from riseq.types import InputError


def test_a_match_is_word_for_word() -> None:
    assert match_exactly(["a b", "a  b", "a b", ""], ["a b", "a b", "ab", ""]).tolist() == [True, True, False, True]


def test_distances_count_words() -> None:
    predictions = ["when did ira hayes die ?", "a b", "", "same", "a  b"]
    assert measure_distances(predictions, ["when did he die ?", "", "a b", "same", "a b"]).tolist() == [2, 2, 2, 0, 0]


def test_unpaired_texts_are_refused() -> None:
    for measure in (match_exactly, measure_distances):
        with pytest.raises(InputError, match="cannot score 2 predictions with 1 targets"):
            measure(["a", "b"], ["a"])


def test_edits_are_shared_by_kind() -> None:
    first = [KEEP, KEEP, DELETE, Edit(Op.SUBSTITUTE, ("he",)), Edit(Op.SUBSTITUTE)]
    second = [Edit(Op.INSERT, ("and",)), KEEP, KEEP, KEEP]
    assert share_by_kind([first, second]) == {Op.KEEP: 0.5, Op.DELETE: 0.125, Op.INSERT: 0.125, Op.SUBSTITUTE: 0.25}


def test_no_edits_have_no_share() -> None:
    assert share_by_kind([[KEEP]]) == dict.fromkeys(Op, 0.0)
