"""The script that trains every system on equal terms, on a made-up language."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

from riseq.systems.saved import file_stem, read_outputs
from riseq.train.settings import parse_override, read_recipe
from tiny_world import make_rows, write_rows, write_world

SETS = ("canard/dev.qonly", "canard/test.qonly", "canard/test.qa", "cast19/test.qonly")
VARIANTS = ("copies=0", "joint=false", "samples=8", "risk=baseline", "risk_passes=2", "risk_passes=2,risk=baseline")
"""The settings of RISE that have a row of one seed on equal terms."""
CHANGES = ("epochs=4", "scored_from=4", "decoder_layers=1", "batch=8", "device=cpu", "limit=8")


def run_script(root: Path, world: Path, out: Path, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, (str(root / "src"), os.environ.get("PYTHONPATH"))))
    names = {"PYTHON": sys.executable, "RISEQ_DATA": str(world), "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    given = [part for change in (f"backbone={world / 'bert'}", *CHANGES) for part in ("--set", change)]
    return subprocess.run(
        [root / "benchmarks" / "train_terms.sh", out, *given, *flags],
        env={**os.environ, **names, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A root of data sets, of which one has a question without a dialogue, beside a tiny encoder."""
    folder = tmp_path / "world"
    folder.mkdir()
    write_world(folder)
    rows = make_rows()[:8]
    for name in ("canard/train.qonly", *SETS):
        (folder / name).parent.mkdir(exist_ok=True)
        first = [{**rows[0], "id": "first", "context": []}] if name == "cast19/test.qonly" else []
        write_rows(folder / f"{name}.jsonl", [*first, *rows])
    return folder


@pytest.mark.parametrize("system", ["qgdiv", "querysim"])
def test_a_run_that_fails_is_told_and_the_exit_code_says_so(
    root: Path, world: Path, tmp_path: Path, system: str
) -> None:
    out = tmp_path / "runs"
    broken = run_script(root, world, out, "--set", "joint=true", SYSTEMS=system, SEEDS="1")
    assert broken.returncode == 1
    assert f"== {system} failed" in broken.stdout
    assert "no setting is called 'joint'" in broken.stdout


def test_a_variant_has_its_own_name_and_settings(root: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    systems = " ".join(f"ablation-rise:{change}" for change in (*VARIANTS, "copies=0,joint=false"))
    done = run_script(root, tmp_path, out, PYTHON="echo", SYSTEMS=systems, SEEDS="2")  # what would be run is printed
    assert done.returncode == 0, done.stdout + done.stderr
    for change in VARIANTS:
        log = (out / f"ablation-rise.{change}-2" / "train.log").read_text(encoding="utf-8")
        assert "recipes/ablation-rise.yaml --out" in log
        assert log.splitlines()[0].endswith(f"--set limit=8 --set {change.replace(',', ' --set ')}")
        changes = dict(parse_override(one) for one in change.split(","))
        assert read_recipe(root / "recipes" / "ablation-rise.yaml", changes).epochs == 13
    both = (out / "ablation-rise.copies=0,joint=false-2" / "train.log").read_text(encoding="utf-8")
    assert "--set copies=0 --set joint=false\n" in both


def test_the_script_and_the_page_name_the_rows_that_are_missing(root: Path) -> None:
    for page in ("benchmarks/train_terms.sh", "docs/experiments.md"):
        text = (root / page).read_text(encoding="utf-8").replace("\\\n#     ", "")
        assert " ".join(f"ablation-rise:{change}" for change in VARIANTS) in text


@pytest.mark.skipif("RISEQ_SLOW" not in os.environ, reason="a minute of training; RISEQ_SLOW=1 runs it")
def test_each_is_trained_and_scored_once(root: Path, world: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    chosen = {"SYSTEMS": "ablation-rise qgdiv", "SEEDS": "1"}
    done = run_script(root, world, out, **chosen)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "== ablation-rise-1\n" in done.stdout
    made = out / "ablation-rise-1" / "pred" / "scores.jsonl"
    before = made.stat().st_mtime_ns
    assert run_script(root, world, out, **chosen).returncode == 0
    assert made.stat().st_mtime_ns == before
    for name, passes in (("ablation-rise-1", 5), ("qgdiv", 1)):
        folder = out / name
        scores = [json.loads(line) for line in (folder / "pred" / "scores.jsonl").read_text().splitlines()]
        assert {one["data"] for one in scores} == set(SETS)
        forms = {one["data"]: {two["first_turns"] for two in scores if two["data"] == one["data"]} for one in scores}
        assert forms == {one: {"kept", "asked"} if one == "cast19/test.qonly" else {"kept"} for one in SETS}
        for dataset in SETS:
            outputs = read_outputs(folder / "pred" / f"{file_stem(dataset)}.jsonl")
            assert len(outputs) == 8 + (dataset == "cast19/test.qonly")
            assert all(len(texts) <= passes for texts in outputs.values())
        config = json.loads((folder / "best" / "config.json").read_text())
        assert (config["settings"]["seed"], config["settings"]["scored_from"]) == (1, 4)
