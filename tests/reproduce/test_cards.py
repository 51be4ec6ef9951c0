"""The metadata of shipped cards, refreshed from saved outputs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.data.dataset import load_dataset
from riseq.hub import find_shipped
from riseq.jobs import digest
from riseq.reproduce.cards import refresh_cards, replace_scores
from riseq.reproduce.facts import read_config
from riseq.reproduce.plan import PREDICTIONS, split_form
from riseq.reproduce.score_tables import TITLES
from riseq.reproduce.scoreboard import Scoreboard
from riseq.systems.saved import Store
from riseq.terminal.results import score_digits
from tiny_model import export_tiny
from tiny_report import DEV, TEST, UNSEEN, make_store, write_data

hub = pytest.importorskip("huggingface_hub")


@pytest.fixture
def model(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with data and saved outputs, and one shipped model."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RISEQ_DATA", str(write_data(tmp_path / "data")))
    make_store(tmp_path / "benchmarks" / "predictions", tmp_path / "data")
    folder = Path(shutil.copytree(export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1], tmp_path / "model"))
    (folder / "README.md").write_text("# Ours\n\nText.\n", encoding="utf-8")
    monkeypatch.setattr("riseq.cli.reproduce.find_shipped", lambda: {"default": folder})
    return folder


def test_cards_get_the_scores_of_saved_outputs_and_keep_their_text(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = digest(model)
    for _ in range(2):  # the second time it replaces what the first wrote
        assert main(["reproduce", "--out", "report", "--only", "table1", "--cards"]) == 0
        assert f"wrote {model / 'README.md'}" in capsys.readouterr().err
        card = hub.ModelCard.load(model / "README.md")
        assert card.text == "# Ours\n\nText.\n"
        assert card.data.model_name == "riseq-default"
        assert {TEST, UNSEEN} <= {one.dataset_name for one in card.data.eval_results}
    # Saved outputs know their model by its fingerprint, in which its card does not count.
    assert digest(model) == before
    (model / "README.md").write_text("# Theirs\n", encoding="utf-8")
    assert digest(model) == before
    (model / "phrases.txt").write_text("it\n", encoding="utf-8")
    assert digest(model) != before


def test_the_table_of_a_card_gets_the_scores_of_saved_outputs_alone(model: Path) -> None:
    rows = (
        f"| `{TEST}` | the benchmark's way | {{}} |\n"
        f"| `{UNSEEN}` (unseen) | the benchmark's way | {{}} |\n"
        f"| `{UNSEEN}` (unseen) | grounded | 1.0 2.0 |\n"
        f"| `{DEV}`, by the training code | the benchmark's way | 1.0 2.0 |\n"
    )
    board = Scoreboard(Store(Path("benchmarks/predictions")))
    made = replace_scores(board, "rule", rows.format("0.0", "0.0 1.0"), {})
    scores = [board.scores("rule", dataset) for dataset in (TEST, UNSEEN)]
    texts = [" ".join(f"{one.score(m):{score_digits(m)}}" for m in TITLES) for one in scores if one]
    assert made == rows.format(*texts)


def test_rows_by_the_training_code_get_the_scores_of_the_config(model: Path) -> None:
    row = f"| `{DEV}`, by the training code in float32 | {{}} | {{}} |\n"
    ways = ("the benchmark's way", "grounded")
    card = "".join(row.format(way, "1.0 2.0") for way in ways)
    scores = {metric: float(number) for number, metric in enumerate(TITLES, 70)}
    board = Scoreboard(Store(Path("benchmarks/predictions")))
    made = replace_scores(board, "rule", card, {DEV: scores, f"{DEV}+grounded": dict.fromkeys(scores, 7.0)})
    texts = "70.0 71.0 72.0 73.0 74.0 75.000", "7.0 7.0 7.0 7.0 7.0 7.000"
    assert made == "".join(row.format(*pair) for pair in zip(ways, texts, strict=True))


def test_a_model_in_a_package_has_the_packages_card_too(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "large" / "riseq_large" / "large"
    shutil.copytree(model, folder)
    (folder.parent / "__init__.py").touch()
    page = folder.parent.parent / "README.md"
    page.write_text(f"# Large\n\n| `{TEST}` | the benchmark's way | 0.0 |\n", encoding="utf-8")
    board = Scoreboard(Store(Path("benchmarks/predictions")))
    assert refresh_cards(board, {"default": folder}) == [folder / "README.md", page]
    found = board.scores("rise-small", TEST)
    assert found is not None
    row = f"# Large\n\n| `{TEST}` | the benchmark's way | {found.score('bleu1'):.1f} "
    assert page.read_text(encoding="utf-8").startswith(row)


def test_the_committed_cards_have_the_scores_of_the_predictions(data_dir: Path, root: Path) -> None:
    board = Scoreboard(Store(root / PREDICTIONS), load=lambda name: load_dataset(name, root=data_dir))
    for name, system in (("default", "rise-small"), ("large", "rise-large")):
        text = (root / "models" / name / "README.md").read_text(encoding="utf-8")
        assert text.count("| the benchmark's way |") == 5
        config = read_config(find_shipped()[name])
        for dataset in config["scores"]:
            assert f"| `{split_form(dataset)[0]}`, by the training code" in text
        again = "make it again with: riseq reproduce --cards"
        assert replace_scores(board, system, text, config["scores"]) == text, again
        assert f"- {config['parameters'] / 1e6:.0f}M parameters: " in text


def test_cards_are_not_made_from_a_part(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--out", "report", "--cards", "--limit", "2"]) == 2
    assert "--cards goes with the committed predictions and all rows" in capsys.readouterr().err
    assert (model / "README.md").read_text(encoding="utf-8") == "# Ours\n\nText.\n"


def test_the_card_of_fast_has_the_scores_of_its_config_alone(root: Path) -> None:
    folder = root / "models" / "fast"
    scores = json.loads((folder / "config.json").read_text(encoding="utf-8"))["scores"]
    rows = [line.split(" | ") for line in (folder / "README.md").read_text(encoding="utf-8").splitlines()]
    found = [row[2].rstrip(" |") for row in rows if row[0].startswith("| `canard")]
    names = ("bleu1", "bleu2", "bleu3", "bleu4", "rougeL")
    wanted = [[*(f"{one[name]:.1f}" for name in names), f"{one['cider']:.3f}"] for one in scores.values()]
    assert found == [" ".join(row) for row in wanted]
