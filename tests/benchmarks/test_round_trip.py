"""The benchmark of the round trip: what it measures, what it writes, and that docs/round-trip.md has its tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import round_trip
from results import replace_section
from riseq.metrics.behaviour import ALL
from riseq.types import Simplification
from round_trip import GUARD, MEASURED, PAGE, SYSTEMS, TABLE, load_sample, main, write_tables


def test_the_page_has_the_tables_of_what_was_measured() -> None:
    measured, page = json.loads(MEASURED.read_text(encoding="utf-8")), PAGE.read_text(encoding="utf-8")
    for dataset, rows in SYSTEMS.items():
        assert list(measured[dataset]) == list(rows), dataset
    sections = write_tables(measured)
    assert list(sections) == [TABLE, GUARD]
    for title, section in sections.items():
        assert replace_section(page, title, section) == page, f"{title}: benchmarks/round_trip.py --page writes it"


def test_a_sample_is_the_same_each_time_and_has_dialogues(data_dir: Path) -> None:
    first, again = (load_sample("canard/test.qonly", 300) for _ in range(2))
    assert [case.example.id for case in first] == [case.example.id for case in again]
    assert len({case.example.id for case in first}) == 300
    assert all(case.example.context for case in first)
    with_answers = load_sample("canard/test.qa", 300)
    assert [case.example.question for case in with_answers] == [case.example.question for case in first]


class Parrot:
    """A resolver, or a simplifier, that says every question again; under test is what is measured of it."""

    @classmethod
    def load(cls, model: str | None = None, *, threads: int) -> Parrot:
        assert threads == 1
        return cls()

    def resolve_many(self, items: list[tuple[str, Any]]) -> list[Simplification]:
        return [Simplification(text, text) for text, _ in items]

    def batch(self, items: list[tuple[str, Any]], grounded: bool, n_best: int) -> list[Simplification]:
        assert n_best > 1
        found = [Simplification(question, question) for question, _ in items]
        return [Simplification(one.question, one.text, alternatives=(one,)) for one in found]

    def with_round_trip(self, resolver: Parrot) -> Parrot:
        return self

    def __call__(self, question: str, context: Any) -> Simplification:
        return Simplification(question, question)


def test_parts_are_measured_kept_and_written_into_a_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = {"Origin": ("origin", None, False), "gold": ("gold", None, False)}
    monkeypatch.setattr(round_trip, "SYSTEMS", {"everyday/suite": rows})
    monkeypatch.setattr(round_trip, "Resolver", Parrot)
    monkeypatch.setattr(round_trip, "Simplifier", Parrot)
    saved, page = tmp_path / "saved.json", tmp_path / "page.md"
    page.write_text(f"# Page\n\n## {TABLE}\n\nformer\n\n## After\n\nkept\n", encoding="utf-8")
    common = ["--resolver", "any", "--save", str(saved)]
    for part in (["--part", "everyday/suite", "--row", "gold"], ["--part", "everyday/suite", "--row", "Origin"]):
        main([*common, *part])
    main([*common, "--part", "guard suite", "--part", "time", "--page", str(page)])
    measured = json.loads(saved.read_text(encoding="utf-8"))
    assert list(measured["everyday/suite"]) == ["Origin", "gold"], "in the order of the table"
    origin, gold = (measured["everyday/suite"][name][ALL] for name in rows)
    assert (origin["n"], origin["back"], origin["exact"], gold["restored"]) == (200, 100, 100, 0)
    assert gold["back"] == pytest.approx(100 - gold["dropped"])
    for row in measured["guard suite"].values():
        assert (row["kept"], row["other"], row["better"], row["worse"]) == (100, 0, 0, 0)
    text = page.read_text(encoding="utf-8")
    assert "former" not in text
    assert "| Origin | 0.0 | 100.0 | 100.0 | 100.0 | 100.0 |" in text
    assert text.index("| Origin |") < text.index("| gold |"), "in the order of the table here too"
    assert text.count("## After\n\nkept\n") == 1
    capsys.readouterr()
    main(["--save", str(saved)])
    assert capsys.readouterr().out.count("\n| Origin |") == 1, "without a resolver the tables are printed again"
