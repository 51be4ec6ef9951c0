"""The condenser in LangChain's own chains: chat history and question in, what a retriever can search for out."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from riseq.engine.resolver import Resolver
from riseq.hub import find_model
from riseq.integrations.langchain import Question, RiseqCondenser
from riseq.types import InputError
from tiny_resolver import export_tiny_resolver, make_examples

HISTORY: list[BaseMessage] = [HumanMessage("Tell me about NASA."), AIMessage("It is well known.")]
ASKED, WHOLE = "Did it win a prize?", "Did NASA win a prize?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]


@pytest.fixture(scope="module")
def condenser(model: Path) -> RiseqCondenser:
    return RiseqCondenser(model=model)


class Shelf(BaseRetriever):
    """Finds the documents that have every word of the query with a capital."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        names = [word for word in re.findall(r"\w+", query)[1:] if not word.islower()]
        shelf = ("NASA won the prize in 1969.", "Alan Turing won no prize.")
        return [Document(text) for text in shelf if names and all(name in text for name in names)]


@pytest.mark.parametrize(
    "given",
    [
        {"input": ASKED, "chat_history": HISTORY},
        {"question": ASKED, "chat_history": HISTORY},
        {"question": ASKED, "context": [SystemMessage("Be kind."), *HISTORY]},
        {"question": ASKED, "chat_history": [("Tell me about NASA.", "It is well known.")]},
        {"question": ASKED, "chat_history": "Tell me about NASA."},
        {"messages": [*HISTORY, HumanMessage(ASKED)]},
        {"input": ASKED, "chat_history": HISTORY, "language": "English"},
    ],
    ids=["history-aware", "condense-question", "context", "pairs", "a string", "messages", "more beside"],
)
def test_it_takes_what_the_chains_of_langchain_take(condenser: RiseqCondenser, given: dict[str, object]) -> None:
    assert condenser.invoke(given) == WHOLE


def test_what_needs_nothing_stays_as_it_is(condenser: RiseqCondenser) -> None:
    for question in (WHOLE, "Thanks!"):
        assert condenser.invoke({"input": question, "chat_history": HISTORY}) == question
    assert condenser.invoke({"input": ASKED, "chat_history": []}) == ASKED
    assert condenser.invoke({"input": ASKED}) == ASKED
    assert condenser.bind(protect=["it"]).invoke({"input": ASKED, "chat_history": HISTORY}) == ASKED


def test_before_a_retriever_it_is_a_history_aware_one(condenser: RiseqCondenser) -> None:
    search = condenser | Shelf()
    found = search.invoke({"input": ASKED, "chat_history": HISTORY})
    assert [one.page_content for one in found] == ["NASA won the prize in 1969."]
    assert Shelf().invoke(ASKED) == []
    prompt = ChatPromptTemplate.from_template("{docs}\n\nQuestion: {input}")
    chain = RunnablePassthrough.assign(docs=search | RunnableLambda(lambda docs: docs[0].page_content)) | prompt
    (message,) = chain.invoke({"input": ASKED, "chat_history": HISTORY}).to_messages()
    assert message.content == f"NASA won the prize in 1969.\n\nQuestion: {ASKED}"


def test_many_are_read_together_and_awaited(model: Path, condenser: RiseqCondenser) -> None:
    examples = make_examples(40)
    expected = [one.text for one in Resolver.load(model, threads=1).resolve_many(examples)]
    given: list[Question] = [{"input": one.question, "chat_history": list(one.context)} for one in examples]
    assert condenser.batch(given) == expected
    assert asyncio.run(condenser.abatch(given[:3])) == expected[:3]
    assert asyncio.run(condenser.ainvoke(given[0])) == expected[0]


def test_mistakes_are_one_line(condenser: RiseqCondenser, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, told in (
        ({"chat_history": HISTORY}, "got a dict, expected"),
        ({"input": ASKED, "question": ASKED}, "question and input are both there, expected one of them"),
        ({"messages": [*HISTORY]}, "messages: the last one is not the user's, expected the question"),
        ({"input": 7}, "the question is a int"),
    ):
        with pytest.raises(InputError, match=told):
            condenser.invoke(given)
    with pytest.raises(InputError, match="grounded goes with riseq simplify"):
        condenser.bind(grounded=False).invoke({"input": ASKED, "chat_history": HISTORY})
    monkeypatch.setattr("riseq.hub._find_shipped", lambda name: None)
    with pytest.raises(InputError, match=r"^resolve: no model that resolves questions ships with this riseq; make one"):
        RiseqCondenser()


def test_the_example_of_the_page_prints_what_it_says(
    root: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/integrations/langchain.md, by the model that ships, and where none does by the small one of the tests."""
    try:
        find_model("resolve")
    except InputError:
        monkeypatch.setattr("riseq.engine.resolver.find_resolve_model", lambda: model)
    page = (root / "docs" / "integrations" / "langchain.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n([^`]*RiseqCondenser.*?)^```\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    exec(found[1], {})
    assert capsys.readouterr().out == found[2]
