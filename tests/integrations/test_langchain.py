"""The Runnable in LangChain's own chains."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from riseq.controls import Controls
from riseq.engine.simplifier import Simplifier
from riseq.integrations.langchain import Question, SimplifyQuestion
from riseq.types import InputError

Rows = list[tuple[str, list[str]]]


@pytest.fixture(scope="module")
def runnable(simplifier: Simplifier) -> SimplifyQuestion:
    return SimplifyQuestion(simplifier)


def ask(row: tuple[str, list[str]]) -> Question:
    return {"question": row[0], "context": row[1]}


class Counter(BaseCallbackHandler):
    """Counts the ends of runs."""

    def __init__(self) -> None:
        self.ends = 0

    def on_chain_end(self, *args: object, **kwargs: object) -> None:
        self.ends += 1


def test_one_many_and_later_are_what_the_engine_gives(runnable: SimplifyQuestion, rows: Rows, texts: list[str]) -> None:
    inputs = [ask(row) for row in rows]
    assert [runnable.invoke(one) for one in inputs[:5]] == texts[:5]
    assert runnable.batch(inputs) == texts
    assert runnable.batch([]) == []
    assert asyncio.run(runnable.ainvoke(inputs[3])) == texts[3]
    assert asyncio.run(runnable.abatch(inputs[:4])) == texts[:4]


def test_messages_are_read_as_a_dialogue(runnable: SimplifyQuestion, rows: Rows, texts: list[str]) -> None:
    place = next(place for place, row in enumerate(rows) if len(row[1]) > 2 and texts[place] != row[0])
    question, context = rows[place]
    kinds = [HumanMessage if turn % 2 == 0 else AIMessage for turn in range(len(context))]
    said = [SystemMessage("Be kind."), *(kind(text) for kind, text in zip(kinds, context, strict=True))]
    assert runnable.invoke({"question": question, "context": said}) == texts[place]


def test_it_is_part_of_a_chain_and_tells_callbacks(runnable: SimplifyQuestion, rows: Rows, texts: list[str]) -> None:
    counter = Counter()
    chain = RunnableLambda(ask) | runnable | str.upper
    assert chain.batch(rows[:3], {"callbacks": [counter]}) == [text.upper() for text in texts[:3]]
    assert counter.ends == 3 * 4
    assert runnable.bind(strength=0.0).invoke(ask(rows[0])) == rows[0][0]
    assert runnable.bind(strength=0.0).batch([ask(rows[0])]) == [rows[0][0]]
    assert runnable.bind(controls=Controls(strength=0.0)).invoke(ask(rows[0])) == rows[0][0]


def test_mistakes_are_told_each_at_its_place(runnable: SimplifyQuestion, rows: Rows, texts: list[str]) -> None:
    with pytest.raises(InputError, match="got a dict, expected"):
        runnable.invoke({"text": "Why?"})
    with pytest.raises(InputError, match="the context is a int"):
        runnable.batch([ask(rows[0]), {"question": "Why?", "context": 7}])
    given = [ask(rows[0]), {"question": 3}, ask(rows[1])]
    answers: list[object] = list(runnable.batch(given, return_exceptions=True))
    assert answers[::2] == texts[:2]
    assert isinstance(answers[1], InputError)
