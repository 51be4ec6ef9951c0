"""Models by name, with the real huggingface_hub: from its cache, from a hub on this machine, and from none."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from riseq.engine.simplifier import Simplifier
from riseq.hub import find_model, find_pretrained
from riseq.types import InputError
from tiny_model import export_tiny

pytest.importorskip("huggingface_hub")

NAME = "someone/tiny-riseq"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NOWHERE = "http://127.0.0.1:9"
"""A port of this machine that nobody listens at."""
PROGRAM = """
import sys
from riseq import Simplifier
from riseq.types import InputError
try:
    print(Simplifier.load(sys.argv[1], threads=1)("Where was Ira Hayes born?", ["Who was Ira Hayes?"]).text)
except InputError as error:
    sys.exit(f"told: {error}")
assert "torch" not in sys.modules
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


def lay_out(home: Path, model: Path) -> Path:
    """Put ``model`` into the cache under ``home`` as huggingface_hub keeps it."""
    folder = home / "hub" / f"models--{NAME.replace('/', '--')}"
    snapshot = folder / "snapshots" / COMMIT
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text(COMMIT)
    shutil.copytree(model, snapshot)
    return snapshot


def load(name: str, home: Path, endpoint: str = NOWHERE, **settings: str) -> subprocess.CompletedProcess[str]:
    """Load the model in a process of its own: huggingface_hub reads its settings when it is imported."""
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"), "")
    hub = {
        "HF_HOME": str(home),
        "HF_ENDPOINT": endpoint,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    environment = {**os.environ, **proxies, "HF_HUB_OFFLINE": "0", "NO_PROXY": "*", **hub, **settings}
    environment.pop("HF_HUB_CACHE", None)
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, name], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@contextmanager
def serve(model: Path) -> Iterator[tuple[str, list[str]]]:
    """Be a hub that has ``model``; yield its address and what it was asked for."""
    files = {path.name: path.read_bytes() for path in model.iterdir()}
    asked: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            asked.append(path)
            if path.startswith(f"/api/models/{NAME}/tree/"):
                tree = [
                    {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                    for name, data in files.items()
                ]
                self.answer(json.dumps(tree).encode())
            elif path in (f"/api/models/{NAME}", f"/api/models/{NAME}/revision/main"):
                siblings = [{"rfilename": name} for name in files]
                self.answer(json.dumps({"id": NAME, "sha": COMMIT, "siblings": siblings}).encode())
            elif path.startswith(f"/{NAME}/resolve/") and path.rpartition("/")[2] in files:
                self.answer(files[path.rpartition("/")[2]])
            else:
                self.send_response(404)
                self.send_header("X-Error-Code", "RepoNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()

        do_HEAD = do_GET

        def answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


def test_a_model_is_fetched_once_and_then_had_without_a_network(model: Path, tmp_path: Path) -> None:
    expected = Simplifier.load(model, threads=1)("Where was Ira Hayes born?", ["Who was Ira Hayes?"]).text
    with serve(model) as (address, asked):
        fetched = load(NAME, tmp_path, address)
    assert (fetched.returncode, fetched.stdout) == (0, f"{expected}\n"), fetched.stderr
    assert f"/{NAME}/resolve/{COMMIT}/encoder.onnx" in asked
    kept = load(NAME, tmp_path)
    assert (kept.returncode, kept.stdout) == (0, f"{expected}\n"), kept.stderr


def test_a_copy_in_the_cache_works_offline(model: Path, tmp_path: Path) -> None:
    lay_out(tmp_path, model)
    for name in (NAME, f"{NAME}@{COMMIT}"):
        done = load(name, tmp_path, HF_HUB_OFFLINE="1")
        assert done.returncode == 0, done.stderr


def test_a_damaged_copy_is_told_with_its_place(model: Path, tmp_path: Path) -> None:
    snapshot = lay_out(tmp_path, model)
    (snapshot / "encoder.onnx").write_bytes(b"nothing")
    done = load(NAME, tmp_path, HF_HUB_OFFLINE="1")
    assert done.returncode == 1
    assert f"{snapshot / 'encoder.onnx'}: damaged" in done.stderr


@pytest.mark.parametrize("settings", [{}, {"HF_HUB_OFFLINE": "1"}], ids=["no network", "offline"])
def test_without_network_and_copy_it_is_one_line(tmp_path: Path, settings: dict[str, str]) -> None:
    done = load(NAME, tmp_path, **settings)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("told: ")]
    assert line.startswith(f"told: {NAME}: no such folder, and not to be had from the Hugging Face hub: ")


def test_a_name_the_hub_does_not_know_is_one_line(model: Path, tmp_path: Path) -> None:
    with serve(model) as (address, _):
        done = load("someone/else", tmp_path, address)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("told: someone/else: no such folder, and not to be had from")


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"someone/tiny-riseq: no such folder; .* pip install '\.\[hub\]'"):
        find_model(NAME)


def test_a_folder_comes_before_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(NAME).mkdir(parents=True)
    assert find_model(NAME) == Path(NAME)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "nowhere",
            "nowhere: no such folder, expected the folder of a riseq model, 'default', 'fast', 'large', 'resolve', or",
        ),
        ("./a/b", "a/b: no such folder"),
        ("/a/b", "/a/b: no such folder, expected"),
        ("../a", "../a: no such folder, expected"),
        ("a/b/c", "a/b/c: no such folder, expected"),
        ("a b/c", "a b/c: no such folder, expected"),
        ("", "is a folder|no config.json"),
        ("a\0b", r"'a\\x00b': no such folder"),
        ("x" * 10_000, "no such folder"),
        (7, "the model is a int"),
    ],
)
def test_what_is_neither_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=told):
        Simplifier.load(name)


def test_a_name_in_a_folder_that_is_here_is_never_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(*arguments: object, **named: object) -> str:
        raise AssertionError("asked the hub")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    for name in ("runs/small", "weights/gte"):
        with pytest.raises(InputError, match=f"{name}: no such folder; a path like this is not looked for"):
            find_model(name)


def test_a_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").touch()
    with pytest.raises(InputError, match=r"model.onnx: is a file, expected the folder"):
        find_model(tmp_path / "model.onnx")


@pytest.mark.parametrize(
    "name", ["weights/x", "./x", "/x", "a/b/c", "here/x", "../x/y", "./x/y", "runs/7/", "models/default"]
)
@pytest.mark.parametrize("find", [find_model, find_pretrained])
def test_what_looks_like_a_path_is_never_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, find: Callable[[str], Path], name: str
) -> None:
    def download(*_: object, **__: object) -> str:
        raise AssertionError("asked the hub")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(InputError, match="no such folder") as caught:
        find(name)
    assert str(caught.value).startswith(f"{name}: no such folder")
    assert "\n" not in str(caught.value)


def test_a_pretrained_network_may_have_a_name_without_an_owner_and_a_model_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str | None]] = []

    def download(repo: str, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((repo, revision))
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        with pytest.raises(InputError, match=f"no {name}; expected a folder with config, tokenizer and safetensors"):
            find_pretrained("bert-base-uncased")
        (tmp_path / name).touch()
    assert find_pretrained("owner/name@main") == tmp_path
    assert asked == [("bert-base-uncased", None)] * 3 + [("owner/name", "main")]
    with pytest.raises(InputError, match="no such folder, expected the folder of a riseq model"):
        find_model("bert-base-uncased")
