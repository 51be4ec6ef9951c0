"""Verdicts on outputs, by hand."""

from __future__ import annotations

import pytest

from riseq.metrics.behaviour import ALL, Case, Verdict, judge, measure_behaviour
from riseq.types import Example

WEATHER = Case(
    Example("1", ("What is the population of Nairobi?",), "What is the weather like in Nairobi in July?"),
    gold=("What is the weather like in July?", "What's it like there in July?"),
    phenomenon="new-time",
    keep=("weather", "July"),
    gone=("Nairobi",),
    bad=("he",),
)
SWITCH = Case(Example("2", ("Who directed Alien?",), "Who wrote Emma?"), gold=("Who wrote Emma?",), phenomenon="switch")
TARGET = Case(Example("3", ("Who directed Alien?",), "When was Alien released?"), gold=("When was it released?",))


@pytest.mark.parametrize(
    ("case", "text", "verdict"),
    [
        (WEATHER, "what is the weather like in july", (True, True, True, True, True)),
        (WEATHER, "And the weather there in July?", (True, True, True, True, False)),
        (WEATHER, "What is the weather like?", (False, True, True, False, False)),
        (WEATHER, "What is the weather like in Nairobi in July?", (True, False, True, False, False)),
        (WEATHER, "How does he like the weather in July?", (True, True, False, False, False)),
        (WEATHER, "What’s it like there in July?", (False, True, True, False, True)),
        (SWITCH, "Who wrote Emma", (True, True, True, True, True)),
        (SWITCH, "Who wrote it?", (True, False, True, False, False)),
        (TARGET, "when was it released ?", (True, True, True, True, True)),
        (TARGET, "When did it come out?", (True, False, True, False, False)),
    ],
)
def test_kept_shortened_clean_right_exact(case: Case, text: str, verdict: tuple[bool, ...]) -> None:
    assert judge(case, text) == Verdict(*verdict)


def test_percentages_by_phenomenon_and_of_all() -> None:
    table = measure_behaviour([SWITCH, WEATHER, SWITCH], ["Who wrote Emma?", "What is the weather like?", "Who?"])
    assert list(table) == ["new-time", "switch", ALL]
    assert table["switch"] == {"n": 2, "kept": 100, "shortened": 50, "clean": 100, "right": 50, "exact": 50}
    assert table[ALL]["right"] == pytest.approx(100 / 3)
