"""Shares of everyday cases in pages and cards: made from saved answers, and the committed ones against them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.data.dataset import load_dataset
from riseq.reproduce.blocks import END, find_root, replace_blocks, write_blocks
from riseq.reproduce.cards import replace_everyday
from riseq.reproduce.everyday import SAVED_ANSWERS, SHARES_BEGIN, SUITES, WAYS_BEGIN, build_card, build_shares
from riseq.reproduce.plan import PREDICTIONS
from riseq.reproduce.readme import list_builders
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.saved import Store
from riseq.types import InputError
from tiny_report import make_store, write_data

CASE = {"question": "Who wrote Emma?", "context": ["Do you know Emma?"], "keep": ["wrote"], "gone": ["Emma"]}
GOOD, BAD = "Who wrote it?", "Who wrote him?"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Saved answers to eight cases, six of them of one phenomenon, in a project of their own."""
    kinds = ["two-people"] * 6 + ["rare", "rare"]
    rows = [{**CASE, "id": str(k), "gold": [GOOD], "bad": ["him"], "phenomenon": kind} for k, kind in enumerate(kinds)]
    path = tmp_path / SUITES["suite"].file
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    store = make_store(tmp_path / PREDICTIONS, write_data(tmp_path / "sets"))
    answers = {str(k): BAD if k in (0, 1, 2, 6, 7) else GOOD for k in range(8)}
    text = json.dumps({"default": {"suite": answers}, "other": {"suite": dict.fromkeys(answers, GOOD)}})
    (store.folder / SAVED_ANSWERS).write_text(text, encoding="utf-8")
    return store


def test_a_page_has_a_column_for_each_model_and_a_card_its_own(store: Store, tmp_path: Path) -> None:
    page = build_shares(store.folder, tmp_path).splitlines()
    assert page[0].endswith("| kept, clean, right, exact of `default` | kept, clean, right, exact of `other` |")
    assert page[2].endswith("| 8 | 100.0 37.5 37.5 37.5 | 100.0 100.0 100.0 100.0 |")
    assert len(page) == 3
    card = build_card(store.folder, tmp_path, "default").splitlines()
    assert card[2].endswith("| 8 | 100.0 37.5 37.5 37.5 | two people 50.0 |"), "two cases say nothing of a phenomenon"
    assert build_card(store.folder, None, "default").count("\n") == 2


def test_blocks_are_found_by_their_comments_and_the_rest_stays(tmp_path: Path) -> None:
    text = f"# A\n\n<!-- b -->\nold\n{END}\n\nText.\n<!-- a -->\n{END}\n"
    made = replace_blocks(
        text, {"<!-- a -->": lambda: "one\n", "<!-- b -->": lambda: "two\n", "<!-- c -->": lambda: "3"}
    )
    assert made == f"# A\n\n<!-- b -->\ntwo\n{END}\n\nText.\n<!-- a -->\none\n{END}\n"
    page = tmp_path / "page.md"
    page.write_text("<!-- a -->\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"page\.md: the block that begins with '<!-- a -->' has no end"):
        write_blocks(page, {"<!-- a -->": lambda: ""})
    assert find_root(page) is None


def test_the_command_writes_every_page_that_is_named(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RISEQ_DATA", str(tmp_path / "sets"))
    pages = [tmp_path / "one.md", tmp_path / "docs" / "two.md"]
    pages[1].parent.mkdir()
    for page, begin in zip(pages, (SHARES_BEGIN, WAYS_BEGIN), strict=True):
        page.write_text(f"{begin}\n{END}\n", encoding="utf-8")
    flags = [part for page in pages for part in ("--readme", str(page))]
    assert main(["reproduce", "--out", "report", "--only", "table1", *flags]) == 0
    assert build_shares(store.folder, tmp_path) in pages[0].read_text(encoding="utf-8")
    assert "| CAsT-19 | not saved | " in pages[1].read_text(encoding="utf-8")


def test_committed_pages_and_cards_have_the_shares_of_the_saved_answers(data_dir: Path, root: Path) -> None:
    board = Scoreboard(Store(root / PREDICTIONS), load=lambda name: load_dataset(name, root=data_dir))
    page = root / "docs" / "everyday.md"
    text = page.read_text(encoding="utf-8")
    assert SHARES_BEGIN in text
    assert WAYS_BEGIN in text
    assert replace_blocks(text, list_builders(board, page)) == text, "make it again: riseq reproduce --readme FILE"
    for name in ("default", "large"):
        card = root / "models" / name / "README.md"
        text = card.read_text(encoding="utf-8")
        assert SHARES_BEGIN in text
        assert replace_everyday(board, name, text, card) == text, "make it again with: riseq reproduce --cards"
