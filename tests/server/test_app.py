"""The routes, over an engine whose answers are known: what comes back, and what is refused."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest

from riseq.server.app import STATIC
from server.engines import POISON, GatedEngine, RecordingEngine
from server.serving import ALIEN, ANSWER, open_app

PATH = "/v1/simplify"
KEY = "correct horse battery staple"


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 20))


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def error_of(answer: httpx.Response) -> tuple[int, str]:
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "request_id"}
    assert body["error"]["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, body["error"]["code"]


def test_one_question_has_one_result_with_its_passes_and_edits() -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            answer = await client.post(PATH, json={**ALIEN, "n_best": 2})
            assert answer.status_code == 200
            body = answer.json()
            assert (body["text"], body["changed"], body["truncated"]) == (ANSWER, True, False)
            (step,) = body["steps"]
            (edit,) = step["edits"]
            assert step["before"] == ALIEN["question"]
            assert step["before"][edit["start"] : edit["end"]] == edit["old"] == "Alien"
            assert (edit["op"], edit["new"], edit["probability"]) == ("substitute", "it", 0.75)
            assert [one["text"] for one in body["alternatives"]] == [ALIEN["question"], ANSWER]

    run(test())


def test_many_are_answered_in_order_and_a_bad_one_fails_alone() -> None:
    async def test() -> None:
        async with open_app(RecordingEngine()) as (client, _):
            items = [ALIEN, {"question": f"A {POISON}?"}, {"question": "Fine?"}]
            answer = await client.post(PATH, json={"items": items})
            assert answer.status_code == 200
            first, bad, last = answer.json()["results"]
            assert (first["text"], last["text"]) == (ANSWER, "Fine?")
            assert bad["error"]["code"] == "failed"
            assert "secret" not in answer.text
            assert error_of(await client.post(PATH, json=items[1])) == (500, "failed")

    run(test())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "question: field required"),
        ({"question": ""}, "question: string should have at least 1 character"),
        ({"question": 3}, "question: input should be a valid string"),
        ({"question": "x" * 4_001}, "question: string should have at most 4000 characters"),
        ({"question": "a\ud800b"}, "question: input should be a valid string"),
        ({"question": "Q?", "context": ["\udfff"]}, "context[0]: input should be a valid string"),
        ({"question": "Q?", "context": 7}, "context: the context is a int, expected a list of utterances"),
        ({"question": "Q?", "context": [{"who": "me"}]}, "context: context[0] has the keys ['who'], expected role"),
        ({"question": "Q?", "context": [["a", "b", "c"]]}, "context: context[0] is not a pair of strings"),
        ({"question": "Q?", "context": ["x"] * 1_001}, "context: it has more than 1,000 utterances"),
        (
            {"question": "Q?", "context": ["x", {"speaker": 1, "text": "x"}]},
            "context: context[1] has a part of the wrong",
        ),
        ({"question": "Q?", "strength": 1.5}, "strength: input should be less than or equal to 1"),
        ({"question": "Q?", "strength": "0.5"}, "strength: input should be a valid number"),
        ({"question": "Q?", "strength": True}, "strength: input should be a valid number"),
        ({"question": "Q?", "protect": "Alien"}, "protect: input should be a valid list"),
        ({"question": "Q?", "protect": [" "]}, "protect: protect[0] is ' ', expected at least one word"),
        ({"question": "Q?", "n_best": 0}, "n_best: input should be greater than or equal to 1"),
        ({"question": "Q?", "max_passes": 1.5}, "max_passes: input should be a valid integer"),
        ({"question": "Q?", "guard": 1}, "guard: input should be a valid boolean"),
        ({"question": "Q?", "strenght": 1}, "strenght: there is no such field"),
        ({"items": []}, "items: list should have at least 1 item"),
        ({"items": [{"question": "Q?"}, {"question": None}]}, "items[1].question: input should be a valid string"),
        ({"questions": []}, "questions: list should have at least 1 item"),
        ({"questions": "Q?"}, "questions: input should be a valid list"),
        ({"questions": ["Q?", ""]}, "questions[1]: string should have at least 1 character"),
        ({"questions": ["Q?"], "question": "Q?"}, "question: there is no such field"),
        ({"questions": ["Q?"], "strength": 2}, "strength: input should be less than or equal to 1"),
        ({"questions": ["Q?"], "messages": [{"role": 7, "content": "x"}]}, "context: context[0]['role'] is a int"),
        ({"messages": []}, "messages: list should have at least 1 item"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "the body: messages: the last one is not the user's"),
        ({"messages": [{"role": "user", "content": ""}]}, "the body: the last message, the question: String should"),
        ({"items": [{"messages": [{"role": "user"}]}]}, "items[0].messages[0].content: field required"),
        ({"question": "Q?", "messages": [], "context": []}, "the body: messages and context are both there"),
        ([], "the body: "),
        ("Q?", "the body: "),
        (None, "the body: "),
    ],
)
def test_a_request_that_makes_no_sense_is_told_why_in_one_line(body: object, said: str) -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            # Not by httpx, which has its own mind about lone surrogates.
            answer = await client.post(PATH, content=json.dumps(body), headers={"Content-Type": "application/json"})
            assert error_of(answer) == (422, "invalid")
            message = answer.json()["error"]["message"]
            assert message.startswith(said)
            assert "\n" not in message

    run(test())


def test_an_unknown_page_and_a_wrong_method_have_the_same_shape_of_error() -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            assert error_of(await client.get("/nope")) == (404, "not_found")
            answer = await client.get(PATH)
            assert error_of(answer) == (405, "method_not_allowed")
            assert answer.headers["allow"] == "POST"
            assert error_of(await client.get("/static/../app.py")) == (404, "not_found")

    run(test())


def test_too_many_items_are_a_413_and_the_limit_itself_is_not() -> None:
    async def test() -> None:
        async with open_app(max_items=3) as (client, _):
            assert (await client.post(PATH, json={"items": [ALIEN] * 3})).status_code == 200
            assert error_of(await client.post(PATH, json={"items": [ALIEN] * 4})) == (413, "too_many_items")

    run(test())


def test_a_full_queue_is_a_429_that_says_when_to_come_back() -> None:
    async def test() -> None:
        engine = GatedEngine()
        engine.gate.set()
        async with open_app(engine, max_queue=2, max_items=2, max_batch=1) as (client, batcher):
            engine.gate.clear()
            first = [asyncio.create_task(client.post(PATH, json=ALIEN))]
            await until(lambda: not batcher.idle and not batcher.queued)
            first += [asyncio.create_task(client.post(PATH, json=ALIEN)) for _ in range(2)]
            await until(lambda: batcher.queued == 2)
            refused = await client.post(PATH, json=ALIEN)
            assert error_of(refused) == (429, "queue_full")
            assert int(refused.headers["retry-after"]) >= 1
            unready = await client.get("/ready")
            assert unready.status_code == 503
            assert unready.json() == {"status": "not ready", "reason": "the queue is full", "queued": 2}
            engine.gate.set()
            assert [answer.status_code for answer in await asyncio.gather(*first)] == [200] * 3
            assert (await client.get("/ready")).status_code == 200

    run(test())


def test_an_answer_that_takes_too_long_is_a_408_and_its_question_leaves_the_queue() -> None:
    async def test() -> None:
        engine = GatedEngine()
        engine.gate.set()
        async with open_app(engine, timeout_s=0.1, max_batch=1) as (client, batcher):
            engine.gate.clear()
            answers = await asyncio.gather(*(client.post(PATH, json=ALIEN) for _ in range(3)))
            assert {error_of(answer) for answer in answers} == {(408, "deadline")}
            assert batcher.queued == 0
            engine.gate.set()
            await until(lambda: batcher.idle)
            assert (await client.post(PATH, json=ALIEN)).json()["text"] == ANSWER

    run(test())


def test_a_draining_server_answers_503_and_is_not_ready_but_is_healthy() -> None:
    async def test() -> None:
        async with open_app() as (client, batcher):
            batcher.drain()
            answer = await client.post(PATH, json=ALIEN)
            assert error_of(answer) == (503, "draining")
            assert int(answer.headers["retry-after"]) >= 1
            assert (await client.get("/ready")).json()["reason"] == "shutting down"
            assert (await client.get("/health")).json() == {"status": "ok"}

    run(test())


def test_what_the_key_locks_and_what_it_does_not() -> None:
    async def test() -> None:
        async with open_app(api_key=KEY) as (client, _):
            for path in ("/health", "/ready", "/docs", "/openapi.json"):
                assert (await client.get(path)).status_code == 200
            for name, value in (
                ("X", ""),
                ("X-API-Key", f"{KEY}x"),
                ("Authorization", f"Basic {KEY}"),
                ("X-API-Key", "ü"),
            ):
                headers = [(name.encode(), value.encode())]
                for path in ("/v1/model", "/metrics"):
                    answer = await client.get(path, headers=headers)
                    assert error_of(answer) == (401, "unauthorized")
                    assert answer.headers["www-authenticate"] == "Bearer"
                assert error_of(await client.post(PATH, json=ALIEN, headers=headers)) == (401, "unauthorized")
            for name, value in (
                ("X-API-Key", KEY),
                ("Authorization", f"Bearer {KEY}"),
                ("authorization", f"bearer {KEY}"),
            ):
                headers = [(name.encode(), value.encode())]
                assert (await client.get("/v1/model", headers=headers)).status_code == 200
                assert (await client.post(PATH, json=ALIEN, headers=headers)).status_code == 200
                assert (await client.get("/metrics", headers=headers)).status_code == 200

    run(test())


@pytest.mark.parametrize("path", ["/health", "/nope", "/docs", "/v1/model", "/"])
def test_every_answer_has_the_security_headers(path: str) -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            headers = (await client.get(path)).headers
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "unsafe" not in policy
            assert "http" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cache-control"] == ("no-cache" if path == "/" else "no-store")
            assert "server" not in headers
            assert "access-control-allow-origin" not in headers

    run(test())


def test_other_origins_are_let_in_only_where_they_are_named() -> None:
    async def test() -> None:
        asked = {"Origin": "https://good.example", "Access-Control-Request-Method": "POST"}
        async with open_app() as (client, _):
            answer = await client.options(PATH, headers=asked)
            assert answer.status_code == 405
            assert "access-control-allow-origin" not in answer.headers
        async with open_app(cors_origins=["https://good.example"], api_key=KEY) as (client, _):
            answer = await client.options(PATH, headers=asked)
            assert answer.headers["access-control-allow-origin"] == "https://good.example"
            bad = await client.options(PATH, headers={**asked, "Origin": "https://bad.example"})
            assert "access-control-allow-origin" not in bad.headers
            # A page must be able to read that its key is wrong.
            refused = await client.post(PATH, json=ALIEN, headers={"Origin": "https://good.example"})
            assert refused.status_code == 401
            assert refused.headers["access-control-allow-origin"] == "https://good.example"

    run(test())


def test_the_log_has_what_happened_and_nothing_that_users_said(caplog: pytest.LogCaptureFixture) -> None:
    async def test(**settings: Any) -> None:
        async with open_app(RecordingEngine(), **settings) as (client, _):
            await client.post(f"{PATH}?q=Alien", json=ALIEN, headers={"X-Request-Id": "abc-1"})
            await client.post(PATH, json={"question": f"{POISON} of Alien"})
            await client.get("/Alien")
            await client.request("ALIEN", "/health")

    caplog.set_level(logging.DEBUG, "riseq.server")
    run(test())
    assert "request=abc-1 method=POST route=/v1/simplify status=200" in caplog.text
    assert "ValueError at engines.py:" in caplog.text
    assert "alien" not in caplog.text.lower()
    assert "secret" not in caplog.text
    caplog.clear()
    run(test(log_text=True))
    assert "question='When was Alien released?'" in caplog.text
    assert "ValueError: the poison's own words: secret at" in caplog.text


def test_a_crash_in_a_route_is_a_500_without_a_trace(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with open_app() as (client, batcher):

            def crash(asks: object) -> None:
                raise RuntimeError("the secret insides")

            batcher.submit = crash  # type: ignore[method-assign, assignment]
            answer = await client.post(PATH, json=ALIEN)
            assert error_of(answer) == (500, "failed")
            assert "secret" not in answer.text
            assert "Traceback" not in answer.text

    run(test())
    assert "RuntimeError at test_app.py:" in caplog.text
    assert "secret" not in caplog.text


def test_a_request_keeps_its_own_id_where_it_is_harmless() -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            for told, kept in (("abc-1", True), ("a b", False), ("x" * 65, False), ("a\tstatus=200", False)):
                answer = await client.get("/health", headers={"X-Request-Id": told})
                assert (answer.headers["x-request-id"] == told) is kept

    run(test())


def test_metrics_count_requests_batches_queue_passes_and_truncations() -> None:
    async def test() -> None:
        async with open_app(RecordingEngine()) as (client, _):
            await client.post(PATH, json={"items": [ALIEN, ALIEN, {"question": POISON}]})
            await client.post(PATH, json={})
            await client.get("/some/address/of/a/scanner")
            await client.post(PATH, content=b"x")
            text = (await client.get("/metrics")).text
            for line in (
                'riseq_requests_total{route="/v1/simplify",status="200"} 1.0',
                'riseq_requests_total{route="/v1/simplify",status="422"} 1.0',
                'riseq_requests_total{route="other",status="404"} 1.0',
                'riseq_requests_total{route="/v1/simplify",status="415"} 1.0',
                'riseq_request_seconds_count{route="/v1/simplify"} 3.0',
                'riseq_items_total{outcome="answered"} 3.0',  # with the probe at the start
                'riseq_items_total{outcome="failed"} 1.0',
                "riseq_batch_items_sum 4.0",
                "riseq_queue_items 0.0",
                "riseq_passes_sum 3.0",
                "riseq_truncations_total 0.0",
            ):
                assert line in text.splitlines()

    run(test())


def test_the_model_is_told_with_its_limits() -> None:
    async def test() -> None:
        async with open_app(max_items=7) as (client, _):
            body = (await client.get("/v1/model")).json()
            assert (body["name"], body["engine"], body["default_strength"]) == ("dummy", "dummy", 0.5)
            assert body["limits"]["max_items"] == 7

    run(test())


def test_the_reference_names_every_path_and_model_and_loads_nothing_from_elsewhere() -> None:
    async def test() -> None:
        async with open_app() as (client, _):
            page = (await client.get("/docs")).text
            document = (await client.get("/openapi.json")).json()
            for path in document["paths"]:
                assert path in page
            for name in document["components"]["schemas"]:
                assert f'id="{name}"' in page
            assert "http:" not in page.replace("http://test", "")
            assert "https:" not in page
            loaded = re.findall(r'<(?:link|script)[^>]* (?:href|src)="([^"]*)"', page)
            assert loaded == ["/static/logo.svg", "/static/docs.css", "/static/docs.js"]
            assert [(await client.get(path)).status_code for path in loaded] == [200, 200, 200]

    run(test())


def test_the_playground_and_its_files_are_served() -> None:
    if not (STATIC / "index.html").is_file():
        pytest.skip("this checkout has no playground")

    async def test() -> None:
        async with open_app() as (client, _):
            page = await client.get("/")
            assert page.headers["content-type"].startswith("text/html")
            head = await client.head("/")
            assert (head.status_code, head.content) == (200, b"")
            assert head.headers["content-length"] == page.headers["content-length"]
            name = next(path.name for path in sorted(Path(STATIC).iterdir()) if path.suffix == ".js")
            script = await client.get(f"/static/{name}")
            assert script.status_code == 200
            assert "javascript" in script.headers["content-type"]

    run(test())
