"""Models saved, pushed to the Hugging Face hub and loaded again, by the names its users know; no network is needed."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from riseq import Simplifier
from riseq.model.folder import LAYOUT
from riseq.types import InputError
from tiny_model import export_tiny

hub = pytest.importorskip("huggingface_hub")

NAME = "someone/tiny-riseq"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
QUESTION, CONTEXT = "Where was Ira Hayes born?", ["Who was Ira Hayes?"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")


@pytest.fixture
def model(folders: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(folders[1], tmp_path / "source"))


class FakeHub:
    """The part of the hub's API that takes and gives a model, with what it was sent."""

    def __init__(self) -> None:
        self.created: dict[str, Any] = {}
        self.files: dict[str, bytes] = {}
        self.commits: list[str] = []
        self.tokens: set[str | None] = set()
        self.refusal: int | None = None
        self.checked = ""
        """The card that it was asked to check."""

    def answer(self, path: str, body: bytes) -> tuple[int, bytes]:
        if self.refusal is not None:
            return self.refusal, b'{"error": "not with this token"}'
        if path == "/api/repos/create":
            self.created = json.loads(body)
            return 200, json.dumps({"url": f"https://huggingface.co/{NAME}", "name": NAME}).encode()
        if path == "/api/validate-yaml":
            self.checked = json.loads(body)["content"]
            return 200, b'{"errors": [], "warnings": []}'
        if path == f"/api/models/{NAME}/preupload/main":
            files = [
                {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                for one in json.loads(body)["files"]
            ]
            return 200, json.dumps({"files": files}).encode()
        if path == f"/api/models/{NAME}/commit/main":
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "header":
                    self.commits.append(line["value"]["summary"])
                else:
                    self.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            where = {
                "commitUrl": f"https://huggingface.co/{NAME}/commit/{COMMIT}",
                "commitOid": COMMIT,
                "success": True,
            }
            return 200, json.dumps(where).encode()
        if path in (f"/api/models/{NAME}", f"/api/models/{NAME}/revision/main"):
            siblings = [{"rfilename": name} for name in self.files]
            return 200, json.dumps({"id": NAME, "sha": COMMIT, "siblings": siblings}).encode()
        if path.startswith(f"/api/models/{NAME}/tree/"):
            tree = [
                {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for name, data in self.files.items()
            ]
            return 200, json.dumps(tree).encode()
        name = path.rpartition("/")[2]
        if path.startswith(f"/{NAME}/resolve/") and name in self.files:
            return 200, self.files[name]
        return 404, b'{"error": "not found"}'


@contextmanager
def serve(fake: FakeHub) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fake.tokens.add(self.headers.get("Authorization"))
            path = unquote(urlsplit(self.path).path)
            status, body = fake.answer(path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha1(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_POST

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub of this machine, in the place of the real one."""
    made = FakeHub()
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serve(made) as address:
        api, download = hub.HfApi, hub.snapshot_download
        cache = tmp_path / "cache"
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        monkeypatch.setattr("huggingface_hub.HfApi", lambda **options: api(endpoint=address, **options))
        monkeypatch.setattr(
            "huggingface_hub.snapshot_download",
            lambda *names, **options: download(*names, endpoint=address, cache_dir=cache, **options),
        )
        yield made


def test_a_model_is_saved_without_a_reader_of_yaml(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The base install has none."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    folder = Simplifier.from_pretrained(model, threads=1).save_pretrained(tmp_path / "first")
    again = Simplifier.from_pretrained(folder, threads=1).save_pretrained(tmp_path / "second")
    assert (again / LAYOUT.card).read_text("utf-8") == (folder / LAYOUT.card).read_text("utf-8")
    assert (again / LAYOUT.card).read_text("utf-8").count("widget:") == 1


def test_a_model_is_saved_whole_and_loaded_again(model: Path, tmp_path: Path) -> None:
    first = Simplifier.from_pretrained(model, threads=1)
    folder = first.save_pretrained(tmp_path / "deep" / "copy")
    assert {path.name for path in folder.iterdir()} == {path.name for path in model.iterdir()} | {LAYOUT.card}
    again = Simplifier.from_pretrained(str(folder), threads=1)
    assert again(QUESTION, CONTEXT) == first(QUESTION, CONTEXT)
    card = hub.ModelCard.load(folder / LAYOUT.card)
    assert (card.data.library_name, card.data.pipeline_tag) == ("riseq", "text-generation")
    assert card.data.widget[0]["output"]["text"] == first("When was Alien released?", ["Who directed Alien?"]).text
    # Metadata that are there, by hand for example, stay; the folder of a model may be replaced, or be the model's own.
    (folder / LAYOUT.card).write_text("---\nlicense: mit\n---\n# Mine\n", encoding="utf-8")
    for target in (tmp_path / "third", tmp_path / "third", folder):
        saved = Simplifier.from_pretrained(folder, threads=1).save_pretrained(target)
        assert (saved / LAYOUT.card).read_text(encoding="utf-8") == "---\nlicense: mit\n---\n# Mine\n"


def test_a_checkpoint_is_saved_too(folders: tuple[Path, Path], tmp_path: Path) -> None:
    first = Simplifier.from_pretrained(folders[0])
    folder = first.save_pretrained(tmp_path / "copy")
    assert (folder / LAYOUT.weights).is_file()
    assert Simplifier.from_pretrained(folder)(QUESTION, CONTEXT) == first(QUESTION, CONTEXT)


def test_what_is_no_place_for_a_model_is_left_alone(model: Path, tmp_path: Path) -> None:
    simplifier = Simplifier.from_pretrained(model, threads=1)
    (tmp_path / "file").write_text("text", encoding="utf-8")
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    shutil.copyfile(model / LAYOUT.config, tmp_path / "clone" / LAYOUT.config)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / LAYOUT.config).write_text('{"model_type": "bert"}', encoding="utf-8")
    for name, told in (
        ("file", "is a file, expected a folder"),
        ("clone", r"has \.git, which is no file of a model; expected a new or empty folder"),
        ("other", "model format None"),
    ):
        with pytest.raises(InputError, match=told):
            simplifier.save_pretrained(tmp_path / name)
    assert (tmp_path / "clone" / ".git").is_dir()
    by_hand = Simplifier(simplifier.backend, simplifier.pieces, simplifier.phrasing)
    with pytest.raises(InputError, match="put together by hand, expected one from the folder of a model"):
        by_hand.save_pretrained(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_model_goes_to_the_hub_and_comes_back(model: Path, fake: FakeHub) -> None:
    first = Simplifier.from_pretrained(model, threads=1)
    (model / "notes.md").write_text("mine", encoding="utf-8")
    where = first.push_to_hub(NAME, private=True, token="hf_secret", commit_message="The first one")
    assert where.endswith(NAME)
    assert (fake.created["name"], fake.created["organization"]) == ("tiny-riseq", "someone")
    assert fake.created.get("private") is True or fake.created.get("visibility") == "private"
    assert fake.commits == ["The first one"]
    assert fake.tokens == {"Bearer hf_secret"}
    assert set(fake.files) == {path.name for path in model.iterdir()} - {"notes.md"} | {LAYOUT.card}
    assert fake.files["encoder.onnx"] == (model / "encoder.onnx").read_bytes()
    assert fake.checked == fake.files[LAYOUT.card].decode()
    assert hub.ModelCard(fake.files[LAYOUT.card].decode()).data.library_name == "riseq"
    for revision in (None, "main"):
        again = Simplifier.from_pretrained(NAME, revision=revision, threads=1)
        assert again(QUESTION, CONTEXT) == first(QUESTION, CONTEXT)


def test_a_refusal_is_one_line(model: Path, fake: FakeHub) -> None:
    fake.refusal = 401
    with pytest.raises(InputError, match=f"{NAME}: cannot be put on the Hugging Face hub: .*401") as caught:
        Simplifier.from_pretrained(model, threads=1).push_to_hub(NAME, token="hf_other")
    assert "\n" not in str(caught.value)
    assert not fake.files


@pytest.mark.parametrize("name", ["name", "a/b/c", "models/x", "../x", "a b/c", "owner/name@main"])
def test_what_is_no_name_on_the_hub_is_told(model: Path, name: str) -> None:
    simplifier = Simplifier.from_pretrained(model, threads=1)
    with pytest.raises(InputError, match="no name on the Hugging Face hub, expected owner/name"):
        simplifier.push_to_hub(name)


def test_the_extra_and_the_revision_are_told(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="revision goes with a model on the Hugging Face hub"):
        Simplifier.from_pretrained(model, revision="main")
    simplifier = Simplifier.from_pretrained(model, threads=1)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"someone/tiny-riseq: a model on the .* pip install '\.\[hub\]'"):
        simplifier.push_to_hub(NAME)
