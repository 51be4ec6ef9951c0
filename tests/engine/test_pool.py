"""What of a pool fits a dialogue, and what was asked or answered already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from riseq import QuestionPool, Simplifier
from riseq.hub import find_default_model
from riseq.types import InputError
from tiny_model import export_tiny


@pytest.fixture(scope="module")
def questions(root: Path) -> list[str]:
    return (root / "examples" / "pool.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def pool(questions: list[str]) -> QuestionPool:
    return QuestionPool(questions)


def picked(pool: QuestionPool, context: Sequence[str], n: int = 3) -> list[str]:
    return [one.question for one in pool.pick(context, n)]


@pytest.mark.parametrize(
    ("context", "subject"),
    [
        (["Is Lisbon worth a visit in winter?", "Yes, it is mild and there are few tourists."], "Lisbon"),
        (["Is the Kindle Paperwhite waterproof?", "Yes, it survives an hour in fresh water."], "Kindle"),
        (["What causes migraines?", "Nobody knows.", "Are they hereditary?", "Often, yes."], "migraine"),
        (["Who directed Alien?", "Ridley Scott.", "And who was Marie Curie?", "A physicist."], "Curie"),
        (["Who was Marie Curie?", "A physicist.", "And who directed Alien?", "Ridley Scott."], "Alien"),
    ],
    ids=[
        "a city",
        "chance words",
        "a pronoun for the subject",
        "the latest subject",
        "the latest subject, turned round",
    ],
)
def test_what_the_dialogue_is_about_comes_first(pool: QuestionPool, context: list[str], subject: str) -> None:
    found = pool.pick(context)
    assert len(found) == 3
    assert all(subject in one.question for one in found), found
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(pool.questions[one.index] == one.question for one in found)


@pytest.mark.parametrize("context", [[], [""], ["Hi there!", "Hello, how can I help?"], ["What is a quasar?"]])
def test_nothing_is_picked_where_nothing_fits(pool: QuestionPool, context: list[str]) -> None:
    assert pool.pick(context) == []


# The dialogue, a question, whether it is asked or answered there, and why.
SAID = [
    (["Where was Marie Curie born?"], "Where was Marie Curie born?", True, "asked in the same words"),
    (["Where were the Curies born, Marie and all?"], "Where was Marie Curie born?", True, "by stem, with more words"),
    (["When was Marie Curie born?"], "Where was Marie Curie born?", False, "asked for something else"),
    (["Marie Curie was born in Warsaw."], "Where was Marie Curie born?", True, "answered before it is asked"),
    (["Who was Marie Curie?", "Where was she born?"], "Where was Marie Curie born?", True, "asked with a pronoun"),
    (["Who was Marie Curie?", "Where was she buried?"], "Where was Marie Curie born?", False, "asks something new"),
    (["Who was Marie Curie?", "Where was Pierre born?"], "Where was Marie Curie born?", False, "asked of someone else"),
    (["Who was Marie Curie?"], "Where was Marie Curie born?", False, "only the subject was said"),
    (["How long is Alien?"], "How much did Alien cost?", False, "how long and how much differ"),
    (["Marie Curie.", "She studied physics.", "Warsaw."], "Where was Marie Curie born?", False, "in three pieces"),
]


@pytest.mark.parametrize(("context", "question", "said", "why"), SAID, ids=[why for *_, why in SAID])
def test_what_was_asked_or_answered_is_left_out(context: list[str], question: str, said: bool, why: str) -> None:
    assert bool(picked(QuestionPool([question]), context)) is not said


def test_near_duplicates_are_picked_once() -> None:
    same = ["How long is Alien?", "How long is Alien?", "How long is the film Alien?", "When was Alien released?"]
    assert picked(QuestionPool(same), ["Who directed Alien?"]) == ["How long is Alien?", "When was Alien released?"]


def test_as_many_as_wanted_and_a_long_pool(questions: list[str]) -> None:
    many = QuestionPool([f"{one[:-1]}, number {number}?" for number in range(200) for one in questions])
    assert len(many) == 12_000
    assert len(picked(many, ["Is Lisbon nice?"], n=7)) == 7


def test_embeddings_find_what_shares_no_word() -> None:
    subjects = {"sea": (1.0, 0.0), "ocean": (1.0, 0.1), "tax": (0.0, 1.0)}
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.append(list(texts))
        return np.array([next((v for k, v in subjects.items() if k in text), (0.0, 0.0)) for text in texts])

    pool = QuestionPool(["Who pays the tax?", "How deep is the ocean?"], embed)
    assert picked(pool, ["I love the sea."], 1) == ["How deep is the ocean?"]
    assert picked(pool, ["What is a tax?", "Money."], 1) == ["Who pays the tax?"]
    assert [len(one) for one in asked] == [2, 1, 2]  # the pool once, then each dialogue
    assert picked(QuestionPool(pool.questions), ["I love the sea."]) == []


@pytest.mark.parametrize("vectors", [np.zeros((1, 2)), np.zeros(2), np.full((2, 2), np.nan)])
def test_wrong_embeddings_are_told(vectors: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"embed gave .* for 2 texts, expected a row of finite numbers each"):
        QuestionPool(["a?", "b?"], lambda _: vectors)


def test_a_simplifier_asks_in_conversational_form(tmp_path_factory: pytest.TempPathFactory) -> None:
    simplifier = Simplifier.load(export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1], threads=1)
    context, pool = ["Who was Ira Hayes?"], ["Why is the sky blue?", "Where was Ira Hayes born?", "Who was Ira Hayes?"]
    (one,) = simplifier.ask(context, pool)
    assert (one.index, one.question) == (1, pool[1])
    assert one.result == simplifier(pool[1], context)
    assert str(one) == one.text == one.result.text
    assert one.to_dict() == {**one.result.to_dict(), "score": one.score, "index": 1}
    assert simplifier.ask([{"role": "user", "content": context[0]}], QuestionPool(pool)) == [one]
    assert simplifier.ask(context, pool, strength=0)[0].text == pool[1]
    assert simplifier.ask(context, []) == []
    for wrong, told in (("Why?", "the pool is a string"), ([7], r"pool\[0\] is a int")):
        with pytest.raises(InputError, match=told):
            simplifier.ask(context, wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="embed goes with a list"):
        simplifier.ask(context, QuestionPool(pool), embed=lambda texts: np.ones((len(texts), 1)))
    with pytest.raises(InputError, match="n is 0"):
        simplifier.ask(context, pool, 0)


def test_the_shipped_pool_is_in_order(questions: list[str]) -> None:
    assert len(questions) == len(set(questions)) == 60
    assert all(one == one.strip() and one.endswith("?") for one in questions)


def test_the_shipped_model_asks(questions: list[str]) -> None:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    asked = Simplifier.load(threads=1).ask(["What do red pandas eat?", "Bamboo, mostly."], questions)
    assert [one.text for one in asked] == ["How big do they get?", "Where do they live?", "Are they endangered?"]
