"""``POST /v1/resolve``: a model of the way back behind the server, and servers that have none."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest

from riseq.cli import main
from riseq.client import AsyncClient, Client, FailedItem, ServerError
from riseq.controls import Controls
from riseq.engine.resolver import Resolver
from riseq.server.engines import EditorEngine
from riseq.server.models import NO_RESOLVER
from riseq.server.schemas import ResolveRequest
from riseq.types import InputError, Mention
from server.engines import POISON, RecordingEngine
from server.serving import ALIEN, ANSWER, open_app, run_server
from tiny_model import export_tiny
from tiny_resolver import export_tiny_resolver, make_examples

PATH = "/v1/resolve"
ASKED: dict[str, Any] = {"question": "Did it win a prize?", "context": ["Do you know NASA?"]}
RESOLVED = "Did NASA win a prize?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny_resolver(tmp_path_factory.getbasetemp(), "float32")[1]


@pytest.fixture
def none_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    """No model that resolves is anywhere, whatever this checkout has."""

    def refuse() -> Path:
        raise InputError("resolve: no model that resolves questions ships with this riseq")

    monkeypatch.setattr("riseq.server.models.find_resolve_model", refuse)


def test_every_form_of_request_has_the_librarys_own_answer(model: Path) -> None:
    examples = make_examples(30)
    resolver = Resolver.load(model, threads=1)
    expected = [resolver(one.question, one.context, n_best=2) for one in examples]
    assert sum(one.changed for one in expected) > 10

    async def ask(address: str) -> None:
        async with AsyncClient(address) as client:
            assert await client.batch(examples, direction="resolve", n_best=2) == expected
            together = (client.resolve(one.question, one.context, n_best=2) for one in examples)
            assert await asyncio.gather(*together) == expected
            questions = [one.question for one in examples]
            after = await client.many(["Do you know NASA?"], questions, direction="resolve")
            assert after == resolver.many(["Do you know NASA?"], questions)

    with run_server(resolve_model=model, threads=1, workers=2) as address:
        asyncio.run(ask(address))
        with httpx.Client(base_url=address) as client:
            chat = {"messages": [{"role": "user", "content": one} for one in (*ASKED["context"], ASKED["question"])]}
            answer = client.post(PATH, json=chat).json()
        (edit,) = answer["steps"][0]["edits"]
        assert (answer["text"], edit["new"]) == (RESOLVED, "NASA")
        mention = edit["refers_to"]
        assert ASKED["context"][mention["utterance"]][mention["start"] : mention["end"]] == "NASA"


def test_both_directions_share_the_queue_and_are_kept_apart(model: Path) -> None:
    async def test() -> None:
        engine = RecordingEngine()
        async with open_app(engine, resolve_model=model, threads=1) as (client, batcher):
            both = [client.post(PATH, json=ASKED), client.post("/v1/simplify", json=ALIEN)]
            resolved, simplified = await asyncio.gather(*both)
            assert (resolved.json()["text"], simplified.json()["text"]) == (RESOLVED, ANSWER)
            assert all(ASKED["question"] not in batch for batch in engine.batches)
            assert (await client.post("/v1/simplify", json=ASKED)).json()["text"] == ASKED["question"]
            text = (await client.get("/metrics")).text
            assert 'riseq_requests_total{route="/v1/resolve",status="200"} 1.0' in text.splitlines()
            batcher.drain()
            assert (await client.post(PATH, json=ASKED)).status_code == 503

    asyncio.run(asyncio.wait_for(test(), 60))


def test_the_listing_says_what_resolves_and_a_request_may_name_it(model: Path) -> None:
    async def test() -> None:
        async with open_app(resolve_model=model, threads=1) as (client, _):
            listed = (await client.get("/v1/models")).json()["models"]
            (own,) = (one for one in listed if one["direction"] == "resolve")
            assert (own["name"], own["kind"], own["at_work"], own["loaded"]) == ("float32", "model", True, True)
            assert {one["direction"] for one in listed if one is not own} == {"simplify"}
            assert (await client.post(PATH, json={**ASKED, "model": "float32"})).json()["text"] == RESOLVED
            for path, name, known in ((PATH, "dummy", "float32"), ("/v1/simplify", "float32", "dummy")):
                answer = await client.post(path, json={**ASKED, "model": name})
                assert answer.status_code == 422
                assert answer.json()["error"]["message"].startswith("model: there is no such model here; there are ")
                assert known in answer.json()["error"]["message"]

    asyncio.run(test())


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({**ASKED, "grounded": False}, 422, "grounded: there is no such field"),
        ({**ASKED, "guard": False}, 422, "guard: there is no such field"),
        ({"items": [ASKED, {**ASKED, "pronouns": {"Ada": "she"}}]}, 422, "items[1].pronouns: there is no such field"),
        ({**ASKED, "n_best": 21}, 422, "n_best: input should be less than or equal to 20"),
        ({**ASKED, "question": ""}, 422, "question: string should have at least 1 character"),
        (
            {"questions": ["Why?"], "messages": [{"role": 7, "content": "x"}]},
            422,
            "context: context[0]['role'] is a int",
        ),
        ({"items": [ASKED] * 4}, 413, "the request has 4 items, expected at most 3"),
        ({**ASKED, "question": "x" * 4_001}, 422, "question: string should have at most 4000 characters"),
    ],
)
def test_limits_and_mistakes_are_those_of_simplify(body: dict[str, Any], status: int, told: str) -> None:
    async def test() -> None:
        async with open_app(max_items=3) as (client, _):
            answer = await client.post(PATH, json=body)
            assert answer.status_code == status
            assert answer.json()["error"]["message"].startswith(told)
            assert (await client.post(PATH, content=b"{}")).status_code == 415

    asyncio.run(test())


def test_every_control_that_makes_sense_is_a_field_with_its_own_help() -> None:
    schemas = ResolveRequest.model_json_schema()["$defs"]
    expected = {
        one.name: one.metadata.get("resolve_help", one.metadata["help"])
        for one in fields(Controls)
        if one.metadata.get("only", "resolve") == "resolve"
    }
    assert "grounded" not in expected
    for name in ("ResolveItem", "ResolveChat", "ResolveCandidates"):
        given = {field: of["description"] for field, of in schemas[name]["properties"].items()}
        assert {field: given.get(field) for field in expected} == expected
        assert not {"grounded", "guard", "pronouns"} & set(given)


def test_a_question_that_fails_stands_at_its_place() -> None:
    with run_server(RecordingEngine()) as address, Client(address, model="origin") as client:
        # The name that the client has is of a system that simplifies: it goes with no request of the way back.
        first, bad = client.many(["Who directed Alien?"], ["When was it released?", POISON], direction="resolve")
        assert str(first) == "When was Alien released?"
        assert isinstance(bad, FailedItem)
        assert client.resolve("Is it good?", ["Who directed Alien?"]).edits[0].refers_to == Mention(0, 13, 18)
        assert client.resolve("Is it good?", ["Who directed Alien?"], strength=0).text == "Is it good?"
        (found,) = client.batch([("Is it good?", ["Who directed Alien?"])], direction="resolve")
        assert str(found) == "Is Alien good?"
        with pytest.raises(InputError, match="grounded goes with riseq simplify, not with riseq resolve"):
            client.resolve("Is it good?", grounded=False)
        with pytest.raises(InputError, match="guard goes with riseq simplify, not with riseq resolve"):
            client.resolve("Is it good?", guard=True)
        with pytest.raises(InputError, match="direction is 'back', expected simplify or resolve"):
            client.many([], ["Is it good?"], direction="back")  # type: ignore[arg-type]


def test_without_a_model_the_server_works_and_says_so_in_one_line(
    none_ships: None, tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    engine = EditorEngine(export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1], 1)
    caplog.set_level("INFO", "riseq.server")
    with run_server(engine) as address, Client(address) as client:
        assert client.ready()
        with pytest.raises(ServerError) as raised:
            client.resolve(ASKED["question"], ASKED["context"])
        assert (raised.value.status, raised.value.code, raised.value.message) == (404, "no_model", NO_RESOLVER)
        listed = httpx.get(f"{address}/v1/models").json()["models"]
        assert {one["direction"] for one in listed} == {"simplify"}
    assert NO_RESOLVER in caplog.messages


def test_what_ships_is_loaded_when_it_is_first_asked_for(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riseq.server.models.find_resolve_model", lambda: model)
    monkeypatch.setattr("riseq.server.models.DummyEngine", type(None))  # this dummy simplifies alone

    async def test() -> None:
        async with open_app(threads=1) as (client, _):

            async def is_loaded() -> bool:
                listed = (await client.get("/v1/models")).json()["models"]
                return next(bool(one["loaded"]) for one in listed if one["direction"] == "resolve")

            assert not await is_loaded()
            assert (await client.post(PATH, json=ASKED)).json()["text"] == RESOLVED
            assert await is_loaded()

    asyncio.run(test())


@pytest.mark.parametrize(
    ("folder", "told"),
    [(None, "a model to simplify questions; expected one to resolve them"), ("nowhere at all", "no such folder")],
)
def test_a_model_that_is_named_is_looked_at_before_the_server_starts(
    folder: str | None, told: str, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    simplifies = export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1]
    flags = ["--port", "0", "--engine", "dummy", "--resolve-model", folder or str(simplifies)]
    assert main(["serve", *flags]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
