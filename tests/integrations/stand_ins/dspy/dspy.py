"""What a module meets of DSPy: keyword calls that reach ``forward``, a history of dicts, a prediction with fields."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any


class Prediction(SimpleNamespace):
    """Has the fields it is made with."""


@dataclass(frozen=True)
class History:
    messages: list[dict[str, Any]]


class Module:
    def __init__(self) -> None:
        self.begun = True

    def __call__(self, **inputs: Any) -> Prediction:
        assert self.begun, "super().__init__() was not called"
        answer = self.forward(**inputs)
        assert isinstance(answer, Prediction)
        return answer

    def forward(self, **inputs: Any) -> Any:
        raise NotImplementedError
