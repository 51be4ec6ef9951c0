"""The model that ships, behind the server: the answers are the library's own, whatever shares their batch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from riseq.client import AsyncClient
from riseq.controls import Controls
from riseq.data.dataset import load_dataset
from riseq.engine.dialogue import DialogueWords
from riseq.hub import find_default_model
from riseq.server.engines import EditorEngine, Question
from server.serving import open_app, run_server


@pytest.fixture(scope="module")
def engine() -> EditorEngine:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    return EditorEngine(None, threads=1)


def test_what_the_server_says_is_what_the_library_says(engine: EditorEngine, root: Path) -> None:
    examples = load_dataset(root / "examples" / "everyday.jsonl")[:12]
    expected = [engine.editor(one.question, one.context, n_best=3) for one in examples]

    async def ask(address: str) -> None:
        async with AsyncClient(address) as client:
            together = await asyncio.gather(*(client(one.question, one.context, n_best=3) for one in examples))
            assert together == expected
            assert await client.batch(examples, n_best=3) == expected

    with run_server(engine, workers=2) as address:
        asyncio.run(ask(address))


def test_questions_after_one_dialogue_read_it_once(engine: EditorEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Sequence[str]] = []

    class Counted(DialogueWords):
        def __init__(self, context: Sequence[str]) -> None:
            read.append(context)
            super().__init__(context)

    questions = ["When was Alien released?", "How long is Alien?", "Who wrote the music of Alien?"]
    expected = [engine.editor(one, ["Who directed Alien?"]).text for one in questions]
    monkeypatch.setattr("riseq.engine.editor.DialogueWords", Counted)

    async def ask() -> None:
        async with open_app(engine) as (client, _):
            read.clear()  # readiness asks a question too
            body = {"context": ["Who directed Alien?"], "questions": questions}
            answer = await client.post("/v1/simplify", json=body)
            assert [one["text"] for one in answer.json()["results"]] == expected
            assert read == [("Who directed Alien?",)]

    asyncio.run(ask())


def test_controls_that_differ_share_a_batch_and_are_kept_apart(engine: EditorEngine) -> None:
    question, context = "Did Christopher Nolan win an Oscar?", ("Which films did Christopher Nolan direct?",)
    controls = [
        Controls(),
        Controls(strength=0),
        Controls(protect=("Christopher Nolan",)),
        Controls(n_best=2),
        Controls(guard=False),
    ]
    results = engine.simplify([Question(question, context, one) for one in controls])
    simplifier = engine.editor
    assert results == [
        simplifier(question, context),
        simplifier(question, context, strength=0),
        simplifier(question, context, protect=["Christopher Nolan"]),
        simplifier(question, context, n_best=2),
        simplifier(question, context, guard=False),
    ]
    assert results[1].text == question


def test_it_says_what_it_is(engine: EditorEngine) -> None:
    async def test() -> None:
        async with open_app(engine) as (client, _):
            body = (await client.get("/v1/model")).json()
            assert (body["name"], body["engine"], body["precision"]) == ("default", "onnx", "int8")
            assert (body["max_pieces"], body["phrases"]) == (512, len(engine.editor.phrases))
            window = engine.editor.window
            assert (body["utterance_pieces"], body["utterances"]) == (window.utterance_pieces, window.utterances)

    asyncio.run(test())
