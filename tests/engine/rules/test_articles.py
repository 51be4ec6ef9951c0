"""The article that copied words lack, where it was before them in the dialogue."""

from __future__ import annotations

import pytest

from riseq.core.edits import KEEP, MARKER, Edit, Op
from riseq.engine.rules.articles import add_articles
from riseq.text.realise import Copied, realise
from riseq.text.words import forms


def edit_at(question: str, word: str, op: Op, phrase: str, said: str, found: str, before: int = 0) -> str:
    """Return the question with one edit at ``word``, whose phrase has ``found`` of what was ``said``."""
    words = [MARKER, *forms(question)]
    at = words.index(word)
    edits = [KEEP] * len(words)
    edits[at] = Edit(op, tuple(phrase.split()))
    places = forms(said)
    first = next(k for k in range(len(places)) if places[k : k + len(found.split())] == found.split())
    copied = {at: Copied(0, first, first + len(found.split()), before)}
    mended, known = add_articles(words, edits, copied, [said])
    step = realise(question, mended, [said], None, known)
    (change,) = step.edits
    assert change.refers_to is not None
    assert said[change.refers_to.start : change.refers_to.end].lower() == found
    return step.text


@pytest.mark.parametrize(
    ("said", "found", "expected", "why"),
    [
        ("Ask your personal tutor.", "personal tutor", "When will the personal tutor reply?", "it is somebody's"),
        (
            "There is a direct train.",
            "direct train",
            "When will the direct train reply?",
            "it is said for the first time",
        ),
        (
            "Our new class teacher sends it.",
            "class teacher",
            "When will the class teacher reply?",
            "an adjective apart",
        ),
        ("Ask Ada Palmer.", "ada palmer", "When will Ada Palmer reply?", "nothing stands before a name"),
        ("Who likes the Beatles?", "beatles", "When will Beatles reply?", "a name may have it or not"),
        ("Two tickets are left.", "tickets", "When will tickets reply?", "several that are not known yet"),
        ("Tutors reply late.", "tutors", "When will Tutors reply?", "nothing stands before it"),
    ],
)
def test_what_takes_the_place_of_a_pronoun(said: str, found: str, expected: str, why: str) -> None:
    assert edit_at("When will they reply?", "they", Op.SUBSTITUTE, found, said, found) == expected, why


def test_what_takes_the_place_of_what_points() -> None:
    said = "He won the race."
    assert edit_at("Was he hurt in that?", "that", Op.SUBSTITUTE, "race", said, "race") == "Was he hurt in the race?"
    assert edit_at("Did he say that?", "that", Op.SUBSTITUTE, "race", said, "race") == "Did he say race?"


def test_what_is_a_part_of_something() -> None:
    said = "It has 90 steps."
    asked = edit_at("How many of them are open?", "them", Op.SUBSTITUTE, "steps", said, "steps")
    assert asked == "How many of the steps are open?"
    assert (
        edit_at("Which of them are open?", "them", Op.SUBSTITUTE, "steps", said, "steps")
        == "Which of the steps are open?"
    )
    assert edit_at("Get rid of them?", "them", Op.SUBSTITUTE, "steps", said, "steps") == "Get rid of steps?"


def test_what_follows_a_preposition() -> None:
    said = "Is there a gym nearby?"
    assert edit_at("Is tea served?", "served", Op.INSERT, "in gym", said, "gym", 1) == "Is tea served in the gym?"
    assert edit_at("Is tea served?", "served", Op.INSERT, "of gym", said, "gym", 1) == "Is tea served of the gym?"


def test_what_follows_an_auxiliary() -> None:
    said = "Any certified mechanic can do that."
    asked = edit_at(
        "What do they charge?", "do", Op.SUBSTITUTE, "does certified mechanic", said, "certified mechanic", 1
    )
    assert asked == "What does the certified mechanic they charge?"


@pytest.mark.parametrize("article", ["the", "a", "the the"])
def test_an_article_before_another_goes(article: str) -> None:
    for found in ("your tutor", "a tutor"):
        asked = edit_at(
            "Can it reply?", "it", Op.SUBSTITUTE, f"{article} {found}", f"Ask {found}.", found, len(article.split())
        )
        assert asked == f"Can {found} reply?"
    of = edit_at("Is tea served?", "served", Op.INSERT, "in the of tutor", "Ask your tutor.", "tutor", 3)
    assert of == "Is tea served in of the tutor?"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Is a decent one dear?", "Is a decent torque wrench dear?"),
        ("Is this one dear?", "Is this torque wrench dear?"),
        ("Can I hire one?", "Can I hire a torque wrench?"),
    ],
)
def test_what_takes_the_place_of_one_has_no_article_after_words_of_its_own(question: str, expected: str) -> None:
    words, said = [MARKER, *forms(question)], "I need a torque wrench."
    edits = [KEEP] * len(words)
    edits[words.index("one")] = Edit(Op.SUBSTITUTE, ("a", "torque", "wrench"))
    mended, known = add_articles(words, edits, {words.index("one"): Copied(0, 2, 5)}, [said])
    assert realise(question, mended, [said], None, known).text == expected


def test_what_stands_before_a_noun_has_none() -> None:
    said = "The coffee grinder is broken."
    assert edit_at("Is a new one here?", "new", Op.INSERT, "coffee grinder", said, "coffee grinder") == (
        "Is a new coffee grinder one here?"
    )
    owned = edit_at("When is their tea ready?", "their", Op.SUBSTITUTE, "coffee grinder ' s", said, "coffee grinder")
    assert owned == "When is coffee grinder's tea ready?"


def test_an_edit_of_several_words_and_words_of_the_question_itself_stay() -> None:
    words = [MARKER, "will", "they", "they", "reply"]
    edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("tutor",)), Edit(Op.SUBSTITUTE), KEEP]
    for copied in ({2: Copied(0, 2, 3)}, {2: Copied(None, 2, 3)}):
        assert add_articles(words, edits, copied, ["Ask your tutor."]) == (edits, copied)
