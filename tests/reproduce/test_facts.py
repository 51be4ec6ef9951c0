"""The machine in words, what a run's folder has, and speeds by a clock that the test winds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

import pytest

from riseq.hub import find_default_model
from riseq.reproduce.facts import (
    WARM_UP,
    ModelFacts,
    count_parameters,
    describe_machine,
    measure_speed,
    read_config,
    read_facts,
)
from riseq.reproduce.plan import BY_NAME
from riseq.reproduce.report import can_run, measure_speeds
from riseq.systems.saved import Store
from riseq.types import Example, InputError, Simplification
from tiny_model import make_checkpoint, save_tiny

LOG = """step,epoch,loss,reward,edited,states_per_s,sampling_share,elapsed
20,1,1.0,0.1,0.5000,10,0.1,100.00
40,1,1.0,0.1,0.4000,10,0.1,900.00
60,2,1.0,0.1,0.1000,10,0.1,100.00
80,2,1.0,0.1,0.3000,10,0.1,900.00
"""


@pytest.mark.parametrize(("kept", "edited", "steps"), [(None, 0.2, 80), (2, 0.2, 80), (1, 0.45, 40)])
def test_hours_are_of_all_epochs_and_edits_and_steps_of_the_kept(
    tmp_path: Path, kept: int | None, edited: float, steps: int
) -> None:
    (tmp_path / "log.csv").write_text(LOG, encoding="utf-8")
    (tmp_path / "best").mkdir()
    config = {"settings": {"seed": 4, "train": ["a/b"]}, **({} if kept is None else {"epoch": kept})}
    (tmp_path / "best" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert read_facts(tmp_path / "best") == ModelFacts(None, 4, ("a/b",), hours=0.5, edited=edited, steps=steps)


def test_a_log_of_other_columns_tells_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("step,loss\n1,0.5\n", encoding="utf-8")
    assert read_facts(tmp_path) == ModelFacts(steps=1)


def test_a_checkpoints_weights_are_counted_without_being_loaded(tmp_path: Path) -> None:
    checkpoint = make_checkpoint()
    folder = save_tiny(tmp_path / "tiny", checkpoint)
    assert count_parameters(folder) == sum(p.numel() for p in checkpoint.network.state_dict().values())
    # The same that a run writes into the config, and an export takes from there: one count for all tables.
    assert count_parameters(folder) == sum(p.numel() for p in checkpoint.network.parameters())


def test_an_exported_model_has_what_its_training_counted() -> None:
    folder = find_default_model()
    if folder is None:
        pytest.skip("no model ships with this checkout")
    assert 20e6 < (count_parameters(folder) or 0) < 60e6


def test_a_folder_without_a_model_tells_nothing_and_a_broken_one_is_told(tmp_path: Path) -> None:
    assert count_parameters(tmp_path) is None
    assert read_config(tmp_path) == {}
    (tmp_path / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"config\.json, line 1: not JSON"):
        read_config(tmp_path)


def test_a_language_models_facts_are_a_part_of_its_librarys_config(tmp_path: Path) -> None:
    settings = {"seed": 3, "train": ["canard/train.qonly"]}
    (tmp_path / "config.json").write_text(
        json.dumps({"model_type": "llama", "riseq": {"settings": settings, "parameters": 7}})
    )
    facts = read_facts(tmp_path)
    assert (facts.seed, facts.trained_on, facts.parameters) == (3, ("canard/train.qonly",), 7)


def test_the_processor_is_named_with_its_cores(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nmodel name\t: Some  Processor 9000\n", encoding="utf-8")
    assert describe_machine(cpuinfo).endswith("of Some Processor 9000")


def test_a_machine_that_does_not_tell_is_described_all_the_same(tmp_path: Path) -> None:
    number, word, *_ = describe_machine(tmp_path / "nothing").split()
    assert int(number) >= 1
    assert word in ("core", "cores")


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
    large = tmp_path / "rise-large" / "best"
    large.mkdir(parents=True)
    systems = [BY_NAME[name] for name in ("origin", "trans++", "rise-small", "rise-large")]
    assert [can_run(planned, tmp_path) for planned in systems] == [True, False, True, True]
    assert [planned.find_model(tmp_path) for planned in systems] == [None, None, None, large]


def test_all_are_measured_on_one_machine(tmp_path: Path) -> None:
    systems = [BY_NAME["origin"], BY_NAME["trans++"]]
    measure_speeds(Store(tmp_path), systems, tmp_path / "runs", EXAMPLES, date(2026, 11, 20))
    written = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert written["rows"] == 20
    (name, found) = written["systems"].popitem()
    assert (name, found["day"], found["model"]) == ("origin", "2026-11-20", None)
    assert "of" in found["machine"]
    assert found["questions_per_s"] > 0


def test_what_cannot_be_measured_again_stays_if_the_questions_are_as_many(tmp_path: Path) -> None:
    old = {"median_ms": 9.0, "day": "2026-11-15", "machine": "x", "model": "of 0.1.0"}
    saved = {"data": "cast19/test.qonly", "rows": 20, "systems": {"trans++": old, "origin": old}}
    (tmp_path / "speed.json").write_text(json.dumps(saved), encoding="utf-8")
    for count, left in ((20, ["origin", "trans++"]), (10, ["origin"])):
        measure_speeds(Store(tmp_path), [BY_NAME["origin"]], tmp_path, EXAMPLES[:count], date(2026, 11, 20))
        written = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))["systems"]
        assert sorted(written) == left
        assert written["origin"]["day"] == "2026-11-20"
        assert written.get("trans++", old) == old
