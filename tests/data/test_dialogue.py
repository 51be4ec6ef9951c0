"""The forms a dialogue may have, and what is told about the others."""

from __future__ import annotations

import re
from typing import Any

import pytest

from riseq.data.dialogue import read_context, read_item
from riseq.types import Example, InputError

SAID = ("Who was Ira Hayes?", "A Marine.")
MESSAGES = [{"role": "user", "content": SAID[0]}, {"role": "assistant", "content": SAID[1]}]
FORMS: list[tuple[str, Any]] = [
    ("strings", list(SAID)),
    ("an iterator of strings", iter(SAID)),
    ("a pair at the top is two utterances", SAID),
    ("messages", MESSAGES),
    (
        "what is beside the dialogue is left out",
        [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "Use tools."},
            {"role": "user", "content": [{"type": "text", "text": SAID[0]}, {"type": "image_url", "image_url": {}}]},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "{}"},
            {"role": "assistant", "content": SAID[1]},
        ],
    ),
    ("roles", [("user", SAID[0]), ("assistant", SAID[1])]),
    ("roles as people write them", [("System:", "Be brief."), ("User:", SAID[0]), ("BOT", SAID[1])]),
    ("lists, as JSON has them", [["Human", SAID[0]], ["AI", SAID[1]]]),
    ("names", [("Ada Lovelace", SAID[0]), ("Babbage", SAID[1])]),
    ("numbered speakers", [("Speaker 1", SAID[0]), ("Speaker 2", SAID[1])]),
    ("a question and its answer", [SAID]),
    ("a question without a mark", [("who was ira hayes", SAID[1])]),
    ("said outright", [{"speaker": "Who?", "text": SAID[0]}, {"speaker": "b", "text": SAID[1]}]),
    ("question and answer said outright", [{"question": SAID[0], "answer": SAID[1]}]),
    ("no answer yet", [{"question": SAID[0], "answer": None}, SAID[1]]),
    ("forms may be mixed", [SAID[0], {"role": "assistant", "content": SAID[1]}]),
]


@pytest.mark.parametrize(("why", "context"), FORMS, ids=[case[0] for case in FORMS])
def test_every_form_gives_the_same_utterances(why: str, context: Any) -> None:
    said = read_context(context)
    assert tuple(text.lower() for text in said) in (
        tuple(text.lower() for text in SAID),
        ("who was ira hayes", "a marine."),
    ), why


def test_pairs_decide_together() -> None:
    assert read_context([("Why", "Because."), ("Alien", "A film.")]) == ("Why", "Because.", "Alien", "A film.")
    assert read_context([("Ada", "Why?"), ("Bob", "Because.")]) == ("Why?", "Because.")
    # One that is a question makes all of them questions: a dialogue has one form.
    assert read_context([("Alien", "A film."), ("When was it out?", "In 1979.")])[0] == "Alien"


@pytest.mark.parametrize("label", ["Why?", "Tell me more", "Thanks.", "Who Was Ira Hayes Really", "yes", ""])
def test_what_is_no_label(label: str) -> None:
    assert read_context([(label, "A Marine.")]) == (label, "A Marine.")


MISTAKES: list[tuple[Any, str]] = [
    (b"Who?", "the context is a bytes"),
    ({"role": "user", "content": "Who?"}, "the context is a dict"),
    (3, "the context is a int"),
    ([1], "context[0] is a int, expected one of: strings"),
    (["Who?", None], "context[1] is a NoneType"),
    ([("a", "b", "c")], "context[0] is not a pair of strings"),
    ([()], "context[0] is not a pair of strings"),
    ([("user", 1)], "context[0] is not a pair of strings"),
    ([{"role": "user"}], "context[0] has the keys ['role'], expected role and content"),
    ([{"role": 1, "content": "Who?"}], "context[0]['role'] is a int"),
    ([{"role": "user", "content": 1}], "context[0]['content'] is a int"),
    ([{"role": "user", "content": [{"type": "text"}]}], "context[0]['content'] has a text part without"),
    ([{"speaker": "Ada", "text": 1}], "context[0]['text'] is a int"),
    ([{"question": "Who?", "answer": 1}], "context[0]['answer'] is a int"),
]


@pytest.mark.parametrize(("context", "told"), MISTAKES)
def test_other_forms_are_told_in_one_line(context: Any, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)) as error:
        read_context(context)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "item",
    [
        Example("1", SAID, "Why?"),
        {"question": "Why?", "context": list(SAID), "id": 3},
        ("Why?", SAID),
        ["Why?", [{"question": SAID[0], "answer": SAID[1]}]],
        {"messages": [*MESSAGES, {"role": "user", "content": "Why?"}]},
        {"messages": MESSAGES, "question": "Why?"},
        {"messages": [], "context": MESSAGES, "question": "Why?"},
    ],
    ids=["example", "dict", "pair", "list", "messages", "messages and a question", "context before messages"],
)
def test_items(item: Any) -> None:
    assert read_item(item) == ("Why?", SAID)


def test_an_item_needs_no_context() -> None:
    for item in ({"question": "Why?"}, {"question": "Why?", "context": None}, ("Why?", None), ("Why?", " ")):
        assert read_item(item) == ("Why?", ())
    assert read_item({"question": "Why?", "context": "Who?"}) == ("Why?", ("Who?",))


@pytest.mark.parametrize(
    ("item", "told"),
    [
        ("Why?", "item 3: got a str, expected an Example, a dict"),
        ({"context": []}, "item 3: got a dict"),
        ((1, []), "item 3: the question is a int, expected a string"),
        (("Why?", b"Who?"), "item 3: the context is a bytes"),
        ({"messages": []}, "item 3: messages: the last one is not the user's, expected the question"),
        ({"messages": [{"role": "assistant", "content": "Who?"}]}, "item 3: messages: the last one is not the user's"),
        ({"messages": "Who?"}, "item 3: messages: the last one"),
    ],
)
def test_a_wrong_item_is_told_with_its_place(item: Any, told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        read_item(item, "item 3: ")
