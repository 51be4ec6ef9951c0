"""``riseq predict`` and ``riseq reproduce`` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.systems.saved import Store
from tiny_report import DEV, ROWS, TEST, UNSEEN, make_store, write_data
from tiny_world import make_rows, write_backbone


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a data root and a store of predictions where the checkout has them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RISEQ_DATA", str(write_data(tmp_path / "data")))
    make_store(tmp_path / "benchmarks" / "predictions", tmp_path / "data")
    return tmp_path


def test_a_report_is_made_from_saved_predictions(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--out", "report", "--compact", "docs"]) == 0
    assert {path.name for path in (place / "report").iterdir()} == {
        "report.html",
        "report.md",
        "report.json",
        "figures",
        "outputs",
    }
    assert (place / "docs" / "report.md").is_file()
    assert capsys.readouterr().err.endswith("riseq: wrote report/report.html\n")


def test_one_section_alone(place: Path) -> None:
    assert main(["reproduce", "--only", "information"]) == 0
    told = json.loads((place / "report" / "report.json").read_text(encoding="utf-8"))
    assert list(told["sections"]) == ["information"]
    assert not (place / "report" / "outputs").exists()


def test_the_command_of_a_number_prints_the_number(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["reproduce", "--only", "table1"])
    told = json.loads((place / "report" / "report.json").read_text(encoding="utf-8"))
    rows = told["sections"]["table1"]["tables"][0]["rows"]
    cell = next(row for row in rows if row["label"] == "Rise-Small")["cells"][3]
    capsys.readouterr()
    assert main([*cell["command"].split()[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bleu4"] == pytest.approx(cell["value"])


def test_speed_is_measured_before_the_report(place: Path) -> None:
    assert main(["reproduce", "--speed", "--system", "origin", "--only", "speed"]) == 0
    told = json.loads((place / "benchmarks" / "predictions" / "speed.json").read_text(encoding="utf-8"))
    assert list(told["systems"]) == ["origin"]
    assert "| Origin | not run" not in (place / "report" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "table9"], "no section is called 'table9'"),
        (["--predictions", "nowhere"], "nowhere: has no saved predictions"),
        (["--system", "gpt9"], "no system of the report is called 'gpt9'"),
        (["--set", "epochs=1"], "go with --retrain"),
    ],
)
def test_a_mistake_is_one_line(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["reproduce", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert not (place / "report" / "report.html").exists()


def test_a_missing_extra_is_named(place: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from riseq.cli import main\n"
        "sys.exit(main(['reproduce', '--only', 'information']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "pip install '.[report]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_predict_writes_into_the_store_and_a_second_call_does_nothing(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["predict", "--system", "origin", "--into", "store/plain", "--data", DEV, "--data", UNSEEN]
    assert main([*command, "--title", "Plain", "--trained-on", "nothing", "--hours", "0"]) == 0
    manifest = Store(place / "store").read_manifest("plain")
    assert manifest is not None
    assert manifest.title == "Plain"
    assert manifest.sets[DEV].command == "riseq predict --system origin --into store/plain"
    capsys.readouterr()
    assert main(command) == 0
    assert capsys.readouterr().err == "riseq: wrote the outputs of plain on no set to store/plain; 2 were there\n"


def test_predict_takes_outputs_that_are_there(place: Path) -> None:
    rows = [{"id": f"{DEV}-{k}", "passes": ["Why?"]} for k in range(len(ROWS))]
    (place / "canard.dev.qonly.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["predict", "--system", "origin", "--take", ".", "--into", "store/why", "--made-by", "a wise man"]
    assert main(command) == 0
    manifest = Store(place / "store").read_manifest("why")
    assert manifest is not None
    assert manifest.sets[DEV].command == "a wise man"
    assert TEST not in manifest.sets


RECIPE = """
backbone: {backbone}
train: [canard/test.qonly]
dev: [canard/dev.qonly]
min_count: 1
decoder_layers: 1
epochs: 3
batch: 4
device: cpu
workers: 1
"""


def test_everything_is_made_from_a_recipe_once(place: Path) -> None:
    """Really trained, run and reported, by the processes a user would start; the second time nothing is trained."""
    backbone = write_backbone(place / "bert", "bert", make_rows())
    (place / "recipes").mkdir()
    (place / "recipes" / "default.yaml").write_text(RECIPE.format(backbone=backbone), encoding="utf-8")
    command = ["reproduce", "--retrain", "--system", "rise-small", "--set", "epochs=1", "--out", "again"]
    command += ["--only", "table1", "--limit", "5"]
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    whole = [sys.executable, "-m", "riseq", *command]
    done = subprocess.run(
        whole, capture_output=True, text=True, timeout=240, check=False, env={**os.environ, **threads}
    )
    assert done.returncode == 0, done.stderr
    told = json.loads((place / "again" / "report.json").read_text(encoding="utf-8"))
    facts = told["systems"]["rise-small"]
    assert facts["training"]["hours"] > 0
    assert "--set epochs=1" in facts["training"]["command"]
    assert facts["parameters"] > 1000
    assert facts["sets"][TEST]["rows"] == 5
    assert facts["note"].startswith("trained by its recipe alone")
    steps = (place / "again" / "steps.jsonl").read_text(encoding="utf-8")
    assert main(command) == 0
    assert (place / "again" / "steps.jsonl").read_text(encoding="utf-8") == steps
