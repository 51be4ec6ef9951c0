"""A model learnt above another is kept as what differs, and opened as the whole."""

from __future__ import annotations

import lzma
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from riseq.engine.backends.onnx_runtime import OnnxBackend
from riseq.engine.backends.pytorch import TorchBackend
from riseq.engine.drafts import gather, start
from riseq.engine.simplifier import Simplifier
from riseq.files import checksum
from riseq.model import differences
from riseq.model.checkpoint import Checkpoint, load_trained
from riseq.model.differences import add_delta, read_graph, write_delta
from riseq.model.export import export_checkpoint
from riseq.model.folder import LAYOUT, is_exported, load_exported
from riseq.model.network import RiseNetwork
from riseq.types import InputError
from tiny_model import export_tiny, make_examples

GRAPHS = (LAYOUT.encoder, LAYOUT.phraser)


def learn_above(base: Path) -> Checkpoint:
    """Return the model ``base`` with differences of rank 2, its biases and heads moved as if learnt."""
    begun = load_trained(base)
    torch.manual_seed(3)
    network = RiseNetwork(replace(begun.network.config, low_rank=2), begun.pieces.cls_id)
    network.load_state_dict({**network.state_dict(), **begun.network.state_dict()})
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith((".narrow", ".wide", ".bias")) or name.startswith(("edit_head.", "phrase_head.")):
                parameter.add_(0.1 * torch.randn_like(parameter))
    return replace(begun, network=network.eval())


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported tiny model that others are learnt above."""
    return export_tiny(tmp_path_factory.getbasetemp(), "bert", "int8")[1]


@pytest.fixture(scope="module")
def learnt(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model learnt above ``base``, exported as its differences."""
    folder = tmp_path_factory.mktemp("above") / "learnt"
    shutil.copytree(base, folder.parent / "begun")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "SHORTEST", 64)
        export_checkpoint(learn_above(base), folder, "", "int8", folder.parent / "begun")
    return folder


def test_the_graphs_are_kept_as_differences_and_have_the_bases_matrices(base: Path, learnt: Path) -> None:
    assert is_exported(learnt)
    for name in GRAPHS:
        assert not (learnt / name).exists()
        before = {one.raw_data for one in onnx.load(base / name).graph.initializer if len(one.raw_data) >= 512}
        now = {one.raw_data for one in onnx.load_model_from_string(read_graph(learnt / name)).graph.initializer}
        assert len(before & now) > len(before) / 2
        assert checksum(read_graph(learnt / name)) == load_exported(learnt).config["checksums"][name]


def test_layers_without_a_difference_are_plain_in_the_graph(base: Path, tmp_path: Path) -> None:
    checkpoint = learn_above(base)
    lowest = "encoder.layers.0."
    with torch.no_grad():
        for name, parameter in checkpoint.network.named_parameters():
            if name.startswith(lowest) and name.endswith(".wide"):
                parameter.zero_()
    export_checkpoint(checkpoint, tmp_path / "float32", "", "float32")
    names = {
        one.name.removeprefix("network.") for one in onnx.load(tmp_path / "float32" / LAYOUT.encoder).graph.initializer
    }
    kept = {name for name in names if name.endswith((".narrow", ".wide"))}
    assert kept
    assert not [name for name in kept if name.startswith(lowest)]
    read = load_trained(tmp_path / "float32").network.state_dict()
    for name, tensor in checkpoint.network.state_dict().items():
        if not name.endswith(".narrow"):
            torch.testing.assert_close(read[name], tensor, atol=0.01, rtol=0.07)  # twelve bits
    assert read[f"{lowest}up.narrow"].abs().max() > 0, "what goes on from it can still learn a difference"


def test_it_computes_what_the_checkpoint_does(base: Path, tmp_path: Path) -> None:
    checkpoint = learn_above(base)
    whole = tmp_path / "float32"
    export_checkpoint(checkpoint, whole, "", "float32")
    exported = load_exported(whole)
    pieces = checkpoint.pieces
    batch = gather([start(one.question, one.context, pieces, 512) for one in make_examples(12)], pieces)
    backends = OnnxBackend(exported, whole), TorchBackend(checkpoint.network)
    mine, theirs = (backend.score(batch).edits_BWE[batch.real_BW[:, :-1]] for backend in backends)
    np.testing.assert_allclose(mine, theirs, atol=0.05)  # differences are kept in twelve bits


def test_read_back_it_is_what_was_learnt(base: Path, learnt: Path) -> None:
    was, now = learn_above(base).network.state_dict(), load_trained(learnt).network.state_dict()
    assert was.keys() == now.keys()
    for name, weight in was.items():
        wrong = (weight - now[name]).abs().max() / weight.abs().max().clamp_min(1e-6)
        assert wrong <= (0.07 if name.endswith((".narrow", ".wide")) else 0.02), name


def test_saved_elsewhere_it_stands_alone(learnt: Path, tmp_path: Path) -> None:
    examples = make_examples(20)
    engine = Simplifier.load(learnt)
    texts = [one.text for one in engine.batch(examples)]
    engine.save_pretrained(tmp_path / "alone")
    assert {(tmp_path / "alone" / name).is_file() for name in GRAPHS} == {True}
    assert not list((tmp_path / "alone").glob("*.delta"))
    assert [one.text for one in Simplifier.load(tmp_path / "alone").batch(examples)] == texts


def test_what_is_damaged_or_made_above_another_version_is_told(learnt: Path, base: Path, tmp_path: Path) -> None:
    shutil.copytree(learnt, tmp_path / "copy")
    shutil.copytree(base, tmp_path / "begun")
    delta = add_delta(tmp_path / "copy" / LAYOUT.encoder)
    good = delta.read_bytes()
    delta.write_bytes(good[: len(good) // 2])
    with pytest.raises(InputError, match=r"encoder\.onnx\.delta: damaged"):
        Simplifier.load(tmp_path / "copy")
    said = lzma.decompress(good).replace(b'"sums": {"encoder.onnx": "', b'"sums": {"encoder.onnx": "0', 1)
    delta.write_bytes(lzma.compress(said))
    with pytest.raises(InputError, match="made above another version of the model"):
        Simplifier.load(tmp_path / "copy")


def test_a_shallower_model_above_another_is_kept_as_what_differs(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(differences, "SHORTEST", 64)
    begun = load_trained(base)
    config = begun.network.config
    shape = replace(config, backbone=replace(config.backbone, layers=config.backbone.layers - 1))
    network = RiseNetwork(shape, begun.pieces.cls_id)
    lower = {name: tensor for name, tensor in begun.network.state_dict().items() if name in network.state_dict()}
    network.load_state_dict(lower)
    shutil.copytree(base, tmp_path / "base")
    export_checkpoint(replace(begun, network=network.eval()), tmp_path / "fast", "", "int8", tmp_path / "base")
    for name in GRAPHS:
        assert add_delta(tmp_path / "fast" / name).stat().st_size < (base / name).stat().st_size / 2
    now = load_trained(tmp_path / "fast").network.state_dict()
    assert now.keys() == lower.keys()
    for name, tensor in lower.items():
        torch.testing.assert_close(now[name], tensor, msg=name)
    assert len([one.text for one in Simplifier.load(tmp_path / "fast").batch(make_examples(5))]) == 5


def test_any_bytes_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    shared = [rng.bytes(size) for size in (5_000, 9_000, 4_096)]
    sources = [tmp_path / "base" / name for name in GRAPHS]
    sources[0].parent.mkdir()
    (sources[0].parent / LAYOUT.config).write_text("{}", encoding="utf-8")
    sources[0].write_bytes(b"a" + shared[1] + b"bc" + shared[0])
    sources[1].write_bytes(shared[2])
    graph = tmp_path / LAYOUT.encoder
    content = shared[0] + b"own\nbytes" + shared[2] + shared[1] + b"end"
    graph.write_bytes(content)
    write_delta(graph, str(sources[0].parent), sources, [*shared, b"short", rng.bytes(5_000)])
    assert not graph.exists()
    assert len(add_delta(graph).read_bytes()) < 1_000
    assert read_graph(graph) == content


def test_the_model_it_differs_from_is_looked_for_beside_it_first(learnt: Path, base: Path, tmp_path: Path) -> None:
    models = tmp_path / "models"
    shutil.copytree(base, models / "first")
    (models / "second").mkdir()
    for name in GRAPHS:
        content = read_graph(learnt / name)
        (models / "second" / name).write_bytes(content)
        write_delta(models / "second" / name, "first", [models / "first" / one for one in GRAPHS], [content[-5_000:]])
        assert read_graph(models / "second" / name) == content
    (models / "first").rename(tmp_path / "away")
    with pytest.raises(InputError, match="first: no such folder"):
        read_graph(models / "second" / LAYOUT.encoder)
