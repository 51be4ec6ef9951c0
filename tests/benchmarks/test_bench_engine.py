"""The engine's benchmark: what is measured, on a tiny model, and that the decoders really write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import bench_engine
from bench_engine import NUMBERS, PLOT, Measured, Profile, TimedBackend, describe, list_targets, measure, write_results
from decoders import BERT2BERT, GPT2, make_decoders
from riseq.engine.benchmark import ENCODER, ENGINE, Speed
from riseq.engine.simplifier import Simplifier
from tiny_model import export_tiny, make_examples

pytestmark = pytest.mark.xdist_group("bench engine")  # what they share is made once

RUN = "`python benchmarks/bench_engine.py`, 2 cores, 2026-11-15"


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
    assert set(measured.speed.singles) == {ENGINE, ENCODER, "slow"}
    assert list(measured.by_turns) == list(range(1, 13))
    assert max(measured.by_questions) == measured.speed.questions
    assert list(measured.by_cores) == [1]
    assert measured.by_cores[1] > 0


def test_cores_are_doubled_up_to_all_of_them(engine: Simplifier) -> None:
    asked = [one for one in make_examples(12) if one.context]
    assert list(bench_engine.measure_cores(engine, asked, 3, 1)) == [1, 2, 3]


def test_the_profile_counts_passes_and_adds_up(measured: Measured) -> None:
    profile = measured.profile
    assert 1 <= profile.passes <= 3
    assert profile.encoder + profile.phraser + profile.rest == pytest.approx(1)
    assert 0 < profile.rest < 1


def test_a_timed_backend_counts_rows_and_gives_the_same(engine: Simplifier, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: Iterator[int] = iter(range(10_000))
    monkeypatch.setattr(bench_engine, "perf_counter", lambda: float(next(ticks)))
    backend = TimedBackend(engine.backend)
    timed = Simplifier(backend, engine.pieces, engine.phrasing)
    examples = make_examples(10)
    assert [one.text for one in timed.batch(examples)] == [one.text for one in engine.batch(examples)]
    assert backend.passes >= len([one for one in examples if one.context])
    assert 1 <= backend.encoder_s < backend.passes, "rows are counted, and a batch of them takes a tick"
    assert backend.phrasings == backend.phraser_s > 0


def test_the_decoders_write_as_many_tokens_as_asked() -> None:
    shape = {"vocab_size": 50, "hidden": 16, "layers": 1, "heads": 2, "intermediate": 32}
    decoders = make_decoders(shape, 7, 5, 1, {"n_layer": 1, "n_embd": 16, "n_head": 2})
    assert decoders[GPT2]().shape == (1, 64 + 10)  # type: ignore[attr-defined]
    assert decoders[BERT2BERT]().shape == (1, 1 + 5)  # type: ignore[attr-defined]


def make_measured(**changed: float) -> Measured:
    singles = {ENGINE: 0.016, ENCODER: 0.01, GPT2: 0.016 * 30, BERT2BERT: 0.016 * 6}
    values = {"encoder_ratio": 1.6, "cold_s": 1.0, "cold_mb": 200.0, "rest": 0.03, "rate": 91.0} | changed
    bulk = {ENGINE: values["rate"], ENCODER: 100.0}
    return Measured(
        speed=Speed(400, singles, values["encoder_ratio"], bulk, values["cold_s"], values["cold_mb"]),
        threads=2,
        profile=Profile(1.5, 0.4, 0.9, 0.07, values["rest"]),
        by_questions={10: 0.2, 20: 0.4},
        by_turns={1: 0.01, 2: 0.012},
        by_cores={1: 40.0, 2: 70.0},
    )


def test_targets_are_met_or_not() -> None:
    assert all(one.met for one in list_targets(make_measured()))
    missed = list_targets(make_measured(encoder_ratio=1.71, cold_s=1.5, cold_mb=400, rest=0.05, rate=89))
    assert [one.met for one in missed] == [True, True, False, False, False, False, False]


def test_what_was_not_measured_has_no_target_and_a_line(measured: Measured) -> None:
    assert not any(GPT2 in one.what for one in list_targets(measured))
    assert "Not measured: the moon." in describe(measured, RUN, "CAsT-19", "the model that ships", 0.1)


def test_the_section_the_numbers_and_the_plot_are_written(tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    page.write_text("# Results\n\n## Core\n\nold core\n\n## Engine\n\nold\n\n## Rest\n\nrest\n", "utf-8")
    section = describe(make_measured(), RUN, "CAsT-19", "the model that ships", 0.1)
    write_results(make_measured(), section, {"machine": "2 cores"}, page)
    text = page.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Core", "## Engine", "## Rest"]
    assert "old core" in text
    assert "\nold\n" not in text
    assert "| faster than GPT-2 (124M), 10 tokens after 64 | 25 times | 30.0 times | met |" in text
    numbers = json.loads((tmp_path / NUMBERS).read_text(encoding="utf-8"))
    assert numbers["by_questions"] == {"10": 0.2, "20": 0.4}
    assert (numbers["questions"], numbers["threads"], numbers["machine"]) == (400, 2, "2 cores")
    assert (tmp_path / PLOT).read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_the_committed_numbers_have_what_is_written_today(root: Path) -> None:
    committed = json.loads((root / "benchmarks" / NUMBERS).read_text(encoding="utf-8"))
    assert set(make_measured().to_dict()) < set(committed)
