"""What the benchmarks share."""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import pytest

from results import EVERYDAY, describe_run, find_data, format_table, make_examples, replace_section, write_section


def test_a_section_takes_the_place_of_the_old_one() -> None:
    page = "# Page\n\n## A\n\nold\n\n## B\n\nkept\n"
    assert replace_section(page, "A", "new\n") == "# Page\n\n## A\n\nnew\n\n## B\n\nkept\n"
    assert replace_section(page, "B", "new\n") == "# Page\n\n## A\n\nold\n\n## B\n\nnew\n"
    assert replace_section(page, "C", "new\n") == page + "\n## C\n\nnew\n"
    below = "# Page\n\n## A\n\nold\n\n### By hand\n\nkept\n"
    assert replace_section(below, "A", "new") == "# Page\n\n## A\n\nnew\n\n### By hand\n\nkept\n"


def test_a_page_that_is_not_there_begins_with_the_section(tmp_path: Path) -> None:
    write_section("Engine", "text", tmp_path / "RESULTS.md")
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == "# Results\n\n## Engine\n\ntext\n"


def test_a_table_is_markdown() -> None:
    assert format_table(("", "a"), [("x", "1")]) == "|  | a |\n| --- | --- |\n| x | 1 |"


def test_a_run_is_its_command_with_machine_and_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/benchmarks/bench_core.py", "--write", "a b"])
    assert describe_run().startswith("`python benchmarks/bench_core.py --write 'a b'`, ")


def test_the_data_are_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RISEQ_DATA", str(tmp_path))
    assert find_data() == tmp_path
    monkeypatch.delenv("RISEQ_DATA")
    with pytest.raises(SystemExit, match="set RISEQ_DATA"):
        find_data()


def test_halves_of_the_made_up_dialogues_are_the_whole() -> None:
    whole = list(islice(make_examples(EVERYDAY), 9))
    halves = (*islice(make_examples(EVERYDAY), 0, 9, 2), *islice(make_examples(EVERYDAY), 1, 9, 2))
    assert sorted(halves, key=lambda one: int(one.id)) == whole
