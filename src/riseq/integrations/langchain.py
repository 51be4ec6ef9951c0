"""LangChain Runnables: a question and its dialogue in, the conversational or the self-contained question out."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from riseq.data.dialogue import Asked, read_item
from riseq.engine.editor import Editor
from riseq.engine.resolver import Resolver
from riseq.engine.simplifier import Simplifier
from riseq.extras import needs_extra
from riseq.types import InputError

with needs_extra("langchain", __name__):
    from langchain_core.messages import BaseMessage, convert_to_openai_messages
    from langchain_core.runnables import Runnable, RunnableConfig

Question = Mapping[str, Any]
"""``{"question": ..., "context": [...]}``; the context has LangChain's messages, or what ``Simplifier`` takes.

``input`` and ``chat_history``, as LangChain's own chains call them, may stand for the two; ``messages`` alone have the
question as the last of them.
"""


_ASKED = ("question", "input")
_SAID = ("context", "chat_history")
"""The names that a question and a dialogue go by; the second ones are those of LangChain's own chains."""


class _EditQuestion(Runnable[Question, str]):
    """Edits questions with an engine; ``batch`` reads them together."""

    def __init__(self, engine: Editor) -> None:
        self.engine = engine

    def invoke(self, input: Question, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Return what becomes of one question."""
        return self._call_with_config(lambda one: self._edit([_read(one)], **kwargs)[0], input, config)

    def batch(
        self,
        inputs: list[Question],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[str]:
        """Return what becomes of each question, or its mistake where exceptions are wanted."""

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
        return [result.text for result in self.engine.batch(asked, **controls)]


class SimplifyQuestion(_EditQuestion):
    """Makes questions conversational; ``batch`` reads them together. ``bind(strength=1.0)`` says how to edit."""

    def __init__(self, simplifier: Simplifier | None = None, *, model: str | Path | None = None) -> None:
        super().__init__(simplifier or Simplifier.load(model))


class RiseqCondenser(_EditQuestion):
    """Makes questions self-contained, in place of a chain that has a language model condense the chat: without one.

    ``RiseqCondenser() | retriever`` is a history-aware retriever. A question with nothing said before it, and one that
    says everything, stays as it is. ``bind(protect=[...])`` says how to edit.
    """

    def __init__(self, resolver: Resolver | None = None, *, model: str | Path | None = None) -> None:
        super().__init__(resolver or Resolver.load(model))


def _read(question: Any) -> Asked:
    if not isinstance(question, Mapping):
        return read_item(question)
    row = {"question": _take(question, _ASKED), "context": _take(question, _SAID), "messages": question.get("messages")}
    read = {name: _read_messages(value) for name, value in row.items() if value is not None}
    return read_item(read if read.keys() & {"question", "messages"} else question)


def _take(question: Question, names: tuple[str, str]) -> Any:
    found = [name for name in names if question.get(name) is not None]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1]} are both there, expected one of them")
    return question[found[0]] if found else None


def _read_messages(value: Any) -> Any:
    """Return ``value`` with LangChain's messages as chat models take them."""
    if not isinstance(value, list | tuple):
        return value
    return [convert_to_openai_messages(one) if isinstance(one, BaseMessage) else one for one in value]
