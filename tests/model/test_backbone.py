"""Pretrained encoders from disk, and networks started from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from riseq.model.backbone import initialise, load_backbone, rename
from riseq.model.network import NetworkConfig, RiseNetwork
from riseq.types import InputError
from tiny_world import make_rows, write_backbone

PHRASES = [[7], [8, 9], [10], [11]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_backbone(tmp_path_factory.mktemp("backbone") / "bert", "bert", make_rows(), layers=3)


@pytest.fixture
def broken(folder: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_keep_layers_takes_those_layers_in_order(folder: Path) -> None:
    whole, cut = load_backbone(folder), load_backbone(folder, [0, 2])
    assert (whole.config.layers, cut.config.layers) == (3, 2)
    for place, layer in enumerate((0, 2)):
        assert torch.equal(cut.weights[f"layers.{place}.up.weight"], whole.weights[f"layers.{layer}.up.weight"])
    assert {name.split(".")[1] for name in cut.weights if name.startswith("layers.")} == {"0", "1"}


@pytest.mark.parametrize("keep", [[], [1, 0], [0, 0], [3], [-1, 0]], ids=str)
def test_keep_layers_outside_the_encoder_are_refused(folder: Path, keep: list[int]) -> None:
    with pytest.raises(InputError, match=r"expected rising numbers within 0\.\.2"):
        load_backbone(folder, keep)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(broken: Path, name: str) -> None:
    (broken / name).unlink()
    with pytest.raises(InputError, match=f"no {name}"):
        load_backbone(broken)


def change_config(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    change(config)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


def test_another_family_is_refused(broken: Path) -> None:
    change_config(broken, lambda config: config.update(model_type="gpt2"))
    with pytest.raises(InputError, match="model_type is 'gpt2'; expected one of bert, mpnet"):
        load_backbone(broken)


def test_a_config_without_its_shape_is_refused(broken: Path) -> None:
    change_config(broken, lambda config: config.pop("hidden_size"))
    with pytest.raises(InputError, match="no field 'hidden_size'"):
        load_backbone(broken)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_damaged_file_is_told_in_one_line(broken: Path, name: str) -> None:
    (broken / name).write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=name) as caught:
        load_backbone(broken)
    assert "\n" not in str(caught.value)


def test_a_file_is_no_backbone(folder: Path) -> None:
    with pytest.raises(InputError, match="is a file, expected a folder with config"):
        load_backbone(folder / "config.json")


@pytest.mark.parametrize("name", ["bert-base-uncased", "thenlper/gte-small"])
def test_hub_ids_are_asked_for_and_a_failure_is_one_line(
    monkeypatch: pytest.MonkeyPatch, folder: Path, name: str
) -> None:
    asked: list[str] = []

    def download(repo: str, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append(repo)
        if len(asked) > 1:
            raise ConnectionError("no\nnetwork")
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert load_backbone(name).config.layers == 3
    with pytest.raises(InputError, match="not to be had from the Hugging Face hub: no") as caught:
        load_backbone(name)
    assert asked == [name, name]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["weights/gte", "./gte", "../gte", "/nowhere/gte", "a/b/c", "here/gte", "~/gte"])
def test_what_looks_like_a_folder_is_never_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def download(*arguments: object, **named: object) -> str:
        raise AssertionError("asked the hub")

    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    with pytest.raises(InputError, match=f"^{name}: no such folder; .hf download OWNER/NAME --local-dir") as caught:
        load_backbone(name)
    assert "\n" not in str(caught.value)


def test_the_first_bert_checkpoints_names_of_norms_are_known(broken: Path) -> None:
    """bert-base-uncased calls them gamma and beta, and puts ``bert.`` before every name."""
    tensors = load_file(broken / "model.safetensors")
    old = {f"bert.{_age(name)}": tensor for name, tensor in tensors.items()} | {"cls.predictions.bias": torch.zeros(3)}
    wanted = load_backbone(broken).weights
    save_file(old, broken / "model.safetensors")
    found = load_backbone(broken).weights
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)


def _age(name: str) -> str:
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


@pytest.mark.parametrize(
    ("theirs", "family", "ours"),
    [
        ("embeddings.LayerNorm.weight", "bert", "embeddings.norm.weight"),
        ("encoder.layer.3.attention.output.LayerNorm.bias", "bert", "layers.3.attention_norm.bias"),
        ("mpnet.encoder.layer.0.attention.attn.q.weight", "mpnet", "layers.0.attention.query.weight"),
        ("encoder.relative_attention_bias.weight", "mpnet", "bias.weight"),
        ("pooler.dense.weight", "bert", None),
        ("embeddings.position_ids", "mpnet", None),
    ],
)
def test_names_are_translated(theirs: str, family: str, ours: str | None) -> None:
    assert rename(theirs, family) == ours


def build(folder: Path, decoder_layers: int) -> RiseNetwork:
    backbone = load_backbone(folder)
    network = RiseNetwork(NetworkConfig(backbone.config, len(PHRASES), decoder_layers), cls_id=2)
    initialise(network, backbone, PHRASES)
    return network


@pytest.mark.parametrize(("layers", "sources"), [(1, [2]), (2, [1, 2]), (3, [0, 1, 2]), (4, [0, 0, 1, 2])])
def test_the_decoder_starts_from_the_encoders_last_layers(folder: Path, layers: int, sources: list[int]) -> None:
    network = build(folder, layers)
    for mine, number in zip(network.decoder, sources, strict=True):
        theirs = network.encoder.layers[number].state_dict()
        state = mine.state_dict()
        for name, tensor in theirs.items():
            assert torch.equal(state[name], tensor), name
            if name.startswith("attention"):
                assert torch.equal(state[name.replace("attention", "cross", 1)], tensor), name


def test_phrases_start_near_their_pieces(folder: Path) -> None:
    network = build(folder, 1)
    table = network.encoder.embeddings.pieces.weight
    means = torch.stack([table[ids].mean(0) for ids in PHRASES])
    means = means - means.mean(0)
    cosines = torch.nn.functional.cosine_similarity(network.phrase_head.weight, means)
    torch.testing.assert_close(cosines, torch.ones(len(PHRASES)))
    assert network.phrase_head.bias.count_nonzero() == 0


def test_weights_that_do_not_fit_are_refused(folder: Path) -> None:
    backbone = load_backbone(folder)
    network = RiseNetwork(NetworkConfig(replace(backbone.config, layers=4), len(PHRASES)), cls_id=2)
    with pytest.raises(InputError, match=r"missing \['layers\.3\."):
        initialise(network, backbone, PHRASES)
