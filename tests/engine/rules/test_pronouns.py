"""The pronouns people go by, role by role."""

from __future__ import annotations

import pytest

from engine.rules.test_broken_english import read, show
from riseq.engine.rules.agreement import correct_gender, fix_agreement, use_pronouns

CASES = [
    ("How many goals did [Alex Morgan|he] score?", "she", "how many goals did she score", "a subject"),
    ("Who plays with [Alex Morgan|him]?", "she", "who plays with her", "an object after a preposition"),
    ("Who beat [Alex|it] in May?", "they", "who beat them in may", "a part of the name, an object"),
    ("Is [Alex Morgan's|his] team good?", "she", "is her team good", "an owner"),
    ("Is the goal [Alex Morgan's|his]?", "she", "is the goal hers", "an owner without a noun"),
    ("Does [Alex Morgan|she] play?", "they", "do they play", "the verb agrees"),
    ("Who is [Alex Morgan|he]?", "she", "who is she", "after is it is no object"),
    ("Where does [Morgan's team|it] play?", "she", "where does it play", "the team is not she"),
    ("Where does [Ada|she] play?", "he", "where does she play", "somebody else"),
    ("Where does [Alex Morgan|this player] play?", "she", "where does this player play", "no pronoun"),
]


@pytest.mark.parametrize(("marked", "pronoun", "expected", "why"), CASES, ids=[case[3] for case in CASES])
def test_cases(marked: str, pronoun: str, expected: str, why: str) -> None:
    words, edits = read(marked)
    assert show(words, fix_agreement(words, use_pronouns(words, edits, [(("alex", "morgan"), pronoun)]))) == expected, (
        why
    )


GENDERS = [
    ("What did [Katalin Karikó|he] do there?", "what did she do there", "Katalin is a woman's name"),
    ("Who taught [Katalin Karikó|him]?", "who taught her", "as an object"),
    ("Where is [Katalin Karikó's|his] house?", "where is her house", "as an owner"),
    ("Where is [Thomas Mann's|her] house?", "where is his house", "Thomas is a man's"),
    ("Who got [Thomas Mann|her] out of there?", "who got him out of there", "her is no subject"),
    ("What did [Katalin Karikó|they] do there?", "what did they do there", "they may stay"),
    ("What did [Peter Hahn|it] sell there?", "what did it sell there", "so may it"),
    ("What did [Robin Vance|he] do there?", "what did he do there", "Robin says nothing"),
]


@pytest.mark.parametrize(("marked", "expected", "why"), GENDERS, ids=[case[2] for case in GENDERS])
def test_a_certain_first_name_decides_between_he_and_she(marked: str, expected: str, why: str) -> None:
    words, edits = read(marked)
    assert show(words, correct_gender(words, edits)) == expected, why
