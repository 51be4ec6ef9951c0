"""What replaces somebody and a verb, case by case: words, what is replaced, the network's phrase, what is said."""

from __future__ import annotations

import pytest

from riseq.engine.rules.own_verbs import keep_own_verb

CASES = [
    ("if the plumber comes late ?", (1, 4), "they get", "they come", "the verb is the question's own"),
    ("if the lawyer tries hard ?", (1, 4), "they do", "they try", "as many do it"),
    ("if my tenant hasn ' t paid ?", (1, 4), "they have", "they haven", "before 't"),
    ("if my tenant is away ?", (1, 4), "they have", "they are", "is, of many"),
    ("if my tenant will pay ?", (1, 4), "they have", "they will", "will is the same for many"),
    ("if the plumber comes late ?", (1, 4), "they come", "they come", "it has the verb"),
    ("if the plumber comes late ?", (1, 3), "they", "they", "a pronoun alone"),
    ("if the news today shocks us ?", (1, 4), "they do", "they do", "the run ends with no verb of one"),
    ("does the plumber ' s boss pay ?", (1, 6), "they have", "they have", "somebody's boss is not looked into"),
]


@pytest.mark.parametrize(("asked", "run", "phrase", "expected", "why"), CASES, ids=[case[4] for case in CASES])
def test_cases(asked: str, run: tuple[int, int], phrase: str, expected: str, why: str) -> None:
    assert keep_own_verb(asked.split(), slice(*run), tuple(phrase.split())) == tuple(expected.split()), why
