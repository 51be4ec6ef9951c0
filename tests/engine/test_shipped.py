"""The model that ships, as a person would judge it; int8 differs between processors, so nothing here is close."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.data.dataset import load_dataset
from riseq.engine.simplifier import Simplifier
from riseq.hub import find_default_model
from riseq.text.words import forms

MALALA = ["Who is Malala Yousafzai?", "A Pakistani activist for girls' education."]
PRIZE = "When did Malala Yousafzai win the Nobel Prize?"
NOLAN = ["Which films did Christopher Nolan direct?", "Among others Memento, Inception and Oppenheimer."]
OSCAR = "Did Christopher Nolan win an Oscar for Oppenheimer?"


@pytest.fixture(scope="module")
def shipped() -> Simplifier:
    if find_default_model() is None:
        pytest.skip("no model ships with this checkout")
    return Simplifier.load(threads=1)


@pytest.mark.parametrize(
    ("question", "context", "expected"),
    [
        (PRIZE, MALALA, "When did she win the Nobel Prize?"),
        ("Where do red pandas live?", ["What do red pandas eat?", "Mostly bamboo."], "Where do they live?"),
        ("Did Marie Curie's daughter sing?", ["Where did Marie Curie study?"], "Did her daughter sing?"),
        ("Who invented the telephone?", ["What is interest?", "A price of money."], "Who invented the telephone?"),
    ],
)
def test_the_plain_call(shipped: Simplifier, question: str, context: list[str], expected: str) -> None:
    assert shipped(question, context).text == expected


def test_strength_goes_from_the_question_to_a_short_form(shipped: Simplifier) -> None:
    texts = [shipped(OSCAR, NOLAN, strength=strength).text for strength in (0, 0.05, 0.5, 1)]
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
    assert {"Did he win an Oscar for Oppenheimer?", "Did Christopher Nolan win an Oscar?", result.text} <= set(texts)


def test_the_everyday_examples_still_come_out_as_shown(shipped: Simplifier, root: Path) -> None:
    examples = load_dataset(root / "examples" / "everyday.jsonl")
    rows = (root / "examples" / "everyday.results.jsonl").read_text(encoding="utf-8").splitlines()
    shown = [json.loads(row)["text"] for row in rows]
    got = [result.text for result in shipped.batch(examples)]
    same = sum(a == b for a, b in zip(got, shown, strict=True))
    assert same >= 0.8 * len(shown), [pair for pair in zip(got, shown, strict=True) if pair[0] != pair[1]]
