"""An encoder-decoder's folder: weights in safetensors, shape and facts in JSON, vocabulary as text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from riseq.model.checkpoint import LAYOUT
from riseq.model.folders import load_weights, make_folder, save_weights
from riseq.model.generator import Generator, GeneratorConfig
from riseq.model.transformer import BackboneConfig
from riseq.text.pieces import Pieces
from riseq.types import InputError

FORMAT = 1
_OURS = ("format", "generator")


@dataclass(frozen=True, slots=True)
class GeneratorCheckpoint:
    """A network with the pieces it reads and writes, and what is known of its making."""

    network: Generator
    pieces: Pieces
    facts: Mapping[str, Any]


def save_generator(folder: Path, checkpoint: GeneratorCheckpoint, card: str, half: bool = False) -> None:
    """Write the model's folder whole; ``half`` stores the weights in float16."""
    network = checkpoint.network
    with make_folder(folder) as work:
        save_weights(work / LAYOUT.weights, network.state_dict(), half)
        checkpoint.pieces.save(work / LAYOUT.vocabulary)
        config = {"format": FORMAT, "generator": dataclasses.asdict(network.config), **checkpoint.facts}
        (work / LAYOUT.config).write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        (work / LAYOUT.card).write_text(card, encoding="utf-8")


def load_generator(folder: str | Path) -> GeneratorCheckpoint:
    """Return the encoder-decoder in ``folder``, its parts checked against each other."""
    folder = Path(folder)
    for name in (LAYOUT.config, LAYOUT.weights, LAYOUT.vocabulary):
        if not (folder / name).is_file():
            raise InputError(f"{folder}: no {name}; expected the folder of an encoder-decoder that riseq trained")
    config = read_facts_file(folder / LAYOUT.config)
    if "generator" not in config or config.get("format") != FORMAT:
        raise InputError(f"{folder}: {LAYOUT.config} describes no encoder-decoder of format {FORMAT}")
    try:
        shape = dict(config["generator"])
        built = GeneratorConfig(**{**shape, "backbone": BackboneConfig(**shape["backbone"])})
    except (KeyError, TypeError) as error:
        raise InputError(f"{folder / LAYOUT.config}: not the shape of an encoder-decoder ({error})") from error
    pieces = Pieces.load(folder / LAYOUT.vocabulary)
    with torch.device("meta"):
        network = Generator(built)
    try:
        network.load_state_dict(load_weights(folder / LAYOUT.weights), assign=True)
    except RuntimeError as error:
        first = str(error).splitlines()[1].strip()
        raise InputError(f"{folder}: weights and config don't belong together ({first})") from error
    if len(pieces) > built.backbone.vocab_size:
        raise InputError(
            f"{folder}: {LAYOUT.vocabulary} has {len(pieces)} pieces, the network {built.backbone.vocab_size}"
        )
    facts = {k: v for k, v in config.items() if k not in _OURS}
    return GeneratorCheckpoint(network.eval(), pieces, facts)


def read_facts_file(path: Path) -> dict[str, Any]:
    """Return what a model's JSON file says."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path}: not JSON ({error})") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected names and values, got {type(found).__name__}")
    return found
