"""Engines for tests: some remember, some wait, some fail."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from riseq.server.engines import DummyEngine, Question
from riseq.types import Simplification

POISON = "poison"


class RecordingEngine(DummyEngine):
    """Remembers its batches, and fails on any that holds a poisonous question."""

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self.error = error or ValueError("the poison's own words: secret")

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        self.batches.append([one.question for one in questions])
        if any(POISON in one.question for one in questions):
            raise self.error
        return super().simplify(questions)


class GatedEngine(RecordingEngine):
    """Works only while its gate is open; tells when it has begun."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.begun = threading.Event(), threading.Event()

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        self.begun.set()
        assert self.gate.wait(20)
        return super().simplify(questions)


class FlakyEngine(DummyEngine):
    """Fails for a share of its batches, by chance but always the same."""

    def __init__(self, share: float, seed: int = 1, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.share, self.rng, self.calls, self.failures = share, random.Random(seed), 0, 0
        self.lock = threading.Lock()

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        with self.lock:
            self.calls += 1
            fails = self.rng.random() < self.share
            self.failures += fails
        if fails:
            raise RuntimeError("injected")
        return super().simplify(questions)
