"""A made-up language of a few names and verbs, and tiny pretrained encoders of both families that can read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel, MPNetConfig, MPNetModel

Row = dict[str, Any]

NAMES = ["ada lovelace", "alan turing", "grace hopper", "kurt goedel", "emmy noether", "john nash"]
THINGS = ["paris", "the old bridge", "throat cancer", "the rust language"]
VERBS = ["win a prize", "change over time", "become famous", "cost a lot", "appear in a film"]


def make_rows() -> list[Row]:
    """Return pairs whose target calls the entity of the question "she", "he" or "it"."""
    rows: list[Row] = []
    for n, entity in enumerate(NAMES + THINGS):
        pronoun = ("she" if n % 2 == 0 else "he") if entity in NAMES else "it"
        for k, verb in enumerate(VERBS):
            context = [f"Tell me about {entity}.", f"{entity} is well known."]
            row = {"context": context, "question": f"Did {entity} {verb}?", "target": f"Did {pronoun} {verb}?"}
            rows.append({"id": f"{n}-{k}", **row})
    return rows


def write_rows(path: Path, rows: list[Row]) -> Path:
    """Write the rows as JSON Lines and return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def make_vocabulary(rows: list[Row], specials: list[str]) -> dict[str, int]:
    """Return a vocabulary with the rows' words and every letter."""
    words = sorted(set(json.dumps(rows).lower().replace("?", " ? ").replace(".", " . ").replace('"', " ").split()))
    letters = [chr(c) for c in range(97, 123)] + [f"##{chr(c)}" for c in range(97, 123)]
    found = [*specials, "?", ".", *letters, *(w for w in words if w.isalpha() and len(w) > 1)]
    return {piece: number for number, piece in enumerate(dict.fromkeys(found))}


def make_encoder(family: str, vocab_size: int, layers: int = 2, positions: int = 130) -> Any:
    """Return transformers' own encoder of the family, tiny, with random weights far from their start."""
    shape: dict[str, Any] = {
        "vocab_size": vocab_size,
        "hidden_size": 32,
        "num_hidden_layers": layers,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": positions,
        "attn_implementation": "eager",
    }
    torch.manual_seed(0)
    if family == "bert":
        model: Any = BertModel(BertConfig(**shape), add_pooling_layer=False)
    else:
        model = MPNetModel(MPNetConfig(**shape), add_pooling_layer=False)
    return model.eval()


def write_backbone(folder: Path, family: str, rows: list[Row], layers: int = 2) -> Path:
    """Write an encoder's folder as the hub has them, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    mpnet = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
    vocabulary = make_vocabulary(rows, bert if family == "bert" else mpnet)
    model = make_encoder(family, len(vocabulary), layers)
    (folder / "config.json").write_text(json.dumps(model.config.to_dict()), encoding="utf-8")
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, folder / "model.safetensors")
    tokenizer = {"model": {"type": "WordPiece", "vocab": vocabulary}, "normalizer": {"lowercase": True}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


def write_world(folder: Path) -> Path:
    """Write the backbones bert/ and mpnet/ and the data set pairs.qa.jsonl into a folder, and return it."""
    rows = make_rows()
    write_rows(folder / "pairs.qa.jsonl", rows)
    for family in ("bert", "mpnet"):
        write_backbone(folder / family, family, rows)
    return folder
