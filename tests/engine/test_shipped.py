"""The model that ships, as a person would judge it; int8 differs between processors, so nothing here is close."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.dataset import load_dataset
from riseq.engine.simplifier import Simplifier
from riseq.hub import find_default_model, find_fast_model
from riseq.metrics.behaviour import judge, load_cases
from riseq.model.differences import read_graph
from riseq.model.folder import LAYOUT
from riseq.text.words import forms

MALALA = ["Who is Malala Yousafzai?", "A Pakistani activist for girls' education."]
PRIZE = "When did Malala Yousafzai win the Nobel Prize?"
NOLAN = ["Which films did Christopher Nolan direct?", "His latest film is Oppenheimer."]
OSCAR = "Did Christopher Nolan win an Oscar for Oppenheimer?"


@pytest.fixture(scope="module")
def shipped() -> Simplifier:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    return Simplifier.load(threads=1)


@pytest.fixture(scope="module")
def fast() -> Simplifier:
    return Simplifier.load("fast", threads=1)


@pytest.mark.parametrize("model", ["shipped", "fast"])
@pytest.mark.parametrize(
    ("question", "context", "expected"),
    [
        (PRIZE, MALALA, "When did she win the Nobel Prize?"),
        ("Where do red pandas live?", ["What do red pandas eat?", "Mostly bamboo."], "Where do they live?"),
        ("Did Marie Curie's daughter sing?", ["Where did Marie Curie study?"], "Did her daughter sing?"),
        ("Who invented the telephone?", ["What is interest?", "A price of money."], "Who invented the telephone?"),
    ],
)
def test_the_plain_call(
    request: pytest.FixtureRequest, model: str, question: str, context: list[str], expected: str
) -> None:
    simplifier: Simplifier = request.getfixturevalue(model)
    assert simplifier(question, context).text == expected


def test_the_fast_model_is_small_sure_of_itself_and_nearly_as_often_right(fast: Simplifier, root: Path) -> None:
    graphs = [read_graph(find_fast_model() / name) for name in (LAYOUT.encoder, LAYOUT.phraser)]
    assert sum(map(len, graphs)) <= 25e6
    assert sum(path.stat().st_size for path in find_fast_model().iterdir()) <= 1e6, "beside default"
    cases = load_cases(root / "data" / "everyday" / "suite.jsonl")
    results = list(fast.batch([case.example for case in cases], grounded=True))
    verdicts = [judge(case, result.text) for case, result in zip(cases, results, strict=True)]
    assert sum(verdict.right for verdict in verdicts) >= 0.9 * len(cases)
    assert all(result.confidence is not None for result in results)


def test_strength_goes_from_the_question_to_a_short_form(shipped: Simplifier) -> None:
    texts = [shipped(OSCAR, NOLAN, strength=strength).text for strength in (0, 0.02, 0.5, 1)]
    assert texts[:2] == [OSCAR, OSCAR]
    lengths = [len(forms(text)) for text in texts]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[2] < lengths[0]
    assert texts[3].endswith("?")


def test_protected_names_stay(shipped: Simplifier) -> None:
    assert "Christopher Nolan" in shipped(OSCAR, NOLAN, protect=["christopher nolan"]).text
    assert (
        shipped(OSCAR, NOLAN, protect=["Christopher Nolan", "Oppenheimer", "for"], strength=1).text.count("Nolan") == 1
    )


def test_alternatives_go_from_milder_to_stronger(shipped: Simplifier) -> None:
    result = shipped(OSCAR, NOLAN, n_best=4)
    texts = [one.text for one in result.alternatives]
    assert texts[0] == OSCAR
    assert {"Did he win an Oscar for Oppenheimer?", result.text} <= set(texts)


def test_the_everyday_examples_still_come_out_as_shown(shipped: Simplifier, root: Path) -> None:
    examples = load_dataset(root / "examples" / "everyday.jsonl")
    rows = (root / "examples" / "everyday.results.jsonl").read_text(encoding="utf-8").splitlines()
    shown = [json.loads(row)["text"] for row in rows]
    got = [result.text for result in shipped.batch(examples)]
    same = sum(a == b for a, b in zip(got, shown, strict=True))
    assert same >= 0.8 * len(shown), [pair for pair in zip(got, shown, strict=True) if pair[0] != pair[1]]


BILES = [
    "Who is Simone Biles?",
    "An American gymnast with eleven Olympic medals.",
    "Where did she grow up?",
    "In Spring, a suburb of Houston.",
    "When did she start with gymnastics?",
    "At six, after a school trip to a gym.",
    "Who was her first coach?",
    "Aimee Boorman, who trained her until 2016.",
    "How tall is she?",
    "About 1.42 metres.",
]
LONG_ANSWER = (
    "It depends on how much you want to spend and how much of the work you want to do yourself. Machines with a "
    "single boiler are small and cheap, but you have to wait between the coffee and the milk; those with two "
    "boilers do both at once and cost twice as much. A good grinder matters at least as much as the machine, so "
    "leave a third of your money for that. Do not look at the bars on the box, for nine are enough and every "
    "maker reaches them. What helps a beginner is a machine that heats up within seconds, has a basket that "
    "forgives an uneven grind and steams milk by itself. Of those that can be had for less than four hundred "
    "euros, most people are happy with the Breville Bambino."
)


def test_a_name_in_the_first_of_five_turns_is_read(shipped: Simplifier) -> None:
    result = shipped("Did Simone Biles write a book?", BILES)
    assert (result.text, result.truncated) == ("Did she write a book?", False)
    assert shipped("Did Simone Biles write a book?", [*BILES, *["and so on "] * 400]).truncated


OTHER_TALK = ("How do I bake a rye bread?", "With rye flour, water, salt and a starter. Let it rise overnight.") * 14


def test_a_long_chat_is_read_in_part_and_nothing_goes_that_nobody_said(shipped: Simplifier) -> None:
    context = ["Who is Simone Biles?", "A gymnast. She won four gold medals.", *OTHER_TALK, *BILES[-2:]]
    result = shipped("Did Simone Biles write a book?", context, read="relevant")
    assert (result.text, result.truncated) == ("Did she write a book?", True)
    # The rules see what the network does not read, and do not take what nobody said.
    for question in ("Did Simone Biles live in Nairobi in July?", "How does Ada Palmer knead dough?"):
        new = {"nairobi", "july", "ada", "palmer", "knead", "dough"}.intersection(forms(question))
        assert new <= set(forms(shipped(question, context, read="relevant").text))


def test_a_name_at_the_end_of_a_long_answer_is_read(shipped: Simplifier) -> None:
    assert len(LONG_ANSWER.split()) >= 120
    asked = "How do I clean the X?", "How long does the X take to heat up?", "Is the X loud?", "Does the X come used?"
    questions, dialogues = [], []
    for name in ("Breville Bambino", "Gaggia Classic", "Lelit Anna"):
        answer = LONG_ANSWER.replace("Breville Bambino", name)
        questions += [question.replace("X", name) for question in asked]
        dialogues += [["Which espresso machine should a beginner buy?", answer]] * len(asked)
    results = list(shipped.batch(zip(questions, dialogues, strict=True)))
    assert not any(result.truncated for result in results)
    assert sum(" it " in f"{result.text[:-1]} " for result in results) >= 8
    # Without the end of the answer nobody has named it.
    unnamed = [[first, answer.rsplit(" the ", 1)[0]] for first, answer in dialogues]
    assert [result.text for result in shipped.batch(zip(questions, unnamed, strict=True))] == questions
