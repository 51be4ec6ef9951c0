"""A Llama-like language model in a GGUF file, turned into a folder that transformers reads.

``python -m riseq.model.llama_gguf FILE.gguf FOLDER``. The weights become what their few bits say, no more: a 4-bit file
stays a 4-bit model that is stored wide.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import AddedToken, Tokenizer
from tokenizers import decoders as token_decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence

from riseq.model.folders import make_folder, save_weights
from riseq.model.gguf import Floats, GgufFile
from riseq.types import InputError

_CONTROL = 3  # the token type of marks that no text contains
_PARTS = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def unpack_llama(path: str | Path, folder: str | Path) -> None:
    """Write the model in the GGUF file ``path`` to ``folder``: config, tokenizer, and weights in float16."""
    file = GgufFile(path)
    if file.metadata.get("general.architecture") != "llama" or file.metadata.get("tokenizer.ggml.model") != "gpt2":
        raise InputError(f"{path}: expected a llama model with a byte-level BPE vocabulary")
    config = read_config(file)
    with make_folder(Path(folder)) as work:
        (work / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        read_tokenizer(file).save(str(work / "tokenizer.json"))
        weights = {rename(n): torch.from_numpy(_straighten(n, file.tensor(n), config)) for n in file.names()}
        save_weights(work / "model.safetensors", weights, half=True)


def read_config(file: GgufFile) -> dict[str, Any]:
    """Return the model's shape as transformers' ``LlamaConfig`` names it."""
    known = file.metadata
    try:
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": len(known["tokenizer.ggml.tokens"]),
            "hidden_size": known["llama.embedding_length"],
            "intermediate_size": known["llama.feed_forward_length"],
            "num_hidden_layers": known["llama.block_count"],
            "num_attention_heads": known["llama.attention.head_count"],
            "num_key_value_heads": known.get("llama.attention.head_count_kv", known["llama.attention.head_count"]),
            "max_position_embeddings": known["llama.context_length"],
            "rms_norm_eps": known["llama.attention.layer_norm_rms_epsilon"],
            "rope_parameters": {"rope_type": "default", "rope_theta": known.get("llama.rope.freq_base", 10_000.0)},
            "tie_word_embeddings": "output.weight" not in set(file.names()),
            "bos_token_id": known.get("tokenizer.ggml.bos_token_id"),
            "eos_token_id": known["tokenizer.ggml.eos_token_id"],
            "pad_token_id": known.get("tokenizer.ggml.padding_token_id"),
            "dtype": "float16",
        }
    except KeyError as error:
        raise InputError(f"{file.path}: no key {error}; expected the shape of a llama model") from error


def read_tokenizer(file: GgufFile) -> Tokenizer:
    """Return the byte-level BPE tokenizer that the file describes."""
    tokens: list[str] = file.metadata["tokenizer.ggml.tokens"]
    kinds: list[int] = file.metadata["tokenizer.ggml.token_type"]
    merges = [tuple(line.split(" ")) for line in file.metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, merges))
    steps: list[PreTokenizer] = [ByteLevel(add_prefix_space=False, use_regex=True)]
    if file.metadata.get("tokenizer.ggml.pre") == "smollm":
        steps.insert(0, Digits(individual_digits=True))
    tokenizer.pre_tokenizer = Sequence(steps)
    tokenizer.decoder = token_decoders.ByteLevel()
    marks = [token for token, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL]
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in marks])
    return tokenizer


def rename(name: str) -> str:
    """Return transformers' name of a GGUF tensor."""
    stem = name.removesuffix(".weight")
    if stem in _OUTSIDE:
        return f"{_OUTSIDE[stem]}.weight"
    block, number, part = [*stem.split(".", 2), "", ""][:3]
    if block != "blk" or part not in _PARTS:
        raise InputError(f"tensor {name!r} belongs to no llama model that riseq knows")
    return f"model.layers.{number}.{_PARTS[part]}.weight"


def _straighten(name: str, tensor: Floats, config: dict[str, Any]) -> Floats:
    """Return queries and keys in transformers' order: llama.cpp interleaves the halves that rotate together."""
    heads = {"attn_q": "num_attention_heads", "attn_k": "num_key_value_heads"}.get(name.split(".")[-2])
    if heads is None:
        return tensor
    count, width = config[heads], tensor.shape[1]
    return np.ascontiguousarray(tensor.reshape(count, -1, 2, width).swapaxes(1, 2).reshape(-1, width))


def main(arguments: list[str]) -> int:
    """Run ``python -m riseq.model.llama_gguf FILE FOLDER`` and return its exit code."""
    if len(arguments) != 2:
        print("usage: python -m riseq.model.llama_gguf FILE.gguf FOLDER", file=sys.stderr)
        return 2
    try:
        unpack_llama(arguments[0], arguments[1])
    except InputError as error:
        print(f"riseq: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
