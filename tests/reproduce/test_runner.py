"""A system's run over a set: predictions in order, and their scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO

import pytest
from rich.console import Console

from riseq.metrics.scores import score
from riseq.reproduce.runner import run
from riseq.systems.protocol import Origin
from riseq.types import Example, InputError, Simplification

EXAMPLES = [
    Example("1", (), "When was Alien released?", "When was it released?"),
    Example("2", (), "Why did it win?", "Why did it win?"),
]


class Forgetful:
    """A broken system: it leaves out the last example."""

    name = "forgetful"

    def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
        for example in list(examples)[:-1]:
            yield Simplification(example.question, example.question)


def test_scores_are_those_of_the_predictions() -> None:
    evaluation = run(Origin(), EXAMPLES)
    assert [prediction.text for prediction in evaluation.predictions] == [example.question for example in EXAMPLES]
    targets = [str(example.target) for example in EXAMPLES]
    assert evaluation.scores == score([example.question for example in EXAMPLES], targets)
    assert evaluation.scores.exact == 50.0


def test_the_bar_is_for_terminals() -> None:
    piped, seen = StringIO(), StringIO()
    run(Origin(), EXAMPLES, Console(file=piped, force_terminal=False))
    run(Origin(), EXAMPLES, Console(file=seen, force_terminal=True))
    assert piped.getvalue() == ""
    assert "2/2" in seen.getvalue()


def test_nothing_to_score_is_a_users_error() -> None:
    with pytest.raises(InputError, match="at least one example"):
        run(Origin(), [])
    with pytest.raises(InputError, match="'3' has no target"):
        run(Origin(), [*EXAMPLES, Example("3", (), "Why?")])


def test_a_system_that_loses_examples_is_found_out() -> None:
    with pytest.raises(ValueError, match="gave 1 results for 2 examples"):
        run(Forgetful(), EXAMPLES)
