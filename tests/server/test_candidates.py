"""Several questions after one dialogue, in one request."""

from __future__ import annotations

import asyncio

from server.engines import POISON, RecordingEngine
from server.serving import open_app


def test_questions_after_one_dialogue_are_answered_in_one_batch_and_a_bad_one_fails_alone() -> None:
    async def test() -> None:
        engine = RecordingEngine()
        async with open_app(engine) as (client, _):
            engine.batches.clear()
            questions = ["When was Alien released?", "Fine?", "Is Alien good?"]
            body = {"context": ["Who directed Alien?"], "questions": questions}
            results = (await client.post("/v1/simplify", json=body)).json()["results"]
            assert [one["text"] for one in results] == ["When was it released?", "Fine?", "Is it good?"]
            assert sorted(map(len, engine.batches)) == [3]
            answer = await client.post("/v1/simplify", json={"questions": [f"A {POISON}?", "Fine?"]})
            bad, fine = answer.json()["results"]
            assert (bad["error"]["code"], fine["text"]) == ("failed", "Fine?")

    asyncio.run(asyncio.wait_for(test(), 20))
