"""The model that resolves questions and ships, as a person would judge it; int8 differs between processors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from riseq.engine.resolver import Resolver
from riseq.metrics.behaviour import judge, load_cases
from riseq.text.lexicon import is_content
from riseq.text.words import forms

ALIEN = ["Who directed Alien?", "Ridley Scott."]


@pytest.fixture(scope="module")
def shipped() -> Resolver:
    return Resolver.load(threads=1)


@pytest.mark.parametrize(
    ("question", "context", "expected"),
    [
        ("When was it released?", ["Who directed Alien?"], "When was Alien released?"),
        ("Where do they live?", ["What do red pandas eat?", "Mostly bamboo."], "Where do red pandas live?"),
        (
            "How high is it?",
            ["Who designed the Sydney Opera House?", "Jørn Utzon."],
            "How high is the Sydney Opera House?",
        ),
        ("Does it have ads?", ["How much is Apple TV+?", "About 10 dollars."], "Does Apple TV+ have ads?"),
        ("Where is it filmed?", ["Who stars in M*A*S*H?", "Alan Alda."], "Where is M*A*S*H filmed?"),
        ("Who sings it?", ['"Don\'t Stop Me Now" is my favourite song.'], 'Who sings "Don\'t Stop Me Now"?'),
        (
            "Who wrote it?",
            ["What are you reading?", "To Kill a Mockingbird is on my list."],
            "Who wrote To Kill a Mockingbird?",
        ),
        (
            "I wonder how tall it is.",
            ["What is the Shard?", "The Shard is a skyscraper."],
            "I wonder how tall the Shard is.",
        ),
        ("Was kostet das?", ALIEN, "Was kostet das?"),
        ("Thanks!", ALIEN, "Thanks!"),
        ("Who wrote Emma?", ALIEN, "Who wrote Emma?"),
        ("Wann wurde er geboren?", ALIEN, "Wann wurde er geboren?"),
        ("When was it released?", [], "When was it released?"),
    ],
)
def test_the_plain_call(shipped: Resolver, question: str, context: list[str], expected: str) -> None:
    assert shipped.resolve(question, context).text == expected


def test_an_insertion_says_where_it_came_from_and_how_sure_it_is(shipped: Resolver) -> None:
    result = shipped.resolve("When was it released?", ALIEN)
    (edit,) = result.edits
    said = edit.refers_to
    assert said is not None
    assert ALIEN[said.utterance][said.start : said.end] == "Alien"
    assert result.confidence is not None
    assert result.confidence > 0.5


def test_everyday_questions_come_back_and_complete_ones_stay(shipped: Resolver, root: Path) -> None:
    suite = root / "data" / "everyday" / "held_out.jsonl"
    back, complete = (load_cases(f"{suite}+{way}") for way in ("resolve", "complete"))
    texts = [result.text for result in shipped.batch(case.example for case in back)]
    right = sum(judge(case, text).right for case, text in zip(back, texts, strict=True))
    assert right / len(back) > 0.5
    stayed = [
        result.text == case.example.question
        for case, result in zip(complete, shipped.batch(case.example for case in complete), strict=True)
    ]
    assert sum(stayed) / len(stayed) > 0.95
    said = [Counter(filter(is_content, forms(case.example.question))) for case in back]
    kept = [words <= Counter(forms(text)) for words, text in zip(said, texts, strict=True)]
    assert sum(kept) / len(kept) > 0.95, "what the person said is still there"
