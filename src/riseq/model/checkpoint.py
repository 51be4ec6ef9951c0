"""A trained network's folder: weights in safetensors, shape in JSON, phrases and vocabulary as text; never pickle."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from riseq.core.phrases import PhraseVocabulary
from riseq.files import make_folder
from riseq.hub import MODEL_FOLDER, check_files, find_model
from riseq.model.folder import (
    FORMAT,
    LAYOUT,
    is_exported,
    load_exported,
    read_config,
    read_phrases,
    write_facts,
    write_vocabularies,
)
from riseq.model.graph_weights import read_weights
from riseq.model.network import NetworkConfig, RiseNetwork
from riseq.model.transformer import BackboneConfig
from riseq.text.pieces import Pieces
from riseq.types import InputError

_OWN_FIELDS = {"format", "network", "cls_id", "phrases", "digests"} | {
    "precision",
    "pieces",
    "max_pieces",
    "span_pieces",
    "checksums",
}
"""What a config says of the folder itself, a checkpoint's or an exported model's; the rest is known of its making."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A network with the phrases it says and the pieces it reads, and what is known of its making."""

    network: RiseNetwork
    phrases: PhraseVocabulary
    pieces: Pieces
    facts: Mapping[str, Any]


def save_checkpoint(folder: Path, checkpoint: Checkpoint, card: str, half: bool = False) -> None:
    """Write the model's folder whole: it appears, or replaces an older one, only once all of it is on disk."""
    network = checkpoint.network
    with make_folder(folder) as work:
        save_weights(work / LAYOUT.weights, network.state_dict(), half)
        write_vocabularies(work, checkpoint.phrases, checkpoint.pieces)
        config = {
            "format": FORMAT,
            "network": dataclasses.asdict(network.config),
            "cls_id": network.cls_id,
            "phrases": len(checkpoint.phrases),
            "digests": {name: _digest(work / name) for name in (LAYOUT.phrases, LAYOUT.vocabulary, LAYOUT.weights)},
            **checkpoint.facts,
        }
        write_facts(work, config, card)


def load_checkpoint(folder: str | Path) -> Checkpoint:
    """Return the model in ``folder``, its parts checked against each other."""
    folder = Path(folder)
    check_files(folder, (LAYOUT.config, LAYOUT.weights, LAYOUT.phrases, LAYOUT.vocabulary), MODEL_FOLDER)
    config = read_config(folder, {"digests": dict}, digests={})  # the first checkpoints have none
    network_config, cls_id = _read_shape(folder, config)
    phrases = read_phrases(folder / LAYOUT.phrases)
    pieces = Pieces.load(folder / LAYOUT.vocabulary)
    _check_parts(folder, config, network_config, phrases, pieces)
    network = _open_network(network_config, cls_id)
    try:
        network.load_state_dict(load_weights(folder / LAYOUT.weights))
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise InputError(f"{folder}: weights and config don't belong together ({first})") from error
    _check_digest(folder, config, LAYOUT.weights)
    return Checkpoint(network.eval(), phrases, pieces, _read_facts(config))


def load_trained(name: str | Path) -> Checkpoint:
    """Return the model called ``name``: a checkpoint, or an exported one, its int8 as the floats it stands for."""
    folder = find_model(name)
    if not is_exported(folder):
        return load_checkpoint(folder)
    exported = load_exported(folder)
    network = _open_network(*_read_shape(folder, {**exported.config, "cls_id": exported.pieces.cls_id}))
    network.load_state_dict(read_weights(folder, network.state_dict()))
    return Checkpoint(network.eval(), exported.phrases, exported.pieces, _read_facts(exported.config))


def _read_shape(folder: Path, config: Mapping[str, Any]) -> tuple[NetworkConfig, int]:
    try:
        shape = dict(config["network"])
        return NetworkConfig(**{**shape, "backbone": BackboneConfig(**shape["backbone"])}), config["cls_id"]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder / LAYOUT.config}: not the shape of a network ({error})") from error


def _read_facts(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in config.items() if name not in _OWN_FIELDS}


def _open_network(config: NetworkConfig, cls_id: int) -> RiseNetwork:
    """Return a network whose weights are still to be filled."""
    with torch.device("meta"):
        network = RiseNetwork(config, cls_id)
    network = network.to_empty(device="cpu")
    network.reset_buffers()
    return network


def _check_parts(
    folder: Path, config: Mapping[str, Any], shape: NetworkConfig, phrases: PhraseVocabulary, pieces: Pieces
) -> None:
    apart = "they don't belong together"
    if len(phrases) != shape.phrases:
        raise InputError(f"{folder}: {LAYOUT.phrases} has {len(phrases)} phrases, the network {shape.phrases}; {apart}")
    if len(pieces) > shape.backbone.vocab_size:
        raise InputError(
            f"{folder}: {LAYOUT.vocabulary} has {len(pieces)} pieces, the network {shape.backbone.vocab_size}; {apart}"
        )
    if pieces.cls_id != config["cls_id"]:
        raise InputError(
            f"{folder}: {LAYOUT.vocabulary} has [CLS] at {pieces.cls_id}, the network at {config['cls_id']}; {apart}"
        )
    # As many phrases or pieces in another order would load, and say something else.
    for name in (LAYOUT.phrases, LAYOUT.vocabulary):
        _check_digest(folder, config, name)


def _check_digest(folder: Path, config: Mapping[str, Any], name: str) -> None:
    expected = config["digests"].get(name)
    if expected is not None and _digest(folder / name) != expected:
        raise InputError(f"{folder}: {name} is not the file the network was saved with; they don't belong together")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def save_weights(path: Path, state: Mapping[str, Tensor], half: bool = False) -> None:
    """Write a network's tensors, in float16 where ``half``."""
    kind = torch.float16 if half else torch.float32
    # Copies, for safetensors takes no two names of one tensor.
    tensors = {name: tensor.detach().to("cpu", kind, copy=True).contiguous() for name, tensor in state.items()}
    save_file(tensors, path, metadata={"format": "pt"})


def load_weights(path: Path) -> dict[str, Tensor]:
    """Return a network's tensors in float32."""
    try:
        return {name: tensor.float() for name, tensor in load_file(path).items()}
    except SafetensorError as error:
        raise InputError(f"{path}: not a safetensors file ({error})") from error
