"""What many questions together become is what each becomes alone, to the last digit."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from riseq import Simplifier
from riseq.controls import Controls
from riseq.data.corpora import read_everyday
from riseq.engine.backends import ScoreArray
from riseq.engine.confidence import FEATURES, Calibration, Logistic
from riseq.engine.phrasing import Phrasing
from riseq.model.inputs import Batch, SpanBatch
from riseq.text.pieces import load_bert_pieces
from tiny_model import PHRASES

COUNT = 1_000


@dataclass
class Scattered:
    """Scores that a row's own pieces decide, whatever stands beside it; on average a word in four is edited."""

    batch: Batch

    def __post_init__(self) -> None:
        width = self.batch.firsts_BW.shape[1] - 1
        self.edits_BWE = np.full((len(self.batch.ids_BL), width, 4), 9.0, dtype=np.float32)
        for row, words in enumerate(self.batch.words_B.tolist()):
            rng = np.random.default_rng(self.find_seed(row))
            scores = rng.normal(size=(words, 4)) * 2 + np.array([2.5, 0, -2, 0])
            scores[0, [1, 3]] = -1e4
            self.edits_BWE[row, :words] = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def find_seed(self, row: int) -> int:
        return zlib.crc32(self.batch.ids_BL[row, : self.batch.lengths_B[row]].tobytes())

    def score_phrases(self, spans: SpanBatch) -> ScoreArray:
        places = zip(spans.row_N.tolist(), spans.start_N.tolist(), spans.end_N.tolist(), strict=True)
        seeds = [(self.find_seed(row), start, end) for row, start, end in places]
        scores = np.stack([np.random.default_rng(seed).normal(size=len(PHRASES)) * 3 for seed in seeds])
        return (scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)).astype(np.float32)


class ScatteredBackend:
    max_pieces, batch_pieces = 512, 8_192

    def score(self, batch: Batch) -> Scattered:
        return Scattered(batch)


class QueuedBackend(ScatteredBackend):
    in_flight = 3


def make_engine(backend: ScatteredBackend) -> Simplifier:
    weights = {
        "again": {"kept": 0.2, "border": 0.1, "left": 0.1},
        "right": {"odds": 0.3, "unsaid": -0.4, "second": 0.2},
    }
    again, right = (
        Logistic(0.5, tuple(weights[name].get(one, 0.0) for one in FEATURES)) for name in ("again", "right")
    )
    fitted = Calibration(right, again, enough=0.4, later=0.3, sureness=1.0, alone=0.9, untouched=0.5)
    return Simplifier(backend, load_bert_pieces(), Phrasing(PHRASES), calibration=fitted)


@pytest.fixture(scope="module")
def asked(root: Path) -> list[tuple[str, tuple[str, ...]]]:
    pairs = read_everyday(root / "data" / "everyday" / "dialogues.jsonl.gz")
    return [(pair.question, pair.context) for pair in islice(pairs, COUNT)]


@pytest.mark.parametrize("controls", [Controls(), Controls(grounded=False, strength=0.7, protect=("the film",))])
def test_a_thousand_questions_together_become_what_each_becomes_alone(
    asked: list[tuple[str, tuple[str, ...]]], controls: Controls
) -> None:
    engine = make_engine(ScatteredBackend())
    together = [result.to_dict() for result in engine.batch(asked, controls=controls)]
    assert len(together) == COUNT
    assert sum(one["text"] != one["question"] for one in together) > COUNT / 4
    assert any(len(one["steps"]) > 1 for one in together)
    alone = [engine(question, context, controls=controls).to_dict() for question, context in asked]
    assert together == alone


def test_windows_that_take_turns_give_the_same_in_the_same_order(
    asked: list[tuple[str, tuple[str, ...]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riseq.engine.editor.WINDOW", 64)
    plain, queued = (list(make_engine(backend).batch(asked)) for backend in (ScatteredBackend(), QueuedBackend()))
    assert plain == queued
