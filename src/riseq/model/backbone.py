"""A pretrained encoder's files, read into this project's own names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from riseq.hub import find_pretrained
from riseq.model.checkpoint import load_trained, load_weights
from riseq.model.folder import read_json
from riseq.model.network import RiseNetwork
from riseq.model.transformer import BackboneConfig, Encoder
from riseq.text.pieces import Pieces
from riseq.types import InputError

# Left: a parameter's name in the family's own checkpoints; right: its name here.
_BERT_NAMES = {
    "embeddings.word_embeddings": "embeddings.pieces",
    "embeddings.position_embeddings": "embeddings.positions",
    "embeddings.token_type_embeddings": "embeddings.types",
    "embeddings.LayerNorm": "embeddings.norm",
    "attention.self.query": "attention.query",
    "attention.self.key": "attention.key",
    "attention.self.value": "attention.value",
    "attention.output.dense": "attention.out",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "norm",
}
_MPNET_NAMES = _BERT_NAMES | {
    "attention.attn.q": "attention.query",
    "attention.attn.k": "attention.key",
    "attention.attn.v": "attention.value",
    "attention.attn.o": "attention.out",
    "attention.LayerNorm": "attention_norm",
    "encoder.relative_attention_bias": "bias",
}
_NAMES = {"bert": _BERT_NAMES, "mpnet": _MPNET_NAMES}
_OLD_KINDS = {"gamma": "weight", "beta": "bias"}  # what the first BERT checkpoints call a norm's parameters


@dataclass(frozen=True, slots=True)
class Backbone:
    """A pretrained encoder: its shape, its weights under this project's names, and its pieces."""

    config: BackboneConfig
    weights: dict[str, Tensor]
    pieces: Pieces


def load_backbone(source: str | Path, keep_layers: Sequence[int] | None = None) -> Backbone:
    """Return the encoder in a local folder or under a hub id, cut to ``keep_layers`` where given."""
    folder = find_pretrained(source)
    config = _read_config(folder / "config.json")
    tensors = load_weights(folder / "model.safetensors")
    named = ((rename(name, config.family), tensor) for name, tensor in tensors.items())
    weights = {name: tensor for name, tensor in named if name is not None}
    if keep_layers is not None:
        weights = cut_layers(weights, keep_layers, config.layers)
        config = replace(config, layers=len(keep_layers))
    return Backbone(config, weights, Pieces.load(folder / "tokenizer.json"))


def load_trained_encoder(model: str) -> Backbone:
    """Return the encoder of a trained model: default, fast, large or one in a folder."""
    trained = load_trained(model)
    return Backbone(trained.network.config.backbone, trained.network.encoder.state_dict(), trained.pieces)


def rename(name: str, family: str) -> str | None:
    """Return this project's name of a checkpoint's parameter, or None for one the encoder does not have."""
    body, _, kind = name.removeprefix(f"{family}.").rpartition(".")
    kind, layer, names = _OLD_KINDS.get(kind, kind), "", _NAMES[family]
    if body not in names and body.startswith("encoder.layer."):
        number, _, body = body.removeprefix("encoder.layer.").partition(".")
        layer = f"layers.{number}."
    return f"{layer}{names[body]}.{kind}" if body in names else None


def initialise(network: RiseNetwork, backbone: Backbone, phrase_pieces: Sequence[Sequence[int]]) -> None:
    """Load the backbone into the encoder and start the decoder and the phrase head from it."""
    start_decoder(network.encoder, network.decoder, network.span_positions, network.span_norm, backbone)
    start_phrases(network, phrase_pieces)


def start_phrases(network: RiseNetwork, phrase_pieces: Sequence[Sequence[int]]) -> None:
    """Start the phrase head from the embeddings of each phrase's pieces."""
    if not phrase_pieces:
        return
    with torch.no_grad():
        # A phrase starts as the mean of its pieces, so that a rare one is near its frequent relatives.
        means = torch.stack([network.encoder.embeddings.pieces.weight[list(ids)].mean(0) for ids in phrase_pieces])
        means = means - means.mean(0)
        network.phrase_head.weight.copy_(0.02 * means / means.std().clamp_min(1e-6))
        network.phrase_head.bias.zero_()


def start_decoder(
    encoder: Encoder, decoder: nn.ModuleList, positions: nn.Embedding, norm: nn.LayerNorm, backbone: Backbone
) -> None:
    """Load the backbone into the encoder and start a decoder from its last layers, cross-attention included."""
    missing, unexpected = encoder.load_state_dict(backbone.weights, strict=False)
    if missing or unexpected:
        raise InputError(f"the encoder's weights do not fit: missing {missing[:3]}, unexpected {unexpected[:3]}")
    with torch.no_grad():
        for number, mine in enumerate(decoder):
            state = dict(encoder.layers[max(0, len(encoder.layers) - len(decoder) + number)].state_dict())
            state |= {k.replace("attention", "cross", 1): v for k, v in state.items() if k.startswith("attention")}
            mine.load_state_dict(state)
        rows = encoder.embeddings.positions.weight[backbone.config.position_offset :][: positions.num_embeddings]
        positions.weight[: len(rows)].copy_(rows)
        norm.load_state_dict(encoder.embeddings.norm.state_dict())


def _read_config(path: Path) -> BackboneConfig:
    raw = read_json(path)
    family = raw.get("model_type") if isinstance(raw, dict) else None
    if family not in _NAMES:
        raise InputError(f"{path}: model_type is {family!r}; expected one of {', '.join(_NAMES)}")
    try:
        return BackboneConfig(
            family=family,
            vocab_size=raw["vocab_size"],
            hidden=raw["hidden_size"],
            layers=raw["num_hidden_layers"],
            heads=raw["num_attention_heads"],
            intermediate=raw["intermediate_size"],
            max_positions=raw["max_position_embeddings"],
            type_vocab=raw.get("type_vocab_size", 0) if family == "bert" else 0,
            norm_eps=raw["layer_norm_eps"],
            relative_buckets=raw.get("relative_attention_num_buckets", 32) if family == "mpnet" else 0,
            position_offset=raw.get("pad_token_id", 1) + 1 if family == "mpnet" else 0,
        )
    except KeyError as error:
        raise InputError(f"{path}: no field {error}; expected the shape of a {family} encoder") from error


def cut_layers(
    weights: Mapping[str, Tensor],
    keep: Sequence[int],
    layers: int,
    prefix: str = "layers.",
    setting: str = "keep_layers",
) -> dict[str, Tensor]:
    """Return the weights without the layers, called ``prefix`` and a number below ``layers``, that are not to keep.

    An error names the ``setting`` that says which to keep.
    """
    if not keep or sorted(set(keep)) != list(keep) or keep[-1] >= layers or keep[0] < 0:
        raise InputError(f"{setting} {list(keep)}: expected rising numbers within 0..{layers - 1}")
    cut = {name: tensor for name, tensor in weights.items() if not name.startswith(prefix)}
    for new, old in enumerate(keep):
        own = f"{prefix}{old}."
        cut |= {f"{prefix}{new}.{k.removeprefix(own)}": v for k, v in weights.items() if k.startswith(own)}
    return cut
