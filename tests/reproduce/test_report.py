"""The report from a store, to its files."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from riseq.data.dataset import load_dataset
from riseq.files import write_json
from riseq.metrics.scores import score
from riseq.reproduce.document import Report, Row, Table, render_html, render_markdown, report_to_dict
from riseq.reproduce.report import SECTIONS, build_report, write_compact, write_joined, write_report
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.saved import Store
from riseq.types import InputError
from tiny_report import DEV, PAPER_CASE, TEST, UNSEEN, make_store, write_data


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Scoreboard:
    folder = tmp_path_factory.mktemp("report")
    root = write_data(folder / "data")
    return Scoreboard(make_store(folder / "store", root), load=lambda name: load_dataset(name, root=root))


@pytest.fixture(scope="module")
def report(board: Scoreboard) -> Report:
    return build_report(board)


def find_table(report: Report, key: str) -> Table:
    return next(p for s in report.sections for p in s.parts if isinstance(p, Table) and p.key == key)


def find_row(table: Table, label: str) -> Row:
    return next(row for row in table.rows if row.label == label)


def test_the_overall_scores_are_those_of_the_scorer(report: Report, board: Scoreboard) -> None:
    row = find_row(find_table(report, "overall"), "Rule")
    targets = [str(one.target) for one in board.examples(TEST)]
    scores = score(board.texts("rule", TEST) or [], targets)
    expected = [scores.bleu1, scores.bleu2, scores.bleu3, scores.bleu4, scores.rougeL, scores.cider]
    assert [cell.value for cell in row.cells[:6]] == pytest.approx(expected)
    assert row.cells[3].command == (
        "riseq evaluate --system saved --model benchmarks/predictions/rule/canard.test.qonly.jsonl.gz "
        "--data canard/test.qonly"
    )


def test_ours_the_papers_and_the_missing_stand_in_one_table(report: Report) -> None:
    table = find_table(report, "overall")
    kinds = {row.label: row.kind for row in table.rows}
    assert kinds["Origin"] == kinds["Rise-Small"] == kinds["Mine"] == "ours"
    assert kinds["Origin, paper"] == kinds["RISE, paper"] == "paper"
    assert kinds["Trans++"] == kinds["RISE, large"] == "missing"
    missing = find_row(table, "Trans++")
    assert {cell.text for cell in missing.cells} == {"not run"}
    assert {cell.value for cell in missing.cells} == {None}
    assert str(missing.command).startswith("riseq train recipes/trans++.yaml --out runs/trans++")


def test_what_is_known_of_a_system_outside_the_plan_stands_below_the_table(tmp_path: Path) -> None:
    root = write_data(tmp_path / "data")
    store = make_store(tmp_path / "store", root)
    for name in ("mine", "rise-small"):
        manifest = store.read_manifest(name)
        assert manifest is not None
        store.write_manifest(replace(manifest, title=name, note=f"{name} is of one seed"))
    board = Scoreboard(store, load=lambda name: load_dataset(name, root=root))
    note = find_table(build_report(board, ["table1"]), "overall").note
    assert note.endswith(" mine: mine is of one seed.")
    assert "rise-small" not in note


def test_stars_are_against_the_best_baseline_and_for_no_baseline(report: Report) -> None:
    table = find_table(report, "overall")
    assert not any(cell.star or cell.p is not None for cell in find_row(table, "Rule").cells)
    ours = find_row(table, "Rise-Small")
    assert all(cell.p is not None for cell in ours.cells)
    assert all(cell.star == (cell.p is not None and cell.p < 0.01) for cell in ours.cells)
    assert all(cell.best for cell in ours.cells)
    assert "(Rule)" in table.note
    alone = find_row(table, "RISE on CANARD alone (2 seeds)")
    assert all(cell.p is not None for cell in alone.cells)


def test_the_ablation_has_means_and_spreads_over_the_seeds_that_were_run(report: Report, board: Scoreboard) -> None:
    table = find_table(report, "ablation")
    row = find_row(table, "-DPS (2 seeds)")
    values = [found.score("bleu4") for seed in (1, 2) if (found := board.scores(f"ablation-dps-{seed}", TEST))]
    assert row.cells[3].value == pytest.approx(sum(values) / 2)
    assert " ± " in row.cells[3].text
    assert find_row(table, "-MLD").kind == "missing"
    assert find_row(table, "-MLD, paper").kind == "paper"
    tests = find_table(report, "ablation-tests")
    against = find_row(tests, "RISE against -DPS")
    assert against.cells[3].value is not None
    assert against.cells[3].value > 0
    assert against.cells[3].p is not None
    edited = find_table(report, "edited")
    tested, sampled, printed = find_row(edited, "-DPS").cells
    assert sampled.value == pytest.approx(15.0)
    assert printed.value == 22.0
    assert tested.value is not None
    assert 0 < tested.value < 100


def test_cost_tells_ours_beside_the_papers(report: Report) -> None:
    table = find_table(report, "training")
    told = [cell.text for cell in find_row(table, "Rise-Small").cells]
    assert told == ["38", "221", "not told", "15.0", "not told", "not told", "5", "not told"]
    assert find_row(table, "-DPS, ablation, mean of a seed").cells[2].text == "0.50"
    assert find_row(table, "Origin").cells[0].text == "none"


def test_passes_show_what_each_brings(report: Report) -> None:
    cells = find_row(find_table(report, "passes"), "Rise-Small").cells
    assert cells[0].value is not None
    assert cells[1].value is not None
    assert cells[0].value < cells[1].value  # the first pass only puts "So," before the target
    assert cells[1].value == cells[2].value == cells[4].value
    assert cells[5].value is not None
    assert cells[6].value is not None
    assert cells[5].value < cells[6].value  # BLEU-1 after one pass and after three
    assert cells[7].value == 0


def test_breakdowns_add_up_to_the_set(report: Report, board: Scoreboard) -> None:
    for key in (f"phenomena-{TEST}", f"length-{TEST}", f"turns-{TEST}"):
        counts = [row.cells[0].value or 0 for row in find_table(report, key).rows]
        assert sum(counts) == len(board.examples(TEST))


def test_breakdowns_and_losses_have_the_mean_of_the_seeds(report: Report, board: Scoreboard) -> None:
    table, key = find_table(report, f"phenomena-{TEST}"), "RISE on CANARD alone"
    column = next(at for at, one in enumerate(table.columns) if (one.group, one.title) == ("exact match %", key))
    exact = sum((row.cells[column].value or 0) * (row.cells[0].value or 0) for row in table.rows)
    ran = [found.score("exact") for seed in (1, 2) if (found := board.scores(f"ablation-rise-{seed}", TEST))]
    assert exact / len(board.examples(TEST)) == pytest.approx(sum(ran) / 2)
    assert find_row(find_table(report, "information"), key).kind == "ours"


def test_the_case_study_has_the_papers_example_and_every_pass(report: Report) -> None:
    section = next(section for section in report.sections if section.key == "cases")
    told = report_to_dict(report)["sections"]["cases"]["cases"]
    assert len(told) == len(section.parts)
    first = {line["label"]: line["diff"] for line in told[0]["lines"]}
    assert told[0]["title"] == "The paper's example 2"
    assert first["paper, rewrite 2"] == [{"kind": "same", "text": "Did he win any awards?"}]
    gain = next(case for case in told if case["title"].startswith("Best gain"))
    labels = [line["label"] for line in gain["lines"]]
    assert {"question", "pass 1", "pass 2", "output", "target", "Rule", "Mine"} <= set(labels)
    second = next(line["diff"] for line in gain["lines"] if line["label"] == "pass 2")
    assert {"kind": "old", "text": "So,"} in second


def test_every_number_of_ours_carries_a_command(report: Report) -> None:
    told = json.loads(json.dumps(report_to_dict(report), allow_nan=False))
    tables = [table for section in told["sections"].values() for table in section["tables"]]
    numbers = [
        (table["key"], row["label"], column, cell["command"])
        for table in tables
        for row in table["rows"]
        for column, cell in zip(table["columns"], row["cells"], strict=True)
        if row["kind"] == "ours" and cell["value"] is not None and not column.endswith("paper")
    ]
    assert len(numbers) > 200
    assert [number for number in numbers if not number[3]] == []
    assert all(section["command"].startswith("riseq reproduce --only ") for section in told["sections"].values())


class Checker(HTMLParser):
    """Follows tags, so that a page that is not closed or reaches out is found out."""

    VOID = ("meta", "use", "path", "rect", "circle", "image")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.reaches: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        self.ids += [value for key, value in attrs if key == "id" and value]
        links = [told.get(key) or "" for key in ("src", "href", "xlink:href")]
        self.reaches += [link for link in links if link and not link.startswith(("#", "data:"))]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing_beside_it(report: Report) -> None:
    page = render_html(report)
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.reaches == []
    assert len(checker.ids) == len(set(checker.ids))
    assert page.count("<svg") == page.count("</svg>") == 4
    assert 'title="riseq evaluate --system saved' in page
    assert "<del>" in page
    assert "prefers-color-scheme: dark" in page


def test_texts_from_outside_cannot_break_the_page(board: Scoreboard, report: Report) -> None:
    from dataclasses import replace

    nasty = replace(report, title="<script>alert(1)</script>", sections=())
    assert "<script>alert" not in render_html(nasty)


def test_the_same_evidence_gives_the_same_files(report: Report, board: Scoreboard) -> None:
    again = build_report(board)
    assert render_html(again) == render_html(report)
    assert render_markdown(again) == render_markdown(report)


def test_the_files_and_their_links(report: Report, tmp_path: Path) -> None:
    page = write_report(report, tmp_path / "out")
    assert page == tmp_path / "out" / "report.html"
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((figures/[\w.-]+)\)", text)
    assert len(links) == 4
    assert all((tmp_path / "out" / link).read_text(encoding="utf-8").startswith("<svg") for link in links)
    told = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert list(told["sections"]) == list(SECTIONS)
    assert told["systems"]["rise-small"]["seed"] == 5


def test_markdown_rows_have_as_many_cells_as_heads(report: Report) -> None:
    for block in re.findall(r"(?:^\|.*\n)+", render_markdown(report), re.MULTILINE):
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(widths) == 1, block


def test_the_compact_copy_quotes_a_handful_of_rows(report: Report, tmp_path: Path) -> None:
    path = write_compact(report, tmp_path)
    compact, whole = path.read_text(encoding="utf-8"), render_markdown(report)
    assert compact.count("- question: ") <= 5 < whole.count("- question: ")
    assert compact.count("| Rule |") == whole.count("| Rule |")


def test_joined_outputs_are_beside_question_and_target(board: Scoreboard, tmp_path: Path) -> None:
    count = write_joined(board, tmp_path)
    assert count == 3 * len(board.manifests)
    lines = gzip.decompress((tmp_path / "rule" / "canard.test.qonly.jsonl.gz").read_bytes()).decode().splitlines()
    assert json.loads(lines[0]) == {
        "id": f"{TEST}-0",
        "turn": 2,
        "question": "When was Alien released?",
        "target": "When was it released?",
        "passes": ["So, When was it released?", "When was it released?"],
        "prediction": "When was it released?",
    }


def test_sections_by_name(board: Scoreboard) -> None:
    assert [section.key for section in build_report(board, ["speed", "table1"]).sections] == ["table1", "speed"]
    with pytest.raises(InputError, match="no section is called 'table9'; did you mean 'table"):
        build_report(board, ["table9"])


def test_speeds_are_read_from_the_store(board: Scoreboard) -> None:
    speed = {"questions_per_s": 1234.5, "median_ms": 0.2, "p95_ms": 0.4}
    facts = {"day": "2026-11-20", "machine": "2 cores of x", "model": None}
    path = board.store.folder / "speed.json"
    write_json(path, {"data": UNSEEN, "rows": 6, "systems": {"origin": {**speed, **facts}}})
    try:
        table = find_table(build_report(board, ["speed"]), "speed")
    finally:
        path.unlink()
    assert [cell.text for cell in find_row(table, "Origin").cells] == ["1,234.5", "0.2", "0.4", "2026-11-20", "none"]
    assert find_row(table, "Rule").kind == "missing"
    assert table.note.startswith("6 questions of cast19/test.qonly, on 2 cores of x. ")
    assert "riseq reproduce --speed" in table.note


def test_outputs_of_other_rows_are_a_users_error(tmp_path: Path) -> None:
    root = write_data(tmp_path / "data")
    store = make_store(tmp_path / "store", root)
    store.write("rule", TEST, {f"{TEST}-0": []})
    with pytest.raises(InputError, match=r"has no output for 6 of 7 examples of canard/test\.qonly"):
        build_report(Scoreboard(store, load=lambda name: load_dataset(name, root=root)), ["table1"])
    limited = Scoreboard(store, 1, load=lambda name: load_dataset(name, root=root))
    assert limited.scores("rule", TEST) is not None
    assert limited.scores("rule", DEV) is not None


def test_a_store_without_rise_has_no_passes_and_no_cases(tmp_path: Path) -> None:
    root = write_data(tmp_path / "data")
    store = make_store(tmp_path / "store", root)
    for name in ("rise-small", "mine"):
        (store.folder / name / "manifest.json").unlink()
    report = build_report(
        Scoreboard(Store(store.folder), load=lambda name: load_dataset(name, root=root)),
        ["iterations", "cases", "passes"],
    )
    assert [len(section.parts) for section in report.sections] == [0, 1, 0]
    assert "Not run." in render_markdown(report)
    assert PAPER_CASE not in render_markdown(report)
