"""Tiny networks of both families with random weights, and dialogues to try them on: no downloads."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

import torch
from filelock import FileLock

from riseq.core.phrases import PhraseVocabulary
from riseq.model.checkpoint import Checkpoint, save_checkpoint
from riseq.model.network import NetworkConfig, RiseNetwork
from riseq.model.transformer import BackboneConfig
from riseq.text.pieces import Pieces
from riseq.types import Example

Family = Literal["bert", "mpnet"]

_SAID = "who what when where did does was is the a of in to by and for film band city song award river"
WORDS = [*_SAID.split(), "?", ",", "."]
PHRASES = PhraseVocabulary((("he",), ("she",), ("it",), ("they",), ("this", "film"), ("the", "band"), ("there",)))
CARD = "# A tiny model\n"


def make_pieces(family: Family) -> Pieces:
    """Return a vocabulary with a few words and every letter."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] if family == "bert" else ["<s>", "<pad>", "</s>", "[UNK]"]
    pieces = [*special, *letters, *(f"##{letter}" for letter in letters)]
    pieces += [word for word in WORDS if word not in pieces]
    return Pieces({piece: place for place, piece in enumerate(pieces)})


def make_checkpoint(
    family: Family = "bert", decoder_input: Literal["states", "tokens"] = "states", positions: int = 512
) -> Checkpoint:
    """Return a random network whose scores are far enough apart that rounding does not decide; mpnet's is joint."""
    torch.manual_seed(7)
    pieces = make_pieces(family)
    offset = 2 if family == "mpnet" else 0
    backbone = BackboneConfig(
        family=family,
        vocab_size=len(pieces),
        hidden=32,
        layers=2,
        heads=4,
        intermediate=64,
        max_positions=positions + offset,
        type_vocab=0 if family == "mpnet" else 2,
        norm_eps=1e-12,
        relative_buckets=32 if family == "mpnet" else 0,
        position_offset=offset,
    )
    config = NetworkConfig(backbone, len(PHRASES), 2, decoder_input, joint=family == "mpnet")
    network = RiseNetwork(config, pieces.cls_id)
    with torch.no_grad():
        if network.transitions is not None:
            network.transitions.weight.normal_(std=0.3)
        # No two tensors are equal, as after training: the exporter keeps equal ones once.
        for parameter in network.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
        network.edit_head.weight.mul_(4)
        network.phrase_head.weight.mul_(4)
    return Checkpoint(network.eval(), PHRASES, pieces, {"epoch": 3})


def save_tiny(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write the checkpoint to ``folder`` and return it."""
    save_checkpoint(folder, checkpoint, CARD)
    return folder


def make_examples(count: int, seed: int = 1) -> list[Example]:
    """Return made-up dialogues of many lengths, some without context."""
    rng = random.Random(seed)

    def say(longest: int) -> str:
        words = [rng.choice([*WORDS[:-3], "Hayes", "Tokyo", "Zappa's"]) for _ in range(rng.randint(1, longest))]
        return " ".join(words).capitalize() + "?"

    return [Example(str(k), tuple(say(12) for _ in range(rng.randint(0, 8))), say(25)) for k in range(count)]


def export_tiny(base: Path, family: Family, precision: str) -> tuple[Path, Path]:
    """Return the folders of a tiny checkpoint and of its export under ``base``, made where they are not there yet."""
    from riseq.model.export import export

    if base.name.startswith("popen-"):
        base = base.parent  # the processes that test side by side share it
    checkpoint, exported = base / f"tiny-{family}", base / f"tiny-{family}-{precision}"
    with FileLock(base / "tiny.lock"):
        if not checkpoint.is_dir():
            save_tiny(checkpoint, make_checkpoint(family))
        if not exported.is_dir():
            export(checkpoint, exported, precision)
    return checkpoint, exported
