"""How sure the engine is: features of a pass, from scores that were made anyway, and probabilities fitted to them.

They are fitted to one network by ``riseq calibrate`` and lie beside it in ``confidence.json``. A model without that
file gives no confidence, takes every pass and has no guard.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Op
from riseq.types import InputError

FILE = "confidence.json"
FORMAT = 2
CERTAIN = 9.0
"""The log-odds beyond which more say nothing."""


class PassFeatures(NamedTuple):
    """How sure the network was of one pass's edits; logarithms are natural."""

    log_probability: float
    """Of all edits and phrases together."""
    odds: float
    """The same as log-odds."""
    phrases: float
    """The log-probability of the phrases."""
    least: float
    """The log-probability of the edit it was least sure of, and of the next one."""
    second: float
    kept: float
    """The lowest log-probability of keeping among the words kept."""
    edited: float
    """The lowest log-odds against keeping among the words edited."""
    border: float
    """As ``kept``, of words beside an edited one: half a name shows here."""
    runs: float
    """How many runs of neighbours are edited."""
    deleted: float
    inserted: float
    substituted: float
    left: float
    """How many words are kept."""
    length: float
    """The logarithm of the number of words."""
    unchanged: float
    """Whether nothing is edited."""


class DraftFeatures(NamedTuple):
    """What a question is asked under, and what became of it."""

    answers: float
    """Whether the dialogue has answers."""
    truncated: float
    """Whether any of it was out of sight."""
    grounded: float
    """Whether the network was told that only what was said may go."""
    unsaid: float
    """How many content words are gone that the dialogue did not say."""


FEATURES = (*PassFeatures._fields, *DraftFeatures._fields, "passes")
"""What the probabilities are made from: the first pass, the draft, and how many passes came after the first."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression on ``FEATURES``."""

    bias: float
    weights: tuple[float, ...]

    def rate(self, features: Sequence[float]) -> float:
        """Return the probability for ``features``."""
        if len(features) != len(self.weights):
            raise ValueError(f"{len(features)} features for {len(self.weights)} weights")
        score = self.bias + sum(map(mul, self.weights, features))
        # Far from 0 the other form of the same function would overflow.
        return 1 / (1 + math.exp(-score)) if score > 0 else math.exp(score) / (1 + math.exp(score))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted for one network."""

    right: Logistic
    """The probability that a person would accept the text."""
    again: Logistic
    """The probability that another pass would change the text."""
    enough: float
    """Below this probability no other pass is taken."""
    later: float
    """How much more probable than keeping its words an edit has to be after the first pass, by its log-odds."""
    sureness: float
    """How sure the network has to be that what only the question says may go (``engine.rules.new_information``)."""
    alone: float
    """The confidence of a question without dialogue, which stays as it is."""
    untouched: float
    """The confidence of a question after a dialogue that no pass has read."""
    network: Mapping[str, str] | None = None
    """The checksums of the network's files that it was fitted to; None where the network has none."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """On what it was fitted and how well it fits, for people."""
    margin: float = 0.0
    """As ``later``, in every pass: what a model that resolves questions needs to leave complete ones alone."""
    needs: Logistic | None = None
    """The probability that a question in which no word points back needs to be resolved, by what a pass would edit."""
    needed: float = 0.0
    """Below this probability such a question stays as it is: most are complete."""

    def to_dict(self) -> dict[str, Any]:
        """Return the calibration as ``confidence.json`` has it."""
        values = asdict(self) | {"format": FORMAT}
        for name in ("right", "again", "needs"):
            model: Logistic | None = getattr(self, name)
            if model is not None:
                values[name] = {"bias": model.bias, **dict(zip(FEATURES, model.weights, strict=True))}
        return values

    def rate(self, passes: Sequence[PassFeatures], draft: DraftFeatures) -> float:
        """Return the confidence in what the passes with these features, of which there is at least one, have made."""
        return self.right.rate(list_features(passes, draft))

    def needs_edits(self, first: PassFeatures, draft: DraftFeatures) -> bool:
        """Return whether a question in which no word points back is likely enough to need its first pass's edits."""
        return self.needs is None or self.needs.rate(list_features([first], draft)) >= self.needed

    def wants_another(self, passes: Sequence[PassFeatures], draft: DraftFeatures) -> bool:
        """Return whether a pass after these is likely enough to change the text to be worth its time."""
        return self.again.rate(list_features(passes[-1:], draft)) >= self.enough


def measure_pass(scores_WE: Sequence[Sequence[float]], ops_W: Sequence[int], log_of_phrases: float) -> PassFeatures:
    """Return the features of a pass that makes the edits ``ops_W``, by their scores, the marker's first."""
    scores_BWE = np.array([scores_WE], dtype=np.float64)
    ops_BW, words_B = np.array([ops_W]), np.array([len(ops_W)])
    (features,) = measure_passes(
        take_scores(scores_BWE, ops_BW), scores_BWE[..., Op.KEEP], ops_BW, words_B, [log_of_phrases]
    )
    return features


def take_scores(scores_BWE: NDArray[np.floating[Any]], ops_BW: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return the score of each position's operation, [B, W]."""
    return np.take_along_axis(scores_BWE, ops_BW[:, :, None], axis=2)[:, :, 0].astype(np.float64)


def measure_passes(
    logs_BW: NDArray[np.float64],
    keeps_BW: NDArray[np.floating[Any]],
    ops_BW: NDArray[np.integer[Any]],
    words_B: NDArray[np.integer[Any]],
    log_of_phrases_B: Sequence[float],
) -> list[PassFeatures]:
    """Return the features of each row's pass by the scores of its edits and those of keeping, ``words_B`` of a row."""
    real_BW = np.arange(ops_BW.shape[1])[None, :] < words_B[:, None]
    edited_BW = (ops_BW != Op.KEEP) & real_BW
    kept_BW = real_BW & ~edited_BW
    before_BW, after_BW = np.zeros_like(edited_BW), np.zeros_like(edited_BW)
    before_BW[:, 1:], after_BW[:, :-1] = edited_BW[:, :-1], edited_BW[:, 1:]
    border_BW = kept_BW & (before_BW | after_BW)
    border_BW[:, 0] = False  # the marker
    lowest_BW = np.sort(np.where(real_BW, logs_BW, np.inf), axis=1)
    second_B = np.where(words_B > 1, lowest_BW[:, min(1, ops_BW.shape[1] - 1)], lowest_BW[:, 0])
    with np.errstate(invalid="ignore"):  # what is barred has the score minus infinity
        against_BW = logs_BW - keeps_BW
    # Accumulated, a sum adds up in the order of the words, however wide the batch is.
    totals_B = np.add.accumulate(np.where(real_BW, logs_BW, 0.0), axis=1)[:, -1] + np.array(log_of_phrases_B)
    rests = [-math.expm1(total) for total in totals_B.tolist()]  # 1 - p, where p may be too near to 1 to tell
    odds = [
        total - math.log(rest) if rest > 0 else CERTAIN for total, rest in zip(totals_B.tolist(), rests, strict=True)
    ]
    capped = (
        totals_B,
        odds,
        log_of_phrases_B,
        lowest_BW[:, 0],
        second_B,
        _find_lowest(keeps_BW, kept_BW, 0.0),
        _find_lowest(against_BW, edited_BW, CERTAIN),
        _find_lowest(keeps_BW, border_BW, 0.0),
    )
    counted = (
        edited_BW & ~before_BW,
        ops_BW * real_BW == Op.DELETE,
        ops_BW * real_BW == Op.INSERT,
        ops_BW * real_BW == Op.SUBSTITUTE,
        kept_BW,
    )
    values = np.array([*(np.clip(one, -2 * CERTAIN, CERTAIN) for one in capped), *(one.sum(1) for one in counted)])
    lengths, unchanged = map(math.log, words_B.tolist()), (~edited_BW.any(1)).astype(np.float64).tolist()
    rows = zip(values.T.tolist(), lengths, unchanged, strict=True)
    return [PassFeatures._make((*row, length, same)) for row, length, same in rows]


def _find_lowest(values_BW: NDArray[np.floating[Any]], among_BW: NDArray[np.bool_], none: float) -> NDArray[np.float64]:
    """Return the lowest of each row's values ``among`` these, within what the data has; ``none`` where there are none.

    The limits matter: a protected word's edits have a probability of nothing.
    """
    lowest_B = np.where(among_BW, values_BW, np.inf).min(axis=1)
    return np.where(np.isposinf(lowest_B), none, lowest_B)


def list_features(passes: Sequence[PassFeatures], draft: DraftFeatures) -> tuple[float, ...]:
    """Return the values of ``FEATURES`` after ``passes``, of which there is at least one."""
    return (*passes[0], *draft, float(len(passes) - 1))


def read_calibration(folder: Path, network: Mapping[str, str] | None = None) -> Calibration | None:
    """Return the calibration in a model's folder, fitted to the network with these checksums; None without one."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not usable JSON ({error}); fit it again with: riseq calibrate {folder}") from error
    found = values.get("format") if isinstance(values, dict) else None
    if found != FORMAT:
        raise InputError(f"{path}: format {found!r}; this riseq reads {FORMAT}")
    fitted_to = values.get("network")
    if fitted_to is not None and network is not None and fitted_to != dict(network):
        raise InputError(f"{path}: fitted to another network; fit it again with: riseq calibrate {folder}")
    numbers = {name: _read_number(path, values, name) for name in ("enough", "later", "sureness", "alone", "untouched")}
    facts = values["facts"] if isinstance(values.get("facts"), dict) else {}
    right, again = (_read_logistic(path, values, name) for name in ("right", "again"))
    numbers |= {name: _read_number(path, values, name) for name in ("margin", "needed") if name in values}
    needs = None if values.get("needs") is None else _read_logistic(path, values, "needs")
    return Calibration(right, again, **numbers, network=fitted_to, facts=facts, needs=needs)


def _read_logistic(path: Path, values: Mapping[str, Any], name: str) -> Logistic:
    model = values.get(name)
    if not isinstance(model, dict) or set(model) != {"bias", *FEATURES}:
        raise InputError(f"{path}, field {name!r}: expected a number for bias and each of {', '.join(FEATURES)}")
    bias, *weights = (_read_number(path, model, key) for key in ("bias", *FEATURES))
    return Logistic(bias, tuple(weights))


def _read_number(path: Path, values: Mapping[str, Any], name: str) -> float:
    value = values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{path}, field {name!r}: got {value!r}, expected a number")
    return float(value)
