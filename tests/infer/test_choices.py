"""Greedy choices against a backend whose scores are written by hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.infer.backend import Scores
from riseq.infer.choices import choose_best
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
