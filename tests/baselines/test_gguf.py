"""GGUF files, written here bit by bit, and the language model that comes out of one."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from riseq.baselines.gguf import GgufFile, main, unpack_llama
from riseq.baselines.language_model import LanguageModel
from riseq.types import InputError
from tiny_language_model import make_llama, make_tokenizer
from tiny_world import make_rows

Floats = NDArray[np.float32]
BACK = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def pack(kind: int, tensor: Floats) -> bytes:
    """Return a tensor as the kind has it: F32, F16, Q4_0, Q4_1 or Q8_0."""
    if kind in (0, 1):
        return tensor.astype("<f4" if kind == 0 else "<f2").tobytes()
    found = b""
    for block in tensor.reshape(-1, 32):
        if kind == 8:
            scale = np.float16(np.abs(block).max() / 127)
            found += scale.tobytes() + np.round(block / max(float(scale), 1e-9)).astype(np.int8).tobytes()
            continue
        low = np.float16(block.min() if kind == 3 else 0)
        scale = np.float16((block.max() - block.min()) / 15 if kind == 3 else np.abs(block).max() / 7)
        shifted = block - np.float32(low) if kind == 3 else block + 8 * np.float32(scale)
        numbers = np.clip(np.round(shifted / max(float(scale), 1e-9)), 0, 15).astype(np.uint8)
        found += scale.tobytes() + (low.tobytes() if kind == 3 else b"")
        found += (numbers[:16] | (numbers[16:] << 4)).astype(np.uint8).tobytes()
    return found


def write_gguf(path: Path, metadata: dict[str, Any], tensors: dict[str, tuple[int, Floats]]) -> Path:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def value_of(value: Any) -> tuple[int, bytes]:
        if isinstance(value, str):
            return 8, text(value)
        if isinstance(value, float):
            return 6, struct.pack("<f", value)
        if isinstance(value, list):
            kinds = [value_of(item) for item in value]
            return 9, struct.pack("<IQ", kinds[0][0], len(kinds)) + b"".join(body for _, body in kinds)
        return 4, struct.pack("<I", value)

    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        kind, body = value_of(value)
        head += text(key) + struct.pack("<I", kind) + body
    data = b""
    for name, (kind, tensor) in tensors.items():
        data += b"\0" * (-len(data) % 32)
        head += text(name) + struct.pack("<I", tensor.ndim)
        head += struct.pack(f"<{tensor.ndim}Q", *tensor.shape[::-1]) + struct.pack("<IQ", kind, len(data))
        data += pack(kind, tensor)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return path


@pytest.mark.parametrize(("kind", "worst"), [(0, 0.0), (1, 1e-3), (2, 0.3), (3, 0.2), (8, 0.02)])
def test_tensors_come_back_as_near_as_their_bits_allow(tmp_path: Path, kind: int, worst: float) -> None:
    wanted = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
    path = write_gguf(tmp_path / "a.gguf", {"general.name": "a"}, {"first": (0, wanted[0]), "second": (kind, wanted)})
    file = GgufFile(path)
    assert list(file.names()) == ["first", "second"]
    assert np.abs(file.tensor("second") - wanted).max() <= worst
    np.testing.assert_array_equal(file.tensor("first"), wanted[0])


def test_four_bits_are_unpacked_in_their_order(tmp_path: Path) -> None:
    # Sixteen levels, each twice: exactly what four bits with a scale and a least value can say.
    wanted = np.concatenate([np.arange(16), np.arange(16)[::-1]]).astype(np.float32)[None] * 0.5 - 3
    file = GgufFile(write_gguf(tmp_path / "a.gguf", {"a": 1}, {"t": (3, wanted)}))
    np.testing.assert_array_equal(file.tensor("t"), wanted)


def test_broken_files_are_told(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "a.gguf", {"a": "text"}, {"t": (0, np.ones((4, 32), dtype=np.float32))})
    (tmp_path / "b").write_bytes(b"PK12345")
    (tmp_path / "c").write_bytes(whole.read_bytes()[:40])
    (tmp_path / "d").write_bytes(whole.read_bytes()[:-8])
    for name, told in (("b", "does not start with GGUF"), ("c", "broken GGUF near byte"), ("none", "cannot be read")):
        with pytest.raises(InputError, match=told):
            GgufFile(tmp_path / name)
    with pytest.raises(InputError, match="is cut short"):
        GgufFile(tmp_path / "d").tensor("t")
    with pytest.raises(InputError, match="no tensor 'x'"):
        GgufFile(whole).tensor("x")


def write_llama(path: Path, weights: int) -> tuple[Path, Any, Any]:
    """Return a GGUF file as llama.cpp writes it, and the model and tokenizer it was written from."""
    tokenizer = make_tokenizer(make_rows())
    model = make_llama(tokenizer.get_vocab_size())
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    import json

    merges = [" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]
    config = model.config
    metadata = {
        "general.architecture": "llama",
        "llama.block_count": 2,
        "llama.context_length": 512,
        "llama.embedding_length": config.hidden_size,
        "llama.feed_forward_length": config.intermediate_size,
        "llama.attention.head_count": config.num_attention_heads,
        "llama.attention.head_count_kv": config.num_key_value_heads,
        "llama.attention.layer_norm_rms_epsilon": config.rms_norm_eps,
        "llama.rope.freq_base": 10_000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] + [1] * (len(tokens) - 1),
        "tokenizer.ggml.merges": merges,
        "tokenizer.ggml.eos_token_id": 0,
    }
    tensors = {}
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        if name == "lm_head.weight":
            continue
        if name.startswith("model.layers."):
            number, part = name.removeprefix("model.layers.").removesuffix(".weight").split(".", 1)
            theirs = f"blk.{number}.{BACK[part]}"
            heads = {"attn_q": 4, "attn_k": 2}.get(BACK[part])
            if heads:  # llama.cpp's own permutation, from its converter
                array = array.reshape(heads, 2, array.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(array.shape)
        else:
            theirs = {"model.embed_tokens": "token_embd", "model.norm": "output_norm"}[name.removesuffix(".weight")]
        tensors[f"{theirs}.weight"] = (weights if array.ndim > 1 else 0, array)
    return write_gguf(path, metadata, tensors), model, tokenizer


@torch.no_grad()
def test_a_llama_comes_out_as_it_went_in(tmp_path: Path) -> None:
    path, model, tokenizer = write_llama(tmp_path / "tiny.gguf", weights=0)
    assert main([str(path), str(tmp_path / "tiny")]) == 0
    found = LanguageModel.load(tmp_path / "tiny")
    text = "Did Ada Lovelace win a prize in 1843?"
    ids = tokenizer.encode(text).ids
    assert found.tokenizer.encode(text).ids == ids
    assert found.end_id == 0
    scores = found.network(input_ids=torch.tensor([ids])).logits
    torch.testing.assert_close(scores, model(input_ids=torch.tensor([ids])).logits, atol=2e-3, rtol=1e-2)


def test_other_models_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_gguf(tmp_path / "a.gguf", {"general.architecture": "bert"}, {})
    with pytest.raises(InputError, match="expected a llama model"):
        unpack_llama(path, tmp_path / "out")
    assert main([str(path), str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.startswith("riseq: ")
    assert main([]) == 2
    assert not (tmp_path / "out").exists()
