"""A LangChain Runnable: a question and its dialogue in, the conversational question out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riseq.data.dialogue import Asked, read_item
from riseq.engine.simplifier import Simplifier
from riseq.extras import name_extra
from riseq.types import InputError

try:
    from langchain_core.messages import BaseMessage, convert_to_openai_messages
    from langchain_core.runnables import Runnable, RunnableConfig
except ModuleNotFoundError as error:
    raise name_extra("langchain", error) from error

Asking = Mapping[str, Any]
"""``{"question": ..., "context": [...]}``; the context has LangChain's messages, or what ``Simplifier`` takes."""


class SimplifyQuestion(Runnable[Asking, str]):
    """Makes questions conversational; ``batch`` reads them together. ``bind(strength=1.0)`` says how to edit."""

    def __init__(self, simplifier: Simplifier | None = None, *, model: str | Path | None = None) -> None:
        """Take an engine, or load that of ``model``, which is what ships where it is None."""
        self.simplifier = simplifier or Simplifier.load(model)

    def invoke(self, input: Asking, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the conversational form of one question."""
        return self._call_with_config(lambda asking: self._edit([asking], **kwargs)[0], input, config)

    def batch(
        self,
        inputs: list[Asking],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[str]:
        """Return the conversational form of each question, or its mistake where exceptions are wanted."""

        def edit(askings: list[Asking]) -> list[str | Exception]:
            readable = [_try(asking) for asking in askings]
            results = iter(self._edit([one for one in readable if not isinstance(one, Exception)], **kwargs))
            return [one if isinstance(one, Exception) else next(results) for one in readable]

        return self._batch_with_config(edit, inputs, config, return_exceptions=return_exceptions)

    def _edit(self, askings: list[Any], **controls: Any) -> list[str]:
        return [result.text for result in self.simplifier.batch(map(_read, askings), **controls)]


def _read(asking: Asking | Asked) -> Asked:
    if isinstance(asking, Mapping) and isinstance(context := asking.get("context"), list | tuple):
        said = [convert_to_openai_messages(one) if isinstance(one, BaseMessage) else one for one in context]
        return read_item({**asking, "context": said})
    return read_item(asking)


def _try(asking: Asking) -> Asked | InputError:
    try:
        return _read(asking)
    except InputError as error:
        return error
