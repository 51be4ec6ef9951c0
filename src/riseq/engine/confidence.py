"""How sure the engine is: probabilities fitted to what people wrote, and what follows from them between passes.

They are fitted to one network by ``riseq calibrate`` and lie beside it in ``confidence.json``. A model without that
file gives no confidence, takes every pass and has no guard.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from riseq.engine.pass_features import SIGNS, Signs
from riseq.types import InputError

FILE = "confidence.json"
FORMAT = 1
FEATURES = (*SIGNS, "answers", "truncated", "passes")
"""What the probabilities are made from: the first pass's signs, whether the dialogue has answers, whether any of it was
out of sight, and how many passes came after the first."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression on ``FEATURES``."""

    bias: float
    weights: tuple[float, ...]

    def rate(self, features: Sequence[float]) -> float:
        """Return the probability for ``features``."""
        score = self.bias + sum(weight * value for weight, value in zip(self.weights, features, strict=True))
        # Far from 0 the other form of the same function would overflow.
        return 1 / (1 + math.exp(-score)) if score > 0 else math.exp(score) / (1 + math.exp(score))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted for one network."""

    right: Logistic
    """The probability that the text is what a person wrote, word for word in the scoring form."""
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

    def rate(self, signs: Sequence[Signs], has_context: bool, has_answers: bool, truncated: bool) -> float:
        """Return the confidence in what the passes with these ``signs`` have made."""
        if not signs:
            return self.untouched if has_context else self.alone
        return self.right.rate(list_features(signs, has_answers, truncated))

    def wants_another(self, signs: Sequence[Signs], has_answers: bool, truncated: bool) -> bool:
        """Return whether a pass after these is likely enough to change the text to be worth its time."""
        return self.again.rate(list_features(signs[-1:], has_answers, truncated)) >= self.enough


def list_features(signs: Sequence[Signs], has_answers: bool, truncated: bool) -> tuple[float, ...]:
    """Return the values of ``FEATURES`` after passes with these signs, of which there is at least one."""
    return (*signs[0], float(has_answers), float(truncated), float(len(signs) - 1))


def describe(calibration: Calibration) -> dict[str, Any]:
    """Return the calibration as ``confidence.json`` has it."""
    told = asdict(calibration) | {"format": FORMAT}
    for name in ("right", "again"):
        model: Logistic = getattr(calibration, name)
        told[name] = {"bias": model.bias, **dict(zip(FEATURES, model.weights, strict=True))}
    return told


def read_calibration(folder: Path, network: Mapping[str, str] | None = None) -> Calibration | None:
    """Return the calibration in a model's folder, fitted to the network with these checksums; None without one."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not usable JSON ({error}); fit it again with: riseq calibrate {folder}") from error
    found = told.get("format") if isinstance(told, dict) else None
    if found != FORMAT:
        raise InputError(f"{path}: format {found!r}; this riseq reads {FORMAT}")
    fitted_to = told.get("network")
    if fitted_to is not None and network is not None and fitted_to != dict(network):
        raise InputError(f"{path}: fitted to another network; fit it again with: riseq calibrate {folder}")
    numbers = {name: _read_number(path, told, name) for name in ("enough", "later", "sureness", "alone", "untouched")}
    facts = told.get("facts")
    return Calibration(
        right=_read_logistic(path, told, "right"),
        again=_read_logistic(path, told, "again"),
        network=fitted_to,
        facts=facts if isinstance(facts, dict) else {},
        **numbers,
    )


def _read_logistic(path: Path, told: Mapping[str, Any], name: str) -> Logistic:
    model = told.get(name)
    if not isinstance(model, dict) or set(model) != {"bias", *FEATURES}:
        raise InputError(f"{path}, field {name!r}: expected a number for bias and each of {', '.join(FEATURES)}")
    values = {key: _read_number(path, model, key) for key in ("bias", *FEATURES)}
    return Logistic(values.pop("bias"), tuple(values[key] for key in FEATURES))


def _read_number(path: Path, told: Mapping[str, Any], name: str) -> float:
    value = told.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{path}, field {name!r}: got {value!r}, expected a number")
    return float(value)
