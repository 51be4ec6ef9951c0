"""Whose something is."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op, apply
from riseq.engine.rules.possessives import find_unnamed, name_owner_once, shorten_plurals
from riseq.text.realise import Copied
from riseq.text.words import forms


@pytest.mark.parametrize(
    ("question", "phrases", "expected", "why"),
    [
        ("is its founder still there ?", {"its": "the"}, ["its"], "nothing says whose founder"),
        ("who is his wife and his son ?", {"his": "the"}, ["his"], "whoever it is"),
        ("what is its depth ?", {"its": "the", "depth": "of lake ohrid"}, [], "it is put in behind it"),
        ("what is its role in it ?", {"its": "the", "role": "of"}, ["its"], "by a word of content alone"),
        ("what is its depth ?", {"its": "ohrid ' s"}, [], "it is named"),
        ("is it old ?", {"it": "the"}, [], "no possessive"),
    ],
)
def test_an_article_says_nothing_of_whose(
    question: str, phrases: dict[str, str], expected: list[str], why: str
) -> None:
    words = [MARKER, *question.split()]
    places = {words.index(word): phrase.split() for word, phrase in phrases.items()}
    ops = [int(Op.KEEP)] * len(words)
    for at in places:
        ops[at] = Op.INSERT if places[at][0] == "of" else Op.SUBSTITUTE
    assert [words[at] for at in find_unnamed(words, ops, places)] == expected, why


@pytest.mark.parametrize(
    ("question", "said", "owner", "expected", "why"),
    [
        ("What is their budget?", "My parents moved.", "my parents", "what is my parents ' budget ?", "a plural"),
        (
            "What are their needs?",
            "What do red pandas eat?",
            "red pandas",
            "what are red pandas ' needs ?",
            "by itself",
        ),
        (
            "What is their hit?",
            "I love the Rolling Stones.",
            "the rolling stones",
            "what is the rolling stones ' hit ?",
            "a name",
        ),
        ("What is their hit?", "INXS was a band.", "inxs", "what is inxs ' s hit ?", "a name of one"),
        ("What is their motto?", "It is the circus.", "the circus", "what is the circus ' s motto ?", "no plural"),
        ("What is his hit?", "I saw the jones.", "the jones", "what is the jones ' s hit ?", "one person"),
        ("What is their hit?", "I met my sister.", "my sister", "what is my sister ' s hit ?", "no s"),
    ],
)
def test_a_plural_has_an_apostrophe_alone(question: str, said: str, owner: str, expected: str, why: str) -> None:
    words, source, copied = [MARKER, *forms(question)], forms(said), owner.split()
    at = next(k for k, word in enumerate(words) if word in ("their", "his"))
    edits = [Edit(Op.SUBSTITUTE, (*copied, "'", "s")) if k == at else KEEP for k in range(len(words))]
    first = source.index(copied[0])
    mended = shorten_plurals(words, edits, {at: Copied(0, first, first + len(copied))}, [said])
    assert " ".join(apply(words, mended)[1:]) == expected, why


def test_other_phrases_stay() -> None:
    words = [MARKER, "their", "hit"]
    bare = [KEEP, Edit(Op.SUBSTITUTE, ("my", "parents")), KEEP]
    assert shorten_plurals(words, bare, {1: Copied(0, 0, 2)}, ["My parents."]) == bare
    put_in = [KEEP, Edit(Op.INSERT, ("my", "parents", "'", "s")), KEEP]
    assert shorten_plurals(words, put_in, {1: Copied(0, 0, 2)}, ["My parents."]) == put_in


@pytest.mark.parametrize(
    ("question", "after", "phrase", "expected", "why"),
    [
        (
            "how large is its population ?",
            "population",
            "of malta",
            "how large is the population of malta ?",
            "one owner",
        ),
        ("what is its main use ?", "use", "of salt", "what is the main use of salt ?", "with an adjective"),
        ("what is its use ?", "use", "in 1905", "what is its use in 1905 ?", "that is no owner"),
        ("is its use in food safe ?", "food", "of malta", "is its use in food of malta safe ?", "of another noun"),
        ("is it a use ?", "use", "of salt", "is it a use of salt ?", "no possessive"),
    ],
)
def test_an_owner_is_named_once(question: str, after: str, phrase: str, expected: str, why: str) -> None:
    words = [MARKER, *question.split()]
    edits = [Edit(Op.INSERT, tuple(phrase.split())) if word == after else KEEP for word in words]
    assert " ".join(apply(words, name_owner_once(words, edits))[1:]) == expected, why


def test_the_article_joins_what_is_replaced_before_it() -> None:
    words = [MARKER, "what", "about", "its", "population", "?"]
    begun = [Edit(Op.SUBSTITUTE, ("how", "large", "is")), Edit(Op.SUBSTITUTE)]
    edits = [KEEP, *begun, KEEP, Edit(Op.INSERT, ("of", "malta")), KEEP]
    assert " ".join(apply(words, name_owner_once(words, edits))[1:]) == "how large is the population of malta ?"
