"""A Llama-like language model in a GGUF file (llama.cpp's format), turned into a folder that transformers reads."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer
from tokenizers import decoders as token_decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence

from riseq.files import make_folder
from riseq.model.checkpoint import save_weights
from riseq.types import InputError

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_BLOCK = 32  # weights that share a scale


@dataclass(frozen=True, slots=True)
class Packing:
    """How one kind of tensor is stored: weights a block, bytes a block, and how blocks become weights."""

    name: str
    weights: int
    size: int
    unpack: Callable[[Bytes], Floats]


def _unpack_float32(blocks: Bytes) -> Floats:
    return blocks.view("<f4").astype(np.float32)


def _unpack_float16(blocks: Bytes) -> Floats:
    return blocks.view("<f2").astype(np.float32)


def _half(blocks: Bytes, start: int) -> Floats:
    return np.ascontiguousarray(blocks[:, start : start + 2]).view("<f2").astype(np.float32)


def _nibbles(packed: Bytes) -> Floats:
    """Return 32 numbers 0..15 a block: the low halves of its 16 bytes, then the high ones."""
    return np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32)


def _unpack_q4_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * (_nibbles(blocks[:, 2:]) - 8)


def _unpack_q4_1(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * _nibbles(blocks[:, 4:]) + _half(blocks, 2)


def _unpack_q8_0(blocks: Bytes) -> Floats:
    return _half(blocks, 0) * np.ascontiguousarray(blocks[:, 2:]).view(np.int8).astype(np.float32)


PACKINGS = {
    0: Packing("F32", 1, 4, _unpack_float32),
    1: Packing("F16", 1, 2, _unpack_float16),
    2: Packing("Q4_0", _BLOCK, 18, _unpack_q4_0),
    3: Packing("Q4_1", _BLOCK, 20, _unpack_q4_1),
    8: Packing("Q8_0", _BLOCK, 34, _unpack_q8_0),
}


@dataclass(frozen=True, slots=True)
class _Entry:
    shape: tuple[int, ...]
    kind: int
    start: int


class GgufFile:
    """A GGUF file: its ``metadata`` by key, and its tensors by name."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._data: Bytes = np.memmap(self.path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise InputError(f"{self.path}: cannot be read ({error}); expected a GGUF file") from error
        if self._data[:4].tobytes() != _MAGIC:
            raise InputError(f"{self.path}: does not start with GGUF; expected a GGUF file")
        self._at = 4
        try:
            self._read_header()
        except (struct.error, UnicodeDecodeError, KeyError) as error:
            raise InputError(f"{self.path}: broken GGUF near byte {self._at} ({error!r})") from error

    def _read_header(self) -> None:
        version = self._scalar("I")
        if version not in (2, 3):
            raise InputError(f"{self.path}: GGUF version {version}; expected 2 or 3")
        tensors, keys = self._scalar("Q"), self._scalar("Q")
        self.metadata: dict[str, Any] = {}
        for _ in range(keys):
            key = self._string()
            self.metadata[key] = self._value(self._scalar("I"))
        self._entries: dict[str, _Entry] = {}
        for _ in range(tensors):
            name = self._string()
            shape = tuple(self._scalar("Q") for _ in range(self._scalar("I")))
            kind, start = self._scalar("I"), self._scalar("Q")
            self._entries[name] = _Entry(shape[::-1], kind, start)  # GGUF names the fastest dimension first
        step = self.metadata.get("general.alignment", 32)
        self._base = self._at + -self._at % step

    def names(self) -> Iterator[str]:
        """Yield the names of the tensors."""
        return iter(self._entries)

    def tensor(self, name: str) -> Floats:
        """Return a tensor unpacked to float32."""
        entry = self._entries.get(name)
        if entry is None:
            raise InputError(f"{self.path}: no tensor {name!r}")
        packing = PACKINGS.get(entry.kind)
        if packing is None:
            known = ", ".join(p.name for p in PACKINGS.values())
            raise InputError(f"{self.path}: tensor {name!r} is packed by kind {entry.kind}; expected one of {known}")
        count = int(np.prod(entry.shape, dtype=np.int64))
        size = count // packing.weights * packing.size
        start = self._base + entry.start
        raw = self._data[start : start + size]
        if len(raw) < size or count % packing.weights:
            raise InputError(f"{self.path}: tensor {name!r} is cut short, {len(raw)} of {size} bytes")
        blocks = np.ascontiguousarray(raw).reshape(-1, packing.size)
        return packing.unpack(blocks).reshape(entry.shape)

    def _scalar(self, kind: str) -> Any:
        size = struct.calcsize(f"<{kind}")
        (value,) = struct.unpack(f"<{kind}", self._data[self._at : self._at + size].tobytes())
        self._at += size
        return value

    def _string(self) -> str:
        length = self._scalar("Q")
        text = self._data[self._at : self._at + length].tobytes().decode("utf-8")
        self._at += length
        return text

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._scalar("I"), self._scalar("Q")
            return [self._value(inner) for _ in range(count)]
        return self._scalar(_SCALARS[kind])


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
    """Run ``python -m riseq.baselines.gguf FILE FOLDER`` and return its exit code."""
    if len(arguments) != 2:
        print("usage: python -m riseq.baselines.gguf FILE.gguf FOLDER", file=sys.stderr)
        return 2
    try:
        unpack_llama(arguments[0], arguments[1])
    except InputError as error:
        print(f"riseq: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
