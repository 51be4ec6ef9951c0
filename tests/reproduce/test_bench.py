"""The engine's speed: what is measured, on a tiny model, and that the rivals really write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from riseq.engine.simplifier import Simplifier
from riseq.reproduce.bench import ENCODER, ENGINE, Clocked, Measured, Profile, measure
from riseq.reproduce.bench_page import (
    NUMBERS,
    PLOT,
    RESULTS,
    Circumstances,
    format_page,
    list_targets,
    replace_section,
    write_page,
)
from riseq.reproduce.rivals import BERT2BERT, GPT2, make_rivals
from riseq.types import Example, InputError
from tiny_model import export_tiny, make_examples

WHERE = Circumstances("riseq bench", "2 cores", date(2026, 11, 15), "CAsT-19", "the model that ships", 0.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


@pytest.fixture(scope="module")
def engine(folder: Path) -> Simplifier:
    return Simplifier.load(folder, threads=1)


@pytest.fixture(scope="module")
def measured(engine: Simplifier, folder: Path) -> Measured:
    calls: list[str] = []
    found = measure(engine, make_examples(12), 1, {"slow": lambda: calls.append("slow")}, ["the moon"], 2, folder)
    assert len(calls) >= 2
    return found


def test_everything_is_measured(measured: Measured) -> None:
    with_dialogue = [one for one in make_examples(12) if one.context]
    assert measured.questions == len(with_dialogue) < 12
    assert set(measured.singles) == {ENGINE, ENCODER, "slow"}
    assert measured.singles[ENGINE] > measured.singles[ENCODER] > 0
    assert measured.encoder_ratio > 1
    assert measured.bulk[ENCODER] > measured.bulk[ENGINE] > 0
    assert measured.cold_s > 0.05
    assert 20 < measured.cold_mb < 2_000
    assert list(measured.by_turns) == list(range(1, 13))
    assert max(measured.by_questions) == measured.questions


def test_the_profile_counts_passes_and_adds_up(measured: Measured) -> None:
    profile = measured.profile
    assert 1 <= profile.passes <= 3
    assert profile.encoder + profile.phraser + profile.rest == pytest.approx(1)
    assert 0 < profile.rest < 1


def test_a_clocked_backend_counts_rows_and_says_the_same(engine: Simplifier) -> None:
    ticks: Iterator[int] = iter(range(10_000))
    clocked = Clocked(engine.backend, lambda: float(next(ticks)))
    timed = Simplifier(clocked, engine.pieces, engine.phrases)
    examples = make_examples(10)
    assert [one.text for one in timed.batch(examples)] == [one.text for one in engine.batch(examples)]
    assert clocked.passes == clocked.encoder_s >= len([one for one in examples if one.context])
    assert clocked.phrasings == clocked.phraser_s > 0


def test_questions_without_dialogue_are_no_measure(engine: Simplifier) -> None:
    with pytest.raises(InputError, match="questions with a dialogue"):
        measure(engine, [Example("1", (), "Who?")], 1, {})


def test_the_rivals_write_as_many_tokens_as_asked() -> None:
    shape = {"vocab_size": 50, "hidden": 16, "layers": 1, "heads": 2, "intermediate": 32}
    rivals = make_rivals(shape, 7, 5, 1, {"n_layer": 1, "n_embd": 16, "n_head": 2})
    assert rivals[GPT2]().shape == (1, 64 + 10)  # type: ignore[attr-defined]
    assert rivals[BERT2BERT]().shape == (1, 1 + 5)  # type: ignore[attr-defined]


def make_measured(**changed: float) -> Measured:
    singles = {ENGINE: 0.016, ENCODER: 0.01, GPT2: 0.016 * 30, BERT2BERT: 0.016 * 6}
    values = {"encoder_ratio": 1.6, "cold_s": 1.0, "cold_mb": 200.0, "rest": 0.03, "rate": 70.0} | changed
    return Measured(
        questions=400,
        threads=2,
        singles=singles,
        encoder_ratio=values["encoder_ratio"],
        bulk={ENGINE: values["rate"], ENCODER: 100.0},
        profile=Profile(1.5, 0.4, 0.9, 0.07, values["rest"]),
        cold_s=values["cold_s"],
        cold_mb=values["cold_mb"],
        by_questions={10: 0.2, 20: 0.4},
        by_turns={1: 0.01, 2: 0.012},
    )


def test_targets_are_met_or_not() -> None:
    assert all(one.met for one in list_targets(make_measured()))
    missed = list_targets(make_measured(encoder_ratio=1.71, cold_s=1.5, cold_mb=400, rest=0.05, rate=59))
    assert [one.met for one in missed] == [True, True, False, False, False, False, False]


def test_what_was_not_measured_has_no_target_and_a_line(measured: Measured) -> None:
    assert not any(GPT2 in one.what for one in list_targets(measured))
    assert "Not measured: the moon." in format_page(measured, WHERE)


def test_the_page_replaces_its_own_section_only(tmp_path: Path) -> None:
    (tmp_path / RESULTS).write_text(
        "# Results\n\n## Core\n\nold core\n\n## Engine\n\nold\n\n## Rest\n\nrest\n", "utf-8"
    )
    assert write_page(tmp_path, make_measured(), WHERE) == []
    page = (tmp_path / RESULTS).read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## Core", "## Engine", "## Rest"]
    assert "old core" in page
    assert "\nold\n" not in page
    assert "| faster than GPT-2 (124M), 10 tokens after 64 | 25 times | 30.0 times | met |" in page
    assert json.loads((tmp_path / NUMBERS).read_text(encoding="utf-8"))["by_questions"] == {"10": 0.2, "20": 0.4}
    assert (tmp_path / PLOT).read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_a_first_section_goes_to_the_end() -> None:
    assert replace_section("# Results\n", "Engine", "text\n") == "# Results\n\n## Engine\n\ntext\n"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        write_page(tmp_path / "none", make_measured(), WHERE)
