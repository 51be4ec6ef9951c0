"""Choices against a backend whose scores are written by hand."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.infer.backend import Scores
from riseq.infer.choices import choose, choose_best, decide, find_runs
from riseq.infer.drafts import gather, start
from riseq.model.collate import SpanBatch
from tiny_model import PHRASES, make_pieces

PIECES = make_pieces("bert")


@dataclass
class Written:
    """Scores as they were given."""

    edits_BWE: Scores
    phrases: dict[tuple[int, int], int]

    def score_phrases(self, spans: SpanBatch) -> Scores:
        scores = np.full((len(spans.row_N), len(PHRASES)), np.log(0.4 / 6), dtype=np.float32)
        for place, key in enumerate(zip(spans.row_N.tolist(), spans.word_N.tolist(), strict=True)):
            scores[place, self.phrases[key]] = np.log(0.6)
        return scores


def write(rows: list[str], phrases: dict[tuple[int, int], int]) -> Written:
    width = max(map(len, rows))
    scores = np.full((len(rows), width, 4), np.log(0.1), dtype=np.float32)
    for row, ops in enumerate(rows):
        for word, op in enumerate(ops.ljust(width, "S")):  # what stands past a row's words must not count
            scores[row, word, "KDIS".index(op)] = np.log(0.7 if word % 2 else 0.5)
    return Written(scores, phrases)


def test_edits_phrases_and_probabilities_come_together() -> None:
    drafts = [start(text, ("film",), PIECES, 512) for text in ("was the film of a band", "who")]
    reading = write(["KKSSSDI", "IK"], {(0, 2): 2, (0, 6): 4, (1, 0): 6})
    first, second = choose_best(gather(drafts, PIECES), reading, PHRASES)
    substitute = Edit(Op.SUBSTITUTE)
    insert = Edit(Op.INSERT, ("this", "film"))
    assert first.edits == [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("it",)), substitute, substitute, DELETE, insert]
    assert first.probabilities == pytest.approx([0.5, 0.7, 0.3, 0.42, 0.3, 0.7, 0.3])
    assert second.edits == [Edit(Op.INSERT, ("there",)), KEEP]
    assert second.probabilities == pytest.approx([0.3, 0.7])


def test_phrases_are_not_scored_where_none_is_wanted() -> None:
    class Silent(Written):
        def score_phrases(self, spans: SpanBatch) -> Scores:
            raise AssertionError("asked for phrases")

    batch = gather([start("was the", ("film",), PIECES, 512)], PIECES)
    (choice,) = choose_best(batch, Silent(write(["KKD"], {}).edits_BWE, {}), PHRASES)
    assert choice.edits == [KEEP, KEEP, DELETE]


def test_the_probability_of_a_choice_counts_every_word_and_phrase_once() -> None:
    batch = gather([start("was the film", ("film",), PIECES, 512)], PIECES)
    (choice,) = choose_best(batch, write(["KKSS"], {(0, 2): 2}), PHRASES)
    assert np.exp(choice.log_probability) == pytest.approx(0.5 * 0.7 * 0.5 * 0.7 * 0.6)


def test_layers_say_each_phrase_once() -> None:
    asked = []

    class Counting(Written):
        def score_phrases(self, spans: SpanBatch) -> Scores:
            asked.append(len(spans.row_N))
            return super().score_phrases(spans)

    batch = gather([start("was the film of", ("film",), PIECES, 512)], PIECES)
    reading = Counting(write(["KKSSK"], {(0, 2): 2, (0, 4): 0}).edits_BWE, {(0, 2): 2, (0, 4): 0})
    layers = [np.array([["KDIS".index(op) for op in ops]]) for ops in ("KKSSK", "KKSSS", "KKSSI", "KKKKK")]
    chosen = [choices[0].edits[2].phrase for choices in choose(batch, reading, PHRASES, layers)]
    assert chosen == [("it",), ("it",), ("it",), ()]
    assert asked == [3]


ROOM = 8
QUESTION = "was the film of a band ?"
DRAFT = start(QUESTION, ("film",), PIECES, 512)
SCORES = arrays(np.float32, (1, ROOM, 4), elements=st.floats(-7, -0.0625, width=32))


def bar_marker(scores_BWE: Scores) -> Scores:
    scores_BWE[:, 0, [Op.DELETE, Op.SUBSTITUTE]] = -1e4
    return scores_BWE


@given(SCORES.map(bar_marker), st.lists(st.floats(-3, 8), min_size=2, max_size=5))
def test_a_lower_shift_never_keeps_more(scores_BWE: Scores, shifts: list[float]) -> None:
    kept = []
    for shift in sorted(shifts):
        (ops,) = decide(scores_BWE, [DRAFT], shift)
        assert ops[0] in (Op.KEEP, Op.INSERT)
        if shift < 0 and (ops == decide(scores_BWE, [DRAFT])[0]).all():
            continue  # nothing would be left at this shift
        kept.append({place for place, op in enumerate(ops) if op in (Op.KEEP, Op.INSERT)})
    for stronger, milder in pairwise(kept):
        assert stronger <= milder


@given(SCORES.map(bar_marker))
def test_no_shift_is_the_best_edit_and_a_high_one_keeps_all(scores_BWE: Scores) -> None:
    assert (decide(scores_BWE, [DRAFT]) == scores_BWE.argmax(-1)).all()
    assert (decide(scores_BWE, [DRAFT], 20.0) == Op.KEEP).all()


def test_a_run_is_undone_as_one() -> None:
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP] = -1
    scores[0, [2, 3, 5], Op.SUBSTITUTE] = [0, 5, 1]  # 1 and 6 above KEEP, and 2 alone
    assert [place.start for place in find_runs(decide(scores, [DRAFT], 0.0)[0])] == [2, 5]
    assert [place.start for place in find_runs(decide(scores, [DRAFT], 3.0)[0])] == [2]
    assert find_runs(decide(scores, [DRAFT], 3.0)[0]) == [slice(2, 4)]
    assert find_runs(decide(scores, [DRAFT], 3.6)[0]) == []


def test_a_shift_that_would_leave_no_word_is_none() -> None:
    scores = np.full((1, ROOM, 4), -9, dtype=np.float32)
    scores[0, :, Op.KEEP], scores[0, 1:, Op.DELETE] = -1, -2
    scores[0, 2, Op.DELETE] = 0
    assert find_runs(decide(scores, [DRAFT], -0.5)[0]) == [slice(2, 3)]
    assert find_runs(decide(scores, [DRAFT], -1.5)[0]) == [slice(2, 3)], "only the mark would be left"


@given(SCORES.map(bar_marker), st.lists(st.floats(-3, 8), min_size=2, max_size=4))
def test_protection_leaves_strength_monotone(scores_BWE: Scores, shifts: list[float]) -> None:
    draft = start(QUESTION, ("film",), PIECES, 512, protect=[("film",)])
    kept = [np.isin(decide(scores_BWE, [draft], shift)[0], (Op.KEEP, Op.INSERT)) for shift in sorted(shifts)]
    for stronger, milder in pairwise(kept):
        assert (stronger <= milder).all()


def test_what_would_go_with_a_protected_word_stays() -> None:
    draft = start(QUESTION, ("film",), PIECES, 512, protect=[("film",)])
    scores = write(["KKSSKDDK"], {}).edits_BWE
    assert find_runs(decide(scores, [draft])[0]) == [slice(5, 7)]
    assert find_runs(decide(scores, [DRAFT])[0]) == [slice(2, 4), slice(5, 7)]


@given(SCORES.map(bar_marker), st.floats(-3, 8))
def test_protected_words_are_kept_whole(scores_BWE: Scores, shift: float) -> None:
    draft = start(QUESTION, ("film",), PIECES, 512, protect=[("film", "of", "a")])
    (ops,) = decide(scores_BWE, [draft], shift)
    assert ops[3:5].tolist() == [Op.KEEP] * 2
    assert ops[5] in (Op.KEEP, Op.INSERT)
