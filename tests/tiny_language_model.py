"""A tiny language model with random weights that can read the made-up language: no downloads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer
from tokenizers import decoders as token_decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer
from transformers import LlamaConfig, LlamaForCausalLM

from tiny_world import Row

END = "<|end|>"


def make_tokenizer(rows: list[Row]) -> Tokenizer:
    """Return a byte-level tokenizer with a few merges of the rows' text, its end mark being number 0."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = token_decoders.ByteLevel()
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(vocab_size=400, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    texts = [text for row in rows for text in (*row["context"], row["question"], row["target"])]
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_special_tokens([AddedToken(END, special=True)])
    return tokenizer


def make_llama(vocab_size: int, seed: int = 0) -> Any:
    """Return transformers' own Llama, tiny, with grouped keys and shared embeddings."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        eos_token_id=0,
        bos_token_id=None,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


def write_language_model(folder: Path, rows: list[Row]) -> Path:
    """Write a language model's folder as the hub has them, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(rows)
    model = make_llama(tokenizer.get_vocab_size())
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps(model.config.to_dict(), default=str), encoding="utf-8")
    state = {k: v.contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
