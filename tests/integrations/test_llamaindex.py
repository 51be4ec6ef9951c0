"""The query transform before LlamaIndex's own query engine."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.query_engine import TransformQueryEngine
from llama_index.core.schema import QueryBundle, TextNode

from riseq.controls import Controls
from riseq.engine.simplifier import Simplifier
from riseq.integrations.llamaindex import SimplifyQuery
from riseq.types import InputError

Rows = list[tuple[str, list[str]]]


class Listening(MockEmbedding):
    """Embeds everything alike, and keeps what it was asked for."""

    asked: list[str] = []  # noqa: RUF012 - pydantic copies it

    def _get_query_embedding(self, query: str) -> list[float]:
        self.asked.append(query)
        return super()._get_query_embedding(query)


def find_changed(rows: Rows, texts: list[str]) -> int:
    return next(place for place, row in enumerate(rows) if len(row[1]) > 2 and texts[place] != row[0])


def test_the_query_changes_and_what_is_embedded_does_not(simplifier: Simplifier, rows: Rows, texts: list[str]) -> None:
    place = find_changed(rows, texts)
    question, context = rows[place]
    bundle = SimplifyQuery(simplifier).run(question, {"context": context})
    assert (bundle.query_str, bundle.embedding_strs) == (texts[place], [question])
    bundle = SimplifyQuery(simplifier).run(QueryBundle(question, custom_embedding_strs=["x"]), {"context": context})
    assert (bundle.query_str, bundle.embedding_strs) == (texts[place], ["x"])
    assert SimplifyQuery(simplifier).run(question).query_str == question
    assert SimplifyQuery(simplifier, strength=0.0).run(question, {"context": context}).query_str == question
    kept = SimplifyQuery(simplifier, controls=Controls(strength=0.0))
    assert kept.run(question, {"context": context}).query_str == question


def test_an_engine_asks_conversationally_and_searches_in_full(
    simplifier: Simplifier, rows: Rows, texts: list[str]
) -> None:
    place = find_changed(rows, texts)
    question, context = rows[place]
    roles = ("user", "assistant")
    said: list[Any] = [ChatMessage(role="system", content="Be kind.")]
    said += [ChatMessage(role=roles[turn % 2], content=text) for turn, text in enumerate(context)]
    embedding = Listening(embed_dim=4)
    index = VectorStoreIndex([TextNode(text="Some film.")], embed_model=embedding)
    # MockLLM says its prompt again.
    engine = TransformQueryEngine(
        index.as_query_engine(llm=MockLLM()), SimplifyQuery(simplifier), transform_metadata={"context": said}
    )
    assert f"Query: {texts[place]}\n" in str(engine.query(question))
    assert embedding.asked == [question]


def test_a_mistake_is_told(simplifier: Simplifier) -> None:
    with pytest.raises(InputError, match="the context is a int"):
        SimplifyQuery(simplifier).run("Why?", {"context": 7})
