"""Nothing is overwritten, nothing is left at home, and what goes wrong is one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import riseq
from riseq.cli import main
from riseq.hub import find_default_model

QUESTION = ("simplify", "When was Alien released?", "-c", "Who directed Alien?")
ROW = '{"context": ["Who directed Alien?"], "question": "When was Alien released?", "target": "When?"}\n'


def run(*arguments: str, stdout: int = subprocess.PIPE, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "riseq", *arguments]
    folders = ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR") if home else ()
    settings = {**os.environ, **dict.fromkeys(folders, str(home))}
    settings.pop("ORT_DISABLE_TELEMETRY", None)  # an engine in this process has set it
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=settings, timeout=60, check=False
    )


@pytest.mark.parametrize("name", ["f.jsonl", "../here/f.jsonl", "link.jsonl", "hard.jsonl"])
def test_the_input_is_never_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Path("f.jsonl").write_text(ROW, encoding="utf-8")
    Path("link.jsonl").symlink_to("f.jsonl")
    Path("hard.jsonl").hardlink_to("f.jsonl")
    told = f"riseq: {name}: is the input itself, expected another file for the results\n"
    for arguments in (["simplify", "f.jsonl", name], ["evaluate", "--data", "f.jsonl", "--predictions", name]):
        assert main([*arguments, "--system", "origin"]) == 2
        assert capsys.readouterr().err == told
    assert Path("f.jsonl").read_text(encoding="utf-8") == ROW


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("what", ["question", "file", "version"])
def test_a_full_disk_is_one_line(tmp_path: Path, what: str) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text(ROW, encoding="utf-8")
    asked = {"question": ["simplify", "Why?", "-s", "origin"], "file": ["simplify", str(file), "-s", "origin"]}
    with open("/dev/full", "w") as full:
        done = run(*asked.get(what, ["--version"]), stdout=full.fileno())
    assert (done.returncode, done.stderr) == (2, "riseq: the output cannot be written: No space left on device\n")


def test_a_device_is_no_output_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "f.jsonl", tmp_path / "out.jsonl"
    file.write_text(ROW, encoding="utf-8")
    out.symlink_to(os.devnull)
    assert main(["simplify", str(file), str(out), "-s", "origin"]) == 2
    assert capsys.readouterr().err == f"riseq: {out}: is not a regular file, expected one that may be replaced\n"


def test_a_closed_pipe_ends_with_1_and_no_message(tmp_path: Path) -> None:
    file = tmp_path / "f.jsonl"
    file.write_text(ROW, encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run("simplify", str(file), "-s", "origin", stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_an_interrupt_while_it_starts_is_one_line() -> None:
    program = """
import runpy, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
sys.argv = ["riseq", "--version"]
runpy.run_module("riseq", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "riseq: interrupted\n")


@pytest.mark.skipif(find_default_model() is None, reason="no model ships with this checkout")
def test_nothing_is_written_at_home(tmp_path: Path) -> None:
    """onnxruntime would leave an id and a database of its telemetry there."""
    done = run(*QUESTION, home=tmp_path)
    assert (done.returncode, done.stdout) == (0, "When was it released?\n")
    assert list(tmp_path.iterdir()) == []


def test_telemetry_is_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    from riseq.extras import import_onnxruntime

    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")
    assert import_onnxruntime().__name__ == "onnxruntime"
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "0"
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY")
    import_onnxruntime()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["simplify", "q", "--strength", "abc"], "--strength: expected a number; see riseq simplify --help"),
        (["simplify", "q", "--n-best", "x"], "--n-best: expected a whole number; see riseq simplify --help"),
        (["bench", "--threads", "x"], "--threads: expected a whole number; see riseq bench --help"),
        (["simplify", "q", "--system", "rize"], "no system is called 'rize'; did you mean 'rise'?"),
        (
            ["reproduce", "--system", "rise-smal"],
            "no system of the report is called 'rise-smal'; did you mean 'rise-small'?",
        ),
    ],
)
def test_a_mistake_is_told_in_riseqs_words(capsys: pytest.CaptureFixture[str], arguments: list[str], told: str) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err == f"riseq: {told}\n"


def test_the_help_shows_the_extras_brackets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["simplify", "--help"]) == 0
    assert "pip install '.[scale]' in a checkout of riseq" in capsys.readouterr().out


def test_the_version_tells_the_licences(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"riseq {riseq.__version__}\n"
    assert main(["--version", "--verbose"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        f"riseq {riseq.__version__}",
        "code: Apache-2.0",
        "models: CC-BY-SA-4.0",
    ]
