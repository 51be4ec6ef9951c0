"""README's results: made from saved outputs, and the committed ones against the paper's data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.data.dataset import load_dataset
from riseq.reproduce.blocks import END
from riseq.reproduce.everyday import SAVED_ANSWERS as EVERYDAY
from riseq.reproduce.plan import ANSWERS, GROUNDED_SETS, PREDICTIONS, UNSEEN
from riseq.reproduce.readme import BEGIN, GROUNDED, build_results, replace_speed, write_pair, write_readme
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.saved import Store
from riseq.types import InputError
from tiny_report import TEST, make_store, save_outputs, write_data


@pytest.fixture
def board(tmp_path: Path) -> Scoreboard:
    root = write_data(tmp_path / "data")
    store = make_store(tmp_path / "benchmarks" / "predictions", root)
    save_outputs(store, "trans++", "trans++", root, 3, parameters=48_000_000)
    for name, skill in (("trans++-2", 5), ("ablation-mld-1", 6)):
        save_outputs(store, name, name.rstrip("-2"), root, skill, counted_passes=3, parameters=48_000_000)
    return Scoreboard(store, load=lambda name: load_dataset(name, root=root))


def test_the_table_has_the_scores_of_the_outputs_and_the_whole_size(board: Scoreboard) -> None:
    rows = {line.split(" | ")[0].strip("| "): line for line in build_results(board).splitlines() if line[0:1] == "|"}
    found = board.scores("rule", TEST)
    assert found is not None
    assert f"{found.score('bleu1'):.1f} {found.score('bleu2'):.1f}" in rows["Rule"]
    assert "54.7 47.0 40.6 35.3 70.9 3.460" in rows["Origin, paper"]
    assert rows["**RISE, ours, `default` (38M, int8)**"].endswith("| - |") is False  # no first turns: the same twice
    assert rows["QGDiv"] == "| QGDiv | - | - | - |"
    both = [board.scores(name, TEST) for name in ("trans++", "trans++-2")]
    order = list(rows)
    assert order.index("Mine") < order.index("**RISE, ours, `default` (38M, int8)**")  # a system outside the plan
    mean = sum(one.score("bleu4") for one in both if one) / 2
    assert f" {mean:.1f} " in rows["Trans++ (48M, 2 seeds)"]


def test_it_says_where_mld_is_ahead_and_what_was_not_saved_is_left_out(board: Scoreboard) -> None:
    text = build_results(board)
    assert "Its ablation -MLD (maximum likelihood) is ahead of it on CANARD in B-1 (" in text
    assert "; p < 0.01 in " in text
    assert re.search(r"above -DPS in 12 \(p < 0\.01 in \d+\)", text)
    assert "| RISE on CANARD alone, -DPS (" in text
    assert ANSWERS not in text


def test_only_what_is_between_the_comments_is_written(board: Scoreboard, tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nText.\n", encoding="utf-8")
    for _ in range(2):
        write_readme(board, path)
        assert path.read_text(encoding="utf-8") == f"# Mine\n\n{BEGIN}\n{build_results(board)}{END}\n\nText.\n"
    path.write_text("# Mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no place for the results"):
        write_readme(board, path)
    with pytest.raises(InputError, match="cannot be read"):
        write_readme(board, tmp_path / "nothing.md")


def test_the_command_writes_it_and_refuses_a_part(
    board: Scoreboard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RISEQ_DATA", str(tmp_path / "data"))
    (tmp_path / "README.md").write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    command = ["reproduce", "--out", "report", "--only", "table1", "--readme", "README.md"]
    assert main([*command, "--limit", "2"]) == 2
    assert "--readme goes with the committed predictions and all rows" in capsys.readouterr().err
    assert main(command) == 0
    assert build_results(board) in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_the_committed_readme_has_the_numbers_of_the_predictions(data_dir: Path, root: Path) -> None:
    store = Store(root / PREDICTIONS)
    board = Scoreboard(store, load=lambda name: load_dataset(name, root=data_dir))
    text = (root / "README.md").read_text(encoding="utf-8")
    made = text.partition(f"{BEGIN}\n")[2].partition(END)[0]
    assert made == build_results(board, root), "make it again with: riseq reproduce --readme README.md"
    assert any(not one.context for one in board.examples(UNSEEN))


def test_grounded_outputs_are_told_once_they_are_saved(board: Scoreboard) -> None:
    assert GROUNDED not in build_results(board)
    store, (dataset,) = board.store, GROUNDED_SETS
    store.write("rise-small", dataset, store.read("rise-small", UNSEEN) or {})
    again = Scoreboard(store, load=board._load)
    found = again.scores("rise-small", UNSEEN)
    assert found is not None
    assert f"{GROUNDED} `default` has {found.score('bleu1'):.1f} " in build_results(again)
    assert again.rescore_command("rise-small", dataset).endswith(
        f"rise-small/cast19.test.qonly+grounded.jsonl.gz --data {UNSEEN}"
    )


@pytest.mark.parametrize(
    ("pair", "form", "text"),
    [
        ((88.74, 88.66), ".1f", "88.74 to 88.66"),
        ((88.70, 88.64), ".1f", "88.7 to 88.6"),
        ((88.7, 88.7), ".1f", "88.7 to 88.7"),
        ((6.9094, 6.9088), ".3f", "6.9094 to 6.9088"),
    ],
)
def test_numbers_that_differ_do_not_look_alike(pair: tuple[float, float], form: str, text: str) -> None:
    assert write_pair(*pair, form) == text


def test_the_speed_is_that_of_the_default_model(board: Scoreboard, tmp_path: Path, root: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"Takes about 99 milliseconds a question.\n{BEGIN}\n{END}\n", encoding="utf-8")
    write_readme(board, page)
    assert "about 99 milliseconds a question" in page.read_text(encoding="utf-8"), "nothing was measured"
    path = board.store.folder / "speed.json"
    path.write_text(json.dumps({"systems": {"rise-small": {"median_ms": 12.6}}}), encoding="utf-8")
    write_readme(board, page)
    assert page.read_text(encoding="utf-8").startswith("Takes about 13 milliseconds a question.\n")
    text = (root / "README.md").read_text(encoding="utf-8")
    assert " milliseconds a question" in text
    committed = Scoreboard(Store(root / PREDICTIONS))
    assert replace_speed(committed, text) == text, "make it again with: riseq reproduce --readme README.md"


def test_no_score_is_typed_by_hand(root: Path) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    typed = re.findall(r"(?:\d+\.\d ){3,5}\d+\.\d+|\d\d\.\d%", before + after)
    assert not typed, f"README has scores that are typed by hand: {typed}"


def test_everyday_answers_are_judged_where_they_are_saved(board: Scoreboard, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "everyday"
    folder.mkdir(parents=True)
    case = {"question": "Who wrote Emma?", "context": ["Do you know Emma?"], "keep": ["wrote"], "gone": ["Emma"]}
    for name in ("suite", "held_out"):
        rows = [{**case, "id": str(number), "gold": ["Who wrote it?"], "bad": ["him"]} for number in range(2)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert "everyday" not in build_results(board, tmp_path)
    answers = {"0": "Who wrote it?", "1": "Who wrote him?"}
    saved = {"default": {"suite": answers, "held_out": answers}, "large": {"suite": answers}}
    (board.store.folder / EVERYDAY).write_text(json.dumps(saved), encoding="utf-8")
    text = build_results(board, tmp_path)
    assert "(`data/everyday/suite.jsonl`, 2): `default` 100.0 50.0 50.0 50.0, `large` 100.0 50.0 50.0 50.0\n" in text
    assert "- cases once held out, by which `default`'s last step was chosen too (`data/everyday/held" in text
    assert "(`data/everyday/held_out.jsonl`, 2): `default` 100.0 50.0 50.0 50.0\n" in text
    assert "everyday" not in build_results(board)


def test_parameters_are_counted_whole_wherever_they_are_told(root: Path) -> None:
    manifest = Store(root / PREDICTIONS).read_manifest("rise-small")
    assert manifest is not None
    millions = round((manifest.parameters or 0) / 1e6)
    text = (root / "README.md").read_text(encoding="utf-8")
    assert f"The included model has {millions} million parameters" in text
    cards = (root / "models").glob("*/README.md")
    for page in (root / "README.md", root / "docs" / "training.md", *cards, *(root / "recipes").glob("*.yaml")):
        assert not re.search(r"\b(33|110)( ?M\b| million)", page.read_text(encoding="utf-8")), (
            f"{page}: an encoder's size"
        )
