"""The round trip as a guard: which form is said, by what its way back says of each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from riseq.engine.resolver import Resolver
from riseq.engine.round_trip import pick_whole
from riseq.engine.simplifier import Simplifier
from riseq.metrics.round_trip import find_lost
from riseq.text.words import forms
from riseq.types import InputError, RoundTripMode, Simplification
from tiny_model import export_tiny, make_examples
from tiny_resolver import export_tiny_resolver

QUESTION = "When did Ada win the big prize?"
SHORT, MILD, SHORTEST = "When did she win it?", "When did she win the big prize?", "When?"


def make(text: str, confidence: float | None = None, *others: Simplification) -> Simplification:
    return Simplification(QUESTION, text, confidence=confidence, alternatives=others)


OWN = make(SHORT, 0.5, make(QUESTION, 0.9), make(MILD, 0.8), make(SHORT, 0.5), make(SHORTEST, 0.1))


@pytest.mark.parametrize(
    ("whole", "least", "picked"),
    [
        ((SHORT, MILD, SHORTEST), 0.0, SHORTEST),
        ((SHORT, MILD), 0.0, SHORT),
        ((MILD,), 0.0, MILD),
        ((), 0.0, QUESTION),
        ((SHORT, MILD, SHORTEST), 0.3, SHORT),
        ((SHORT, SHORTEST), 0.7, QUESTION),
    ],
)
def test_the_shortest_that_comes_back_whole_is_said(whole: tuple[str, ...], least: float, picked: str) -> None:
    back = {text: "When did Ada win that big prize?" if text in whole else text for text in (SHORT, MILD, SHORTEST)}
    assert pick_whole(OWN, back, "require", least).text == picked
    own = pick_whole(OWN, back, "prefer", least)
    assert own.text == (SHORT if picked == QUESTION else picked)


def test_a_result_without_alternatives_is_its_own_only_form() -> None:
    assert pick_whole(make(SHORT), {SHORT: QUESTION}, "require").text == SHORT
    assert pick_whole(make(SHORT), {SHORT: SHORT}, "require") == make(QUESTION)
    assert pick_whole(make(QUESTION), {}, "require").text == QUESTION


class Stand:
    """A resolver that knows the questions, or nothing at all."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.known, self.asked = list(known), 0

    def resolve_many(self, items: list[tuple[str, Any]]) -> list[Simplification]:
        self.asked += 1
        everything = " ".join(self.known)
        return [Simplification(text, f"{text} {everything}") for text, _ in items]


def guard(engine: Simplifier, resolver: Stand, mode: RoundTripMode = "require") -> Simplifier:
    return engine.with_round_trip(resolver, mode)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Simplifier:
    return Simplifier.load(export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1], threads=1)


EXAMPLES = make_examples(40)


def test_by_a_resolver_that_changes_nothing_no_content_word_goes(engine: Simplifier) -> None:
    plain, guarded = list(engine.batch(EXAMPLES)), list(guard(engine, Stand()).batch(EXAMPLES))
    assert sum(bool(find_lost(one.question, one.text)) for one in plain) > 5, "else there is nothing to guard"
    assert not any(find_lost(one.question, one.text) for one in guarded)
    for was, now in zip(plain, guarded, strict=True):
        if was.text != now.text:
            assert now.reason is not None
            assert now.reason.startswith("round trip: ")
        else:
            assert now.reason == was.reason


def test_what_is_preferred_takes_nothing_away(engine: Simplifier) -> None:
    plain, guarded = list(engine.batch(EXAMPLES)), list(guard(engine, Stand(), "prefer").batch(EXAMPLES))
    others = [(was, now) for was, now in zip(plain, guarded, strict=True) if was.text != now.text]
    assert all(now.changed and not find_lost(now.question, now.text) for _, now in others)
    assert sum(bool(find_lost(one.question, one.text)) for one in guarded) > 5


def test_a_mode_that_is_none_is_refused(engine: Simplifier) -> None:
    with pytest.raises(InputError, match="mode is 'maybe', expected require or prefer"):
        guard(engine, Stand(), "maybe")  # type: ignore[arg-type]


def test_by_a_resolver_that_knows_everything_the_shortest_form_is_said(engine: Simplifier) -> None:
    resolver = Stand(one.question for one in EXAMPLES)
    guarded = list(guard(engine, resolver).batch(EXAMPLES))
    assert resolver.asked == 1, "all forms are resolved in one batch"
    for one, now in zip(engine.batch(EXAMPLES, n_best=8), guarded, strict=True):
        lengths = [len(forms(form.text)) for form in one.alternatives if form.changed]
        assert len(forms(now.text)) == min(lengths, default=len(forms(one.question)))
        assert not now.alternatives


def test_alternatives_and_protected_words_are_as_asked_for(engine: Simplifier) -> None:
    guarded = guard(engine, Stand(one.question for one in EXAMPLES))
    for one in guarded.batch(EXAMPLES, n_best=3):
        assert 1 <= len(one.alternatives) <= 3
        assert one.text in [form.text for form in one.alternatives]
    words = ["film", "Tokyo"]
    for one in guarded.batch(EXAMPLES, protect=words):
        assert all(forms(one.text).count(word.lower()) >= forms(one.question).count(word.lower()) for word in words)


def test_the_engine_it_was_made_from_stays_as_it_was(engine: Simplifier) -> None:
    before = list(engine.batch(EXAMPLES))
    guarded = guard(engine, Stand())
    assert engine.round_trip is None
    assert list(engine.batch(EXAMPLES)) == before
    alone = [guarded(one.question, one.context).text for one in EXAMPLES]
    assert alone == [one.text for one in guarded.batch(EXAMPLES)]
    suggestions = guarded.ask(["Is the film by Zappa?"], ["Did Hayes like the film?"])
    assert len(suggestions) == 1
    assert not find_lost(suggestions[0].question, suggestions[0].text)


def test_a_real_resolver_guards_too(engine: Simplifier, tmp_path_factory: pytest.TempPathFactory) -> None:
    resolver = Resolver.load(export_tiny_resolver(Path(tmp_path_factory.getbasetemp()), "float32")[1], threads=1)
    guarded = list(engine.with_round_trip(resolver).batch(EXAMPLES))
    changed = [(one, example) for one, example in zip(guarded, EXAMPLES, strict=True) if one.changed]
    for one, example in changed:
        assert not find_lost(one.question, resolver.resolve(one.text, example.context).text)
