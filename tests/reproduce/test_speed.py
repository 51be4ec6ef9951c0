"""Speeds, by a clock that the test winds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from riseq.reproduce.plan import BY_NAME
from riseq.reproduce.speed import WARM_UP, find_runnable, measure_all, measure_speed
from riseq.types import Example, InputError, Simplification

EXAMPLES = [Example(str(k), (), "Why?") for k in range(20)]


class Clockwork:
    """A system that takes a tenth of a second a question, by its own clock."""

    name = "clockwork"

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[int] = []

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        asked = list(examples)
        self.calls.append(len(asked))
        for example in asked:
            self.now += 0.1
            yield Simplification(example.question, example.question)


def test_a_speed_is_of_the_questions_after_the_first_few() -> None:
    system = Clockwork()
    speed = measure_speed(system, EXAMPLES, clock=lambda: system.now)
    assert speed.questions_per_s == pytest.approx(10)
    assert speed.median_ms == pytest.approx(100)
    assert speed.p95_ms == pytest.approx(100)
    assert system.calls == [WARM_UP, 20, *[1] * 20]


def test_nothing_has_no_speed() -> None:
    with pytest.raises(InputError, match="at least one example"):
        measure_speed(Clockwork(), [])


def test_a_system_can_run_where_its_model_is_or_it_needs_none(tmp_path: Path) -> None:
    (tmp_path / "rise-large" / "best").mkdir(parents=True)
    systems = [BY_NAME[name] for name in ("origin", "trans++", "rise-small", "rise-large")]
    assert find_runnable(systems, tmp_path) == {
        "origin": ("origin", None),
        "rise-small": ("rise", None),
        "rise-large": ("rise", tmp_path / "rise-large" / "best"),
    }


def test_all_are_measured_on_one_machine() -> None:
    told = measure_all({"origin": ("origin", None)}, EXAMPLES)
    assert told["rows"] == 20
    assert "of" in told["machine"]
    assert told["systems"]["origin"]["questions_per_s"] > 0
