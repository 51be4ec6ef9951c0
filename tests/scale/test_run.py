"""Runs on a cluster: folders in and out, what resuming does and refuses, and what the manifest tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import pytest

from riseq.cli import main
from riseq.cli.simplify import Handling, simplify_file, simplify_folder
from riseq.controls import Controls
from riseq.data.tables import write_rows
from riseq.extras import INSTALL
from riseq.scale import Spread
from riseq.scale.run import MANIFEST, describe_worker, open_run
from riseq.scale.workers import MAX_DEATHS, load_same
from riseq.systems import Origin, System
from riseq.systems.registry import SystemChoice
from riseq.types import Example, InputError, Simplification
from tiny_model import export_tiny, make_examples

pytestmark = pytest.mark.xdist_group("ray")  # one cluster, in one of the processes that test

pq = pytest.importorskip("pyarrow.parquet")
ORIGIN = SystemChoice("origin")
SMALL = Spread(workers=2, block_rows=20)


@pytest.fixture(scope="module")
def connected(cluster: str) -> Iterator[None]:
    """This process is on the cluster, and stays so from run to run."""
    import ray

    ray.init(address=cluster, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def write_folder(folder: Path, count: int = 50) -> Path:
    """Write the same questions in three formats, and a row that is none."""
    folder.mkdir()
    rows = [{"id": one.id, "context": list(one.context), "question": one.question} for one in make_examples(count)]
    for name in ("a.jsonl.gz", "b.parquet", "sub.csv"):
        write_rows(folder / name, rows)
    (folder / "bad.jsonl").write_text('{"context": [], "question": ""}\n')
    return folder


def read_state(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}


def test_a_folder_becomes_a_folder_and_resuming_does_what_is_missing(
    connected: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write_folder(tmp_path / "in")
    out = source / "out"  # below the input, of which it is no part
    assert simplify_folder(str(source), str(out), ORIGIN, Handling(), SMALL) == 3
    rows = []
    for name in ("a.jsonl.gz", "b.parquet", "sub.csv"):
        whole = tmp_path / f"{name}.parquet"
        simplify_file(str(source / name), whole, ORIGIN, Handling())
        rows += pq.read_table(whole).to_pylist()
    # Whoever reads the folder as one table gets the results alone.
    assert pq.read_table(out).sort_by("id").to_pylist() == sorted(rows, key=lambda row: str(row["id"]))
    manifest = json.loads((out / MANIFEST).read_text())
    counts = {name: manifest[name] for name in ("state", "rows", "written", "bad", "failed")}
    assert counts == {"state": "finished", "rows": 151, "written": 150, "bad": 1, "failed": 0}
    assert manifest["settings"]["system"] == "origin"
    assert [file["rows"] for file in manifest["files"]] == [50, 50, 1, 50]
    (told,) = [json.loads(path.read_text()) for path in (out / "_bad").iterdir()]
    assert (told["row"], told["line"], told["file"]) == (1, 1, str(source / "bad.jsonl"))

    before = read_state(out)
    gone = sorted(before)[3]
    (out / gone).unlink()
    capsys.readouterr()
    assert simplify_folder(str(source), str(out), ORIGIN, Handling(skip=True), Spread(workers=1), resume=True) == 0
    assert "continuing after 131 finished rows" in capsys.readouterr().err
    after = read_state(out)
    assert {name for name in after if before[name] != after[name]} == {gone}
    manifest = json.loads((out / MANIFEST).read_text())
    assert [run["rows"] for run in manifest["runs"]] == [151, 20]
    assert manifest["written"] == 150

    for choice, spread, told_of in (
        (ORIGIN, Spread(block_rows=21), r"another block-rows \(20, now 21\)"),
        (ORIGIN, Spread(format="jsonl"), r"another format \(parquet, now jsonl\)"),
        (SystemChoice("rule"), Spread(), r"another system \(origin, now rule\)"),
    ):
        with pytest.raises(InputError, match=told_of):
            simplify_folder(str(source), str(out), choice, Handling(), spread, resume=True)
    (source / "sub.csv").write_text("context,question\n,Why?\n")
    with pytest.raises(InputError, match="another input"):
        simplify_folder(str(source), str(out), ORIGIN, Handling(), Spread(), resume=True)
    with pytest.raises(InputError, match=r"has the output of a run \(finished\); --resume does what is missing"):
        simplify_folder(str(source), str(out), ORIGIN, Handling(), Spread())
    assert read_state(out) == after


def test_what_cannot_be_done_is_told_in_one_line(connected: None, tmp_path: Path) -> None:
    source, out = write_folder(tmp_path / "in", 3), tmp_path / "out"
    cut_off = tmp_path / "cut.jsonl.gz"
    cut_off.write_bytes((source / "a.jsonl.gz").read_bytes()[:-9])
    with pytest.raises(InputError, match=r"^.*cut.jsonl.gz:\d+: the gzip data is cut off here, expected a whole file$"):
        simplify_folder(str(cut_off), str(out), ORIGIN, Handling(), SMALL)
    assert not out.exists()
    # Only the workers load an engine; what they say of it is told here.
    with pytest.raises(InputError, match=r"^--strength goes with the system 'rise', not with 'origin'$"):
        simplify_folder(
            str(source), str(out), SystemChoice("origin", controls=Controls(strength=0.3)), Handling(), SMALL
        )
    assert json.loads((out / MANIFEST).read_text())["state"] == "stopped"


def test_an_interrupt_keeps_what_is_finished(cluster: str, tmp_path: Path) -> None:
    source, out = write_folder(tmp_path / "in", 3_000), tmp_path / "out"
    arguments = [str(source), str(out), "--engine", "ray", "--address", cluster, "--block-rows", "5", "-s", "origin"]
    command = [str(Path(sys.executable).parent / "riseq"), "simplify", *arguments]

    def hear_interrupts() -> None:  # a shell's background job is started deaf to them, and its children with it
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts)
    while process.poll() is None and len(read_state(out)) < 3:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert f"finished blocks are kept in {out}; the same command with --resume continues" in told
    assert json.loads((out / MANIFEST).read_text())["state"] == "stopped"
    assert 3 <= len(read_state(out)) < 1_801


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["in.jsonl", "out", "--engine", "ray", "--workers", "0"], "--workers: got 0, expected 1 or more"),
        (["in.jsonl", "out", "--engine", "ray", "--gpus", "1.5"], "--gpus: got 1.5, expected a share of one GPU"),
        (["in.jsonl", "out", "--engine", "ray", "--format", "csv"], "--format: got 'csv', expected parquet or jsonl"),
        (["in.jsonl", "out", "--engine", "ray", "--strict"], "--strict goes with one process"),
        (["in.jsonl", "--engine", "ray"], "--engine ray takes a file, a folder or a pattern, and a folder"),
        (["-", "out", "--engine", "ray"], "--engine ray takes a file, a folder or a pattern, and a folder"),
        (["none.jsonl", "out", "--engine", "ray"], "none.jsonl: no such file or folder"),
        (["in.jsonl", "full", "--engine", "ray"], "full: has files (x.txt and others) but no _riseq.json"),
        (["in.jsonl", ".", "--engine", "ray"], "in.jsonl: has nothing but what is in ., which is for the results"),
        (["in.jsonl", "full/x.txt", "--engine", "ray"], "full/x.txt: is a file, expected a folder"),
        (
            ["in.jsonl", "out", "--engine", "ray", "--address", "here"],
            "--address: got 'here', expected HOST:PORT or auto",
        ),
        (
            ["in.jsonl", "out", "--engine", "ray", "--address", "127.0.0.1:1"],
            "127.0.0.1:1: no Ray cluster answers there",
        ),
        (["in.jsonl", "out.jsonl", "--workers", "0"], "--workers: got 0, expected 1 or more"),
        (["Why?", "--workers", "2"], "--workers goes with a file of questions"),
        (["in.jsonl", "out.jsonl", "--block-rows", "2"], "--block-rows goes with --engine ray"),
        (["in.jsonl", "out", "--engine", "spark"], "'spark' is not one of 'local', 'ray'"),
    ],
)
def test_mistakes_are_told_before_a_cluster_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install '.[scale]'")
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text('{"context": [], "question": "Why?"}\n')
    Path("full").mkdir()
    Path("full/x.txt").touch()
    assert main(["simplify", *arguments, "-s", "origin"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not Path("out").exists()


def test_without_ray_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    (tmp_path / "in.jsonl").write_text('{"context": [], "question": "Why?"}\n')
    assert main(["simplify", str(tmp_path / "in.jsonl"), str(tmp_path / "out"), "--engine", "ray"]) == 2
    told = capsys.readouterr().err
    assert told == f"riseq: --engine ray needs the package 'ray'; install it with: {INSTALL.format(extra='scale')}\n"


def test_a_worker_with_another_model_is_turned_away() -> None:
    settings = SystemChoice("origin").settings()
    assert load_same(ORIGIN, settings).name == "origin"
    with pytest.raises(InputError, match=r"has another riseq version \(.*\); expected 9\.9, as where the run was"):
        load_same(ORIGIN, {**settings, "riseq version": "9.9"})


def test_a_worker_has_a_gpu(connected: None, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = export_tiny(tmp_path_factory.getbasetemp(), "bert", "float32")[1]
    rows = [{"id": one.id, "context": list(one.context), "question": one.question} for one in make_examples(30)]
    write_rows(tmp_path / "in.jsonl", rows)
    choice = SystemChoice("rise", model)
    spread = Spread(gpus=1, block_rows=10)
    assert simplify_folder(str(tmp_path / "in.jsonl"), str(tmp_path / "out"), choice, Handling(), spread) == 0
    (run,) = json.loads((tmp_path / "out" / MANIFEST).read_text())["runs"]
    assert (run["workers"], run["gpus"]) == (1, 1)
    simplify_file(str(tmp_path / "in.jsonl"), tmp_path / "alone.parquet", choice, Handling())
    texts = pq.read_table(tmp_path / "out").sort_by("id")["text"]
    assert texts == pq.read_table(tmp_path / "alone.parquet").sort_by("id")["text"]


def test_a_worker_too_large_for_this_machine_is_told_and_on_a_cluster_waited_for(
    connected: None, cluster: str, tmp_path: Path
) -> None:
    write_rows(tmp_path / "in.jsonl", [{"context": [], "question": "Why?"}])
    source, out = str(tmp_path / "in.jsonl"), str(tmp_path / "out")
    with pytest.raises(InputError, match="this machine has no room for a worker with 3 cores; ask for less"):
        simplify_folder(source, out, SystemChoice("origin", threads=3), Handling(), Spread())
    assert not (tmp_path / "out").exists()
    # A cluster may grow: the run is opened, and waits.
    make = partial(load_same, ORIGIN, {})
    assert describe_worker(1, 2) == "1 core and 2 GPUs"
    with open_run(source, out, make, {}, Spread(address=cluster, gpus=2)) as run:
        assert not run.has_room
        assert run.manifest.runs[-1]["workers"] == 1
    with open_run(source, f"{out}2", make, {}, Spread(address=cluster), threads=2) as run:
        assert run.has_room


def test_a_block_that_kills_its_workers_is_given_up_and_the_others_are_done(
    connected: None, cluster: str, tmp_path: Path
) -> None:
    questions = ["Why?", "Die?", "Who?", "When?"]
    write_rows(tmp_path / "in.jsonl", [{"context": [], "question": one} for one in questions])

    def make_deadly() -> System:
        class Deadly(Origin):
            def simplify(self, examples: Iterable[Example]) -> Iterator[Simplification]:
                held = list(examples)
                if any(example.question == "Die?" for example in held):
                    os.kill(os.getpid(), signal.SIGKILL)
                return super().simplify(held)

        return Deadly()

    source, out = str(tmp_path / "in.jsonl"), str(tmp_path / "out")
    with open_run(source, out, make_deadly, {}, Spread(address=cluster, workers=1, block_rows=1)) as run:
        assert [result.block.first for result in run.results()] == [0, 2, 3]
        manifest = run.finish()
    assert (manifest.state, manifest.written, manifest.failed) == ("incomplete", 3, 1)
    assert [one["reason"] for one in manifest.failures] == [f"{MAX_DEATHS} workers died over it"]


def test_engines_that_never_load_end_the_run_with_the_reason(connected: None, cluster: str, tmp_path: Path) -> None:
    write_rows(tmp_path / "in.jsonl", [{"context": [], "question": "Why?"}] * 3)

    def fail() -> System:
        raise RuntimeError("no such device")

    source, out = str(tmp_path / "in.jsonl"), str(tmp_path / "out")
    with (
        pytest.raises(InputError, match=r"^no worker starts: RuntimeError: no such device$"),
        open_run(source, out, fail, {}, Spread(address=cluster, workers=2, block_rows=1)) as run,
    ):
        list(run.results())
    assert json.loads((tmp_path / "out" / MANIFEST).read_text())["state"] == "stopped"
