"""Extra pairs: what is added, and what must never change."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.text.words import forms
from riseq.train.mixture import Mention, borrow_answers, drop_answers, find_mention, swap_entities, swap_mention
from riseq.types import Example

PRONOUNS = {"man": {"he", "him", "his"}, "woman": {"she", "her", "hers"}, "thing": {"it", "its"}}


def make(question: str, target: str, *context: str, name: str = "x") -> Example:
    return Example(name, context or ("Tell me more.",), question, target)


PEOPLE = [
    make("Did Alan Turing win?", "Did he win?", "Who was Alan Turing?", name="turing"),
    make("When did Emmy Noether die?", "When did she die?", "Who was Emmy Noether?", name="noether"),
    make("When was Alien released?", "When was it released?", "What is Alien?", name="alien"),
]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_answers_are_dropped_from_the_share_that_is_asked_for(rng: np.random.Generator) -> None:
    examples = [make("Why?", "Why?", "q1", "a1", "q2", "a2", name=str(k)) for k in range(400)]
    made = drop_answers(examples, 0.25, rng)
    assert len(made) == pytest.approx(100, abs=25)
    assert {e.context for e in made} == {("q1", "q2")}
    assert all(e.id.endswith("/questions") and e.question == "Why?" for e in made)
    assert drop_answers(examples, 0.0, rng) == []
    assert len(drop_answers(examples, 1.0, rng)) == 400


def test_borrowed_answers_stand_after_each_question_and_change_nothing_else(rng: np.random.Generator) -> None:
    examples = [make("Why?", "Why?", "q1", "q2", name=str(k)) for k in range(300)]
    made = borrow_answers(examples, ["a1", "a2"], 0.5, rng)
    assert len(made) == pytest.approx(150, abs=30)
    for example in made:
        assert example.context[::2] == ("q1", "q2")
        assert set(example.context[1::2]) <= {"a1", "a2"}
        assert (example.question, example.target) == ("Why?", "Why?")
    assert len({e.context for e in made}) == 4
    assert borrow_answers(examples, [], 0.5, rng) == []
    assert borrow_answers(examples, ["a1"], 0.0, rng) == []


@pytest.mark.parametrize(
    ("question", "target", "wanted"),
    [
        ("Did Alan Turing win?", "Did he win?", Mention(("alan", "turing"), "man")),
        ("What was Alan Turing's machine?", "What was his machine?", Mention(("alan", "turing"), "man")),
        ("When was Alien released?", "When was it released?", Mention(("alien",), "thing")),
        ("Did Alan Turing win?", "Did Alan Turing win?", None),
        ("Did the band split?", "Did they split?", None),
        ("Did Alan meet Emmy?", "Did he meet her?", None),
        ("Was the film of 1979 good?", "Was it good?", None),
        ("Did the win?", "Did he win?", None),
    ],
)
def test_an_entity_is_what_its_only_pronoun_replaces(question: str, target: str, wanted: Mention | None) -> None:
    assert find_mention(make(question, target)) == wanted


def test_swapped_pairs_follow_the_kind_and_keep_every_other_word(rng: np.random.Generator) -> None:
    by_id = {example.id: example for example in PEOPLE}
    names = {"man": ["alan", "turing"], "woman": ["emmy", "noether"], "thing": ["alien"]}
    kinds = {"turing": "man", "noether": "woman", "alien": "thing"}
    made = swap_entities(PEOPLE, 30.0, rng)
    assert len(made) > 60
    for example in made:
        name, kind = example.id.split("/")
        assert kind != kinds[name]
        assert example.target is not None
        target, question = forms(example.target), forms(example.question)
        assert set(target) & set().union(*PRONOUNS.values()) <= PRONOUNS[kind]
        assert set(target) & PRONOUNS[kind]
        # With the entity's name put back, question and context are what they were.
        old, new = " ".join(names[kinds[name]]), " ".join(names[kind])
        assert " ".join(question).replace(new, old) == " ".join(forms(by_id[name].question))
        assert example.context[0].replace(new, old) == " ".join(forms(by_id[name].context[0]))
    assert {example.id.split("/")[1] for example in made} == set(PRONOUNS)


@pytest.mark.parametrize(
    ("target", "wanted"),
    [
        ("Did she win?", "did he win ?"),
        ("Who met her?", "who met him ?"),
        ("Who met her in Rome?", "who met him in rome ?"),
        ("What was her prize?", "what was his prize ?"),
        ("Was the prize hers?", "was the prize his ?"),
        ("Did it and she win?", "did it and he win ?"),
    ],
)
def test_a_pronoun_keeps_its_role(target: str, wanted: str) -> None:
    source = Example("n", ("Who is Emmy?",), "What of Emmy?", target)
    swapped = swap_mention(source, Mention(("emmy",), "woman"), Mention(("alan",), "man"))
    assert swapped is not None
    assert swapped.target == wanted


def test_a_surname_alone_is_the_entity_too() -> None:
    example = make("Did Alan Turing win?", "Did he win?", "Turing was born in London.")
    swapped = swap_mention(example, Mention(("alan", "turing"), "man"), Mention(("the", "rust", "language"), "thing"))
    assert swapped is not None
    assert swapped.context == ("the rust language was born in london .",)
    assert (swapped.question, swapped.target) == ("did the rust language win ?", "did it win ?")


def test_without_every_kind_or_without_a_share_nothing_is_swapped(rng: np.random.Generator) -> None:
    assert swap_entities(PEOPLE[:2], 5.0, rng) == []
    assert swap_entities(PEOPLE, 0.0, rng) == []
