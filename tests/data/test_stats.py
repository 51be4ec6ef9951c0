from __future__ import annotations

from pathlib import Path

from riseq.data.dataset import CountSummary, DatasetStats, load_dataset, measure_set
from riseq.types import Example


def test_a_small_set_by_hand() -> None:
    examples = [
        Example("1", (), "Who is Ada?", "who is Ada? "),
        Example("2", ("Who is Ada?", "A writer."), "When was Ada Lovelace born?", "When was she born?"),
        Example("3", ("Who is it?",), "Is it Ada?", "Is it?"),
        Example("4", (), "What?"),
    ]
    assert measure_set(iter(examples)) == DatasetStats(
        rows=4,
        with_target=3,
        with_context=2,
        utterances=CountSummary(0.75, 0.5, 2),
        question_words=CountSummary(4.0, 4.0, 6),
        target_words=CountSummary(4.0, 4.0, 5),
        unchanged=1 / 3,
        shorter=2 / 3,
        pronoun=1 / 3,
    )


def test_nothing_has_no_numbers() -> None:
    nothing = CountSummary(0.0, 0.0, 0)
    assert measure_set([]) == DatasetStats(0, 0, 0, nothing, nothing, nothing, 0.0, 0.0, 0.0)


def test_the_papers_cast(data_dir: Path) -> None:
    numbers = measure_set(load_dataset("cast19/test", root=data_dir))
    assert (numbers.rows, numbers.with_target, numbers.with_context) == (479, 479, 429)
    assert round(numbers.unchanged * 479) == 137, "design.md counts 137 questions that should stay unchanged"
