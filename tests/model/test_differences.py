"""A model learnt above another is kept as what differs, and opened as the whole."""

from __future__ import annotations

import json
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
from riseq.model.backbone import cut_layers
from riseq.model.checkpoint import Checkpoint, load_trained
from riseq.model.differences import add_delta, read_graph, write_delta
from riseq.model.export import export_checkpoint
from riseq.model.folder import LAYOUT, is_exported, load_exported
from riseq.model.network import RiseNetwork, merge_differences
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
    export_checkpoint(learn_above(base), folder, "", "int8", folder.parent / "begun")
    return folder


def test_the_graphs_are_kept_as_differences_and_have_the_bases_tables(base: Path, learnt: Path) -> None:
    assert is_exported(learnt)
    for name in GRAPHS:
        assert not (learnt / name).exists()
        graphs = onnx.load(base / name).graph, onnx.load_model_from_string(read_graph(learnt / name)).graph
        before, now = ({one.name: one.raw_data for one in graph.initializer} for graph in graphs)
        same = {one for one in before if before[one] == now.get(one) and one.endswith((".rows", ".inverse_D"))}
        assert len(same) >= 2, "its table of pieces, and by what the inputs of matrices are divided"
        assert checksum(read_graph(learnt / name)) == load_exported(learnt).config["checksums"][name]


def test_it_computes_what_the_checkpoint_does(base: Path, tmp_path: Path) -> None:
    checkpoint = learn_above(base)
    whole = tmp_path / "float32"
    export_checkpoint(checkpoint, whole, "", "float32")
    exported = load_exported(whole)
    pieces = checkpoint.pieces
    batch = gather([start(one.question, one.context, pieces, 512) for one in make_examples(12)], pieces)
    backends = OnnxBackend(exported, whole), TorchBackend(checkpoint.network)
    mine, theirs = (backend.score(batch).edits_BWE[batch.real_BW[:, :-1]] for backend in backends)
    np.testing.assert_allclose(mine, theirs, atol=1e-3)


def test_read_back_it_is_what_was_learnt_with_plain_matrices(base: Path, learnt: Path) -> None:
    was, now = merge_differences(learn_above(base).network), load_trained(learnt).network
    assert (now.config.low_rank, now.config) == (0, was.config)
    for name, weight in was.state_dict().items():
        wrong = (weight - now.state_dict()[name]).abs().max() / weight.abs().max().clamp_min(1e-6)
        assert wrong <= 0.05, name


def test_the_graph_has_no_more_nodes_than_the_base_and_no_numbers_twice(base: Path, learnt: Path) -> None:
    for name in GRAPHS:
        before, now = (onnx.load_model_from_string(read_graph(one / name)).graph for one in (base, learnt))
        assert len(before.node) == len(now.node)
        assert not [one.name for one in now.initializer if one.raw_data and one.float_data]


def test_more_noise_takes_fewer_bytes(base: Path, learnt: Path, tmp_path: Path) -> None:
    checkpoint, begun = learn_above(base), Path(shutil.copytree(base, tmp_path / "begun"))
    for noise in (0.2, 2.0):
        export_checkpoint(checkpoint, tmp_path / f"{noise}", "", "int8", begun, noise)
    made = (tmp_path / "0.2", learnt, tmp_path / "2.0")
    sizes = [sum(add_delta(one / name).stat().st_size for name in GRAPHS) for one in made]
    assert sizes == sorted(set(sizes), reverse=True), "what is asked for by default lies between them"
    up = "encoder.layers.0.up.weight"
    was = merge_differences(checkpoint.network).state_dict()[up]
    wrong = [float((load_trained(one).network.state_dict()[up] - was).norm()) for one in made]
    assert wrong == sorted(set(wrong))


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
    content = lzma.decompress(good)
    delta.write_bytes(lzma.compress(content[:-1] + bytes([content[-1] ^ 1])))
    with pytest.raises(InputError, match="the graph that it makes is not the one that was written"):
        Simplifier.load(tmp_path / "copy")
    said = content.replace(b'"sums": {"encoder.onnx": "', b'"sums": {"encoder.onnx": "0', 1)
    delta.write_bytes(lzma.compress(said))
    with pytest.raises(InputError, match="made above another version of the model"):
        Simplifier.load(tmp_path / "copy")


def cut(begun: Checkpoint, layer: int) -> Checkpoint:
    """Return a model with one of the layers and the second of the decoder's."""
    config = begun.network.config
    state = cut_layers(begun.network.state_dict(), [layer], config.backbone.layers, "encoder.layers.")
    state = cut_layers(state, [1], config.decoder_layers, "decoder.")
    shape = replace(config, backbone=replace(config.backbone, layers=1), decoder_layers=1)
    network = RiseNetwork(shape, begun.pieces.cls_id)
    network.load_state_dict(state)
    return replace(begun, network=network.eval())


@pytest.mark.parametrize("layer", [0, 1])
def test_a_shallower_model_above_another_is_kept_as_what_differs(base: Path, tmp_path: Path, layer: int) -> None:
    checkpoint = cut(load_trained(base), layer)
    shutil.copytree(base, tmp_path / "base")
    export_checkpoint(checkpoint, tmp_path / "fast", "", "int8", tmp_path / "base")
    for name in GRAPHS:
        assert add_delta(tmp_path / "fast" / name).stat().st_size < (base / name).stat().st_size / 2
    now = load_trained(tmp_path / "fast").network.state_dict()
    assert now.keys() == checkpoint.network.state_dict().keys()
    for name, tensor in checkpoint.network.state_dict().items():
        torch.testing.assert_close(now[name], tensor, msg=name)
    assert len([one.text for one in Simplifier.load(tmp_path / "fast").batch(make_examples(5))]) == 5


def test_what_a_shallower_model_learnt_differs_from_its_own_layers(base: Path, tmp_path: Path) -> None:
    checkpoint = cut(learn_above(base), 1)
    shutil.copytree(base, tmp_path / "base")
    export_checkpoint(checkpoint, tmp_path / "fast", "", "int8", tmp_path / "base")
    (changed, unlike) = (merge_differences(one.network).state_dict() for one in (checkpoint, cut(learn_above(base), 0)))
    now = load_trained(tmp_path / "fast").network.state_dict()
    up = "encoder.layers.0.up.weight"
    torch.testing.assert_close(now[up], changed[up], atol=0.03 * float(changed[up].abs().max()), rtol=0)
    assert (now[up] - unlike[up]).norm() > 0.5 * now[up].norm()
    said = json.loads(lzma.decompress(add_delta(tmp_path / "fast" / LAYOUT.encoder).read_bytes()).partition(b"\n")[0])
    assert len(said["merged"]) == len(("query", "key", "value", "out", "up", "down"))


def test_what_is_learnt_in_full_is_kept_too(base: Path, tmp_path: Path) -> None:
    begun = load_trained(base)
    torch.manual_seed(5)
    with torch.no_grad():
        for name, parameter in begun.network.named_parameters():
            if name.startswith("encoder.layers."):
                parameter.add_(0.1 * torch.randn_like(parameter))
    checkpoint = cut(begun, 1)
    shutil.copytree(base, tmp_path / "base")
    export_checkpoint(checkpoint, tmp_path / "fast", "", "int8", tmp_path / "base")
    now = load_trained(tmp_path / "fast").network.state_dict()
    for name, weight in checkpoint.network.state_dict().items():
        assert (weight - now[name]).abs().max() <= 0.05 * weight.abs().max(), name


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
