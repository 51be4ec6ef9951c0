"""The machine in words."""

from __future__ import annotations

from pathlib import Path

from riseq.reproduce.facts import describe_machine


def test_the_processor_is_named_with_its_cores(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor : 0\nmodel name\t: Some  Processor 9000\n", encoding="utf-8")
    assert describe_machine(cpuinfo).endswith("of Some Processor 9000")


def test_a_machine_that_does_not_tell_is_described_all_the_same(tmp_path: Path) -> None:
    number, word, *_ = describe_machine(tmp_path / "nothing").split()
    assert int(number) >= 1
    assert word in ("core", "cores")
