"""What asks nothing of a dialogue, and what does."""

from __future__ import annotations

import pytest

from riseq.engine.rules.small_talk import asks_nothing
from riseq.text.words import forms


@pytest.mark.parametrize(
    "text",
    [
        "Hi",
        "Good job!",
        "Hello again, it's me",
        "Yes, both of them",
        "no thanks",
        "That's great to hear",
        "I'll think about it.",
        "We had a great time there. It was lovely.",
        "My order number is 48213",
        "What a pity",
        "Seriously?",
        "Hi, how are you?",
        "Can you repeat that?",
        "...",
        "",
        "Just kidding",
        "And it was great",
        "And",
        "Danke schön",
        "I want to know more",
        "I'd like to speak to a human",
        "I wanted to ask you something",
        "I would love to see it",
        "I like it a lot",
        "I need it by Friday",
        "I'd like to ask for a refund of it",
        "I want to find a place that serves Greek food",
        "I'm curious",
        "I'm not interested",
        "His mother told me",
        "Her name escaped me",
        "Their flight leaves at six tomorrow",
        "His was better",
        "Its him",
        "Their children are coming",
    ],
)
def test_it_asks_nothing(text: str) -> None:
    assert asks_nothing(forms(text))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("When was it released?", "a question"),
        ("how late do the bars stay open", "one without its mark"),
        ("And in winter?", "a fragment with its mark"),
        ("and the sequel", "a fragment that goes on"),
        ("Great, thanks. And how much is it", "one after thanks"),
        ("I only use VS Code. How do I resolve one there?", "one after a statement"),
        ("I only use VS Code. how do I resolve one there", "one after a statement, without its mark"),
        ("Summarise the plot in three sentences.", "a request to be told something"),
        ("ok, book it for Friday", "a request about something said before"),
        ("I want to know more about him.", "a wish to know"),
        ("I'd like to know when it was released.", "one with a contraction"),
        ("Great, I would really love to hear about it", "one after praise"),
        ("I wonder how tall it is.", "what somebody wonders"),
        ("I wanted to ask how old he is", "what somebody wants to ask"),
        ("I was just wondering if they still tour", "what somebody was wondering"),
        ("We're curious about its price", "what several are curious about"),
        ("His other films", "a fragment with a possessive"),
        ("And their first studio album", "one after a conjunction"),
        ("Do you sell them?", "whether the other has what was spoken of"),
        ("Which of them do you prefer?", "the other's view of it"),
    ],
)
def test_it_asks_something(text: str, why: str) -> None:
    assert not asks_nothing(forms(text)), why
