"""What a component meets of Haystack: inputs by name, declared outputs, a pipeline that passes them on."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class _Component:
    def __call__(self, kind: type) -> type:
        assert callable(getattr(kind, "run", None)), f"{kind.__name__} has no run"
        return kind

    def output_types(self, **types: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def declare(run: Callable[..., Any]) -> Callable[..., Any]:
            run.outputs = types  # type: ignore[attr-defined]
            return run

        return declare


component = _Component()


class Pipeline:
    def __init__(self) -> None:
        self.components: dict[str, Any] = {}

    def add_component(self, name: str, one: Any) -> None:
        self.components[name] = one

    def run(self, data: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        answers = {}
        for name, one in self.components.items():
            inspect.signature(one.run).bind(**data[name])
            answers[name] = one.run(**data[name])
            assert {key: type(value) for key, value in answers[name].items()} == type(one).run.outputs
        return answers
