"""A LangChain Runnable: a question and its dialogue in, the conversational question out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riseq.data.dialogue import Asked, read_item
from riseq.engine.simplifier import Simplifier
from riseq.extras import needs_extra
from riseq.types import InputError

with needs_extra("langchain", __name__):
    from langchain_core.messages import BaseMessage, convert_to_openai_messages
    from langchain_core.runnables import Runnable, RunnableConfig

Question = Mapping[str, Any]
"""``{"question": ..., "context": [...]}``; the context has LangChain's messages, or what ``Simplifier`` takes."""


class SimplifyQuestion(Runnable[Question, str]):
    """Makes questions conversational; ``batch`` reads them together. ``bind(strength=1.0)`` says how to edit."""

    def __init__(self, simplifier: Simplifier | None = None, *, model: str | Path | None = None) -> None:
        self.simplifier = simplifier or Simplifier.load(model)

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return the conversational form of one question."""
        return self._call_with_config(lambda one: self._edit([_read(one)], **kwargs)[0], input, config)

    def batch(
        self,
        inputs: list[Question],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[str]:
        """Return the conversational form of each question, or its mistake where exceptions are wanted."""

        def edit(questions: list[Question]) -> list[str | Exception]:
            asked: list[Asked | InputError] = []
            for one in questions:
                try:
                    asked.append(_read(one))
                except InputError as error:
                    asked.append(error)
            results = iter(self._edit([one for one in asked if not isinstance(one, InputError)], **kwargs))
            return [one if isinstance(one, InputError) else next(results) for one in asked]

        return self._batch_with_config(edit, inputs, config, return_exceptions=return_exceptions)

    def _edit(self, asked: list[Asked], **controls: Any) -> list[str]:
        return [result.text for result in self.simplifier.batch(asked, **controls)]


def _read(question: Question) -> Asked:
    if isinstance(question, Mapping) and isinstance(context := question.get("context"), list | tuple):
        dialogue = [convert_to_openai_messages(one) if isinstance(one, BaseMessage) else one for one in context]
        return read_item({**question, "context": dialogue})
    return read_item(question)
