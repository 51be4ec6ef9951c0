"""Which forms stand beside the chosen one, and in what order."""

from __future__ import annotations

from pathlib import Path

import pytest

from riseq.engine.simplifier import Simplifier
from riseq.engine.variants import fall_back, pick_n_best
from riseq.model.inputs import Batch
from riseq.text.words import forms
from riseq.types import Simplification
from tiny_model import export_tiny, make_examples

QUESTION = "When did Ada win the big prize?"


def form(text: str, probability: float | None) -> Simplification:
    return Simplification(QUESTION, text, probability=probability)


HERS = form("When did she win the big prize?", 0.5)
OTHERS = [
    form("When did she win?", 0.1),
    form(QUESTION, 1e-9),
    form("When?", 1e-6),
    form("When did she win?", 0.2),
    form("When did she win it?", 0.3),
    HERS,
]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, [HERS.text]),
        (2, [HERS.text, "When did she win it?"]),
        (3, [HERS.text, "When did she win it?", "When did she win?"]),
        (9, [QUESTION, HERS.text, "When did she win it?", "When did she win?"]),
    ],
)
def test_the_most_probable_the_mildest_first(count: int, expected: list[str]) -> None:
    assert [one.text for one in pick_n_best(HERS, OTHERS, count)] == expected


def test_a_text_has_its_best_probability() -> None:
    assert {one.text: one.probability for one in pick_n_best(HERS, OTHERS, 9)}["When did she win?"] == 0.2


def test_the_chosen_one_is_among_them_however_improbable() -> None:
    chosen = form("When?", 1e-9)
    assert chosen in pick_n_best(chosen, OTHERS, 2)


def sure(text: str, confidence: float | None) -> Simplification:
    return Simplification(QUESTION, text, confidence=confidence)


SHORT = sure("When did she win?", 0.6)
FORMS = [sure(QUESTION, 0.3), sure("When did she win the big prize?", 0.85), sure("When did Ada win it?", 0.9)]


def test_a_sure_form_stays_and_an_unsure_one_gives_way_to_the_mildest_that_is_sure() -> None:
    assert fall_back(SHORT, FORMS, 0.6) is SHORT
    milder = fall_back(SHORT, FORMS, 0.8)
    assert (milder.text, milder.confidence) == (FORMS[1].text, 0.85)
    assert milder.reason == "below min_confidence 0.8: a milder form"
    assert fall_back(SHORT, FORMS, 0.88).text == FORMS[2].text
    assert fall_back(FORMS[1], [*FORMS, sure("When?", 1.0)], 0.95).text == QUESTION, "a stronger form is no way out"


def test_where_none_is_sure_the_question_stays() -> None:
    kept = fall_back(SHORT, FORMS, 0.95)
    assert (kept.text, kept.confidence) == (QUESTION, 0.3)
    assert kept.reason == "below min_confidence 0.95: the question as it is"
    assert fall_back(sure("When?", None), [], 0.1).text == QUESTION, "nobody knows how sure it is"


@pytest.fixture(scope="module", params=["float32", "int8"])
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Simplifier:
    base: Path = tmp_path_factory.getbasetemp()
    return Simplifier.load(export_tiny(base, "bert", request.param)[1], threads=1)


def test_the_engine_gives_different_texts_and_its_own(engine: Simplifier) -> None:
    sizes = set()
    examples = make_examples(25)
    for plain, result in zip(engine.batch(examples), engine.batch(examples, n_best=4), strict=True):
        assert (result.text, result.steps, result.probability) == (plain.text, plain.steps, plain.probability)
        assert plain.alternatives == ()
        texts = [one.text for one in result.alternatives]
        assert result.text in texts
        assert len(set(texts)) == len(texts) <= 4
        sizes.add(len(texts))
        for one in result.alternatives:
            assert one.question == result.question
            assert one.text == (one.steps[-1].text if one.steps else one.question)
            assert one.alternatives == ()
            assert one.probability is None or 0 <= one.probability <= 1
            assert forms(one.text)
    assert 4 in sizes


def test_no_reading_is_made_for_them(engine: Simplifier, monkeypatch: pytest.MonkeyPatch) -> None:
    read, readings = engine.backend.score, 0

    def count(batch: Batch) -> object:
        nonlocal readings
        readings += 1
        return read(batch)

    monkeypatch.setattr(engine.backend, "score", count)
    for example in make_examples(5):
        engine(example.question, example.context)
    alone, readings = readings, 0
    for example in make_examples(5):
        engine(example.question, example.context, n_best=5)
    assert readings == alone > 0


def test_protected_words_are_in_all_of_them(engine: Simplifier) -> None:
    for example in make_examples(15):
        word = forms(example.question)[0]
        result = engine(example.question, example.context, n_best=6, protect=[word], strength=1)
        for one in result.alternatives:
            assert forms(one.text).count(word) >= forms(example.question).count(word)


def test_a_question_without_dialogue_has_itself(engine: Simplifier) -> None:
    result = engine("Why?", n_best=3)
    assert [one.text for one in result.alternatives] == ["Why?"]
