"""What a user may ask of the engine beside the question: how strong, how long, and what to leave alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Op
from riseq.text.words import forms
from riseq.types import InputError

NEUTRAL = 0.5
"""The strength that takes the network's scores as they are."""
MAX_PASSES = 3

# On CANARD's dev set the log-odds of an edit against KEEP lie between -7 and 7, half of them beyond 5. At +7 hardly any
# edit is left; at -2 what the network was in two minds about goes and what it is sure of stays.
_MILDEST, _STRONGEST = 7.0, -2.0


@dataclass(frozen=True, slots=True)
class Controls:
    """How questions are edited; the defaults are the network's own choices in up to three passes."""

    strength: float = NEUTRAL
    protect: tuple[tuple[str, ...], ...] = ()
    """The words of each protected phrase."""
    max_passes: int = MAX_PASSES
    n_best: int = 1
    guard: bool = True
    """Whether what only the question says stays unless the network is sure; needs a calibrated model."""

    @property
    def shift(self) -> float:
        """What is added to the log-probability of KEEP: less the higher the strength, and none at ``NEUTRAL``."""
        return find_shift(self.strength)

    @property
    def passes(self) -> int:
        """How many passes may run: none at strength 0, which leaves the question as it is."""
        return self.max_passes if self.strength > 0 else 0


def check_controls(
    strength: float = NEUTRAL,
    protect: Iterable[str] = (),
    max_passes: int = MAX_PASSES,
    n_best: int = 1,
    guard: bool = True,
) -> Controls:
    """Return the controls that a user asked for, each of them checked."""
    if isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= 1:
        raise InputError(f"strength is {strength!r}, expected a number from 0 to 1")
    if not isinstance(guard, bool):
        raise InputError(f"guard is {guard!r}, expected True or False")
    return Controls(
        float(strength),
        _read_protect(protect),
        check_count("max_passes", max_passes),
        check_count("n_best", n_best),
        guard,
    )


def check_count(name: str, value: int) -> int:
    """Return ``value``, which is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name} is {value!r}, expected 1 or more")
    return value


def find_shift(strength: float) -> float:
    """Return what ``strength`` adds to the log-probability of KEEP: linear on both sides of ``NEUTRAL``."""
    share = 1 - strength / NEUTRAL
    return share * _MILDEST if share > 0 else -share * _STRONGEST


def find_protected(words: Sequence[str], protect: Iterable[Sequence[str]]) -> NDArray[np.bool_]:
    """Return [W, 4], True where the edit would touch a protected phrase of ``words``: change it or split it."""
    barred = np.zeros((len(words), len(Op)), dtype=np.bool_)
    for phrase in protect:
        for start in range(1, len(words) - len(phrase) + 1):
            end = start + len(phrase)
            if tuple(words[start:end]) == tuple(phrase):
                barred[start:end, [Op.DELETE, Op.SUBSTITUTE]] = True
                barred[start : end - 1, Op.INSERT] = True
    return barred


def _read_protect(protect: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    if isinstance(protect, str | bytes) or not isinstance(protect, Iterable):
        raise InputError(f"protect is a {type(protect).__name__}, expected a list of strings")
    phrases = []
    for place, text in enumerate(protect):
        if not isinstance(text, str):
            raise InputError(f"protect[{place}] is a {type(text).__name__}, expected a string")
        words = tuple(forms(text))
        if not words:
            raise InputError(f"protect[{place}] is {text!r}, expected at least one word")
        phrases.append(words)
    return tuple(phrases)
