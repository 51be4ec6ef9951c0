"""What the metrics' tests share: COCO's own scores, and texts in the scoring form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge

from riseq.text.pieces import scoring_form


@dataclass(frozen=True)
class Coco:
    """The scores of pycocoevalcap."""

    bleu: list[float]
    bleu_each: NDArray[np.float64]
    rouge: float
    rouge_each: NDArray[np.float64]
    cider: float
    cider_each: NDArray[np.float64]


def score_with_coco(predictions: Sequence[str], targets: Sequence[str]) -> Coco:
    gold = {number: [text] for number, text in enumerate(targets)}
    ours = {number: [text] for number, text in enumerate(predictions)}
    bleu, bleu_each = Bleu(4).compute_score(gold, ours, verbose=0)
    rouge, rouge_each = Rouge().compute_score(gold, ours)
    cider, cider_each = Cider().compute_score(gold, ours)
    return Coco(bleu, np.array(bleu_each).T, rouge, rouge_each, cider, cider_each)


@dataclass(frozen=True)
class Texts:
    """A corpus in the scoring form."""

    predictions: list[str]
    targets: list[str]
    coco: Coco


def random_texts(seed: int) -> tuple[list[str], list[str]]:
    """Return a corpus of one to sixty pairs over few words: empty, one-word, repeating and very long texts occur."""
    rng = np.random.default_rng(seed)
    pairs = int(rng.choice([1, 2, 7, 60]))
    longest = int(rng.choice([1, 4, 12, 70]))
    words = [str(number) for number in range(int(rng.choice([1, 3, 20])))]

    def draw() -> str:
        return " ".join(rng.choice(words, size=rng.integers(longest + 1)))

    predictions, targets = [draw() for _ in range(pairs)], [draw() for _ in range(pairs)]
    targets[0] = targets[0] or words[0]  # COCO's CIDEr cannot do without any reference word.
    copied = rng.random(pairs) < 0.3
    return [gold if same else ours for ours, gold, same in zip(predictions, targets, copied, strict=True)], targets


@pytest.fixture(scope="session", params=range(40))
def random_corpus(request: pytest.FixtureRequest) -> Texts:
    predictions, targets = random_texts(request.param)
    return Texts(predictions, targets, score_with_coco(predictions, targets))


@pytest.fixture(scope="session")
def real_corpus(data_dir: Path) -> Texts:
    """CANARD's development questions as they are, against their conversational form."""
    lines = (data_dir / "canard" / "dev.qonly.jsonl").read_text("utf-8").splitlines()[::3]
    rows = [json.loads(line) for line in lines]
    predictions = [scoring_form(row["question"]) for row in rows]
    targets = [scoring_form(row["target"]) for row in rows]
    return Texts(predictions, targets, score_with_coco(predictions, targets))
