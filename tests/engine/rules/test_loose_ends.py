"""What passes leave loose goes, and nothing that the question had."""

from __future__ import annotations

import pytest

from riseq.engine.rules.loose_ends import find_loose_ends

CASES = [
    ("did it win besides the ?", "did it win ?", "did it win ?", "no noun came"),
    ("did it win in 1992 - ?", "did it win then ?", "did it win in 1992 ?", "half of some years"),
    ("did it win besides ?", "did it win ?", "did it win ?", "nothing came"),
    ("besides the , did it win ?", "did it win ?", "did it win ?", "at the beginning"),
    ("did it win in his ?", "did it win ?", "did it win ?", "whose what"),
    ("did it win in the the end ?", "did it win ?", "did it win in the end ?", "said twice"),
    ("did a . a . milne win ?", "did he win ?", "did a . a . milne win ?", "initials"),
    ("did he win after the ?", "did he win after this ?", "did he win after ?", "the preposition is the question's"),
    ("who had the the ?", "who had the the ?", "who had the the ?", "the question's own"),
    ('was " heat a hit ?', "was it a hit ?", "was heat a hit ?", "half a pair"),
    ('was " heat " a hit ?', "was it a hit ?", 'was " heat " a hit ?', "a pair"),
    ('was " big " like " heat ?', 'was " big " like it ?', 'was " big " like heat ?', "the pair that was there stays"),
    ("who came since their last week ?", "who came since last week ?", "who came since last week ?", "nobody's week"),
    ("who had his week ?", "who had one ?", "who had his week ?", "an owner of what came in"),
    ("who had his old week ?", "who had his week ?", "who had his old week ?", "the question's own owner"),
    ("was heat 1995 ) a hit ?", "was it a hit ?", "was heat 1995 a hit ?", "half a bracket"),
]


@pytest.mark.parametrize(("reached", "asked", "wanted", "why"), CASES, ids=[case[3] for case in CASES])
def test_loose_ends_go(reached: str, asked: str, wanted: str, why: str) -> None:
    words = ["[SEP]", *reached.split()]
    loose = find_loose_ends(words, ["[SEP]", *asked.split()])
    assert " ".join(word for at, word in enumerate(words) if at and at not in loose) == wanted, why
