"""Language models in GGUF files, as llama.cpp's own package writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Packing
from tokenizers import Tokenizer

from riseq.baselines.language_model import LanguageModel
from riseq.types import InputError
from tiny_language_model import make_llama, make_tokenizer
from tiny_world import make_rows

NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
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
TEXT = "Did Ada Lovelace win a prize in 1843?"


def write_llama(path: Path, packing: Packing) -> tuple[Any, Tokenizer]:
    """Write a GGUF file and return the model and the tokenizer it was written from."""
    tokenizer = make_tokenizer(make_rows())
    model = make_llama(tokenizer.get_vocab_size())
    config = model.config
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    writer.add_tokenizer_model("gpt2")
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL] + [gguf.TokenType.NORMAL] * (len(tokens) - 1))
    writer.add_token_merges([" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]])
    writer.add_eos_token_id(0)
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight":
            continue
        array = tensor.numpy()
        block, part = "", name.removesuffix(".weight")
        if part.startswith("model.layers."):
            number, part = part.removeprefix("model.layers.").split(".", 1)
            block = f"blk.{number}."
        heads = {"self_attn.q_proj": 4, "self_attn.k_proj": 2}.get(part)
        if heads:  # llama.cpp's own permutation, from its converter
            array = array.reshape(heads, 2, array.shape[0] // heads // 2, -1).swapaxes(1, 2).reshape(array.shape)
        kind = packing if array.ndim > 1 else Packing.F32
        packed = gguf.quants.quantize(np.ascontiguousarray(array), kind)
        writer.add_tensor(f"{block}{NAMES[part]}.weight", packed, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model, tokenizer


@torch.no_grad()
@pytest.mark.parametrize(
    ("packing", "worst"), [(Packing.F32, 0.0), (Packing.F16, 1e-4), (Packing.Q8_0, 1e-3), (Packing.Q4_1, 1e-2)]
)
def test_a_llama_comes_out_as_it_went_in(tmp_path: Path, packing: Packing, worst: float) -> None:
    model, tokenizer = write_llama(tmp_path / "tiny.gguf", packing)
    found = LanguageModel.load(tmp_path / "tiny.gguf")
    ids = tokenizer.encode(TEXT).ids
    assert found.tokenizer.encode(TEXT).ids == ids
    assert found.tokenizer.decode(ids) == TEXT
    assert found.end_id == 0
    state = found.network.state_dict()
    assert all(tensor.dtype == torch.float32 for tensor in state.values())
    assert max(float((state[name] - tensor).abs().max()) for name, tensor in model.state_dict().items()) <= worst
    if packing == Packing.F32:
        wanted = model(input_ids=torch.tensor([ids])).logits
        torch.testing.assert_close(found.network(input_ids=torch.tensor([ids])).logits, wanted)


def test_it_learns_and_is_saved_as_a_plain_folder(tmp_path: Path) -> None:
    write_llama(tmp_path / "tiny.gguf", Packing.Q4_1)
    model = LanguageModel.load(tmp_path / "tiny.gguf")
    ids = torch.tensor([model.encode_target(TEXT)])
    optimiser = torch.optim.AdamW(model.network.parameters(), lr=1e-3)
    losses = []
    for _ in range(3):
        loss = model.network(input_ids=ids, labels=ids).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        losses.append(loss.item())
    assert losses[2] < losses[0]
    model.save(tmp_path / "folder", {"epoch": 1}, "# card\n")
    config = json.loads((tmp_path / "folder" / "config.json").read_text())
    assert (config["architectures"], config["model_type"]) == (["LlamaForCausalLM"], "llama")
    assert "quantization_config" not in config
    found = LanguageModel.load(tmp_path / "folder")
    assert found.facts == {"epoch": 1}
    with torch.no_grad():
        torch.testing.assert_close(found.network(ids).logits, model.network(ids).logits)
    assert model.network.half().dtype == torch.float16


def test_the_file_that_is_named_is_read_not_one_of_its_name_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    write_llama(tmp_path / "there" / "tiny.gguf", Packing.F32)
    (tmp_path / "tiny.gguf").write_bytes(b"nothing")
    monkeypatch.chdir(tmp_path)
    assert LanguageModel.load("there/tiny.gguf").end_id == 0


def test_broken_files_are_refused(tmp_path: Path) -> None:
    write_llama(tmp_path / "whole.gguf", Packing.Q8_0)
    whole = (tmp_path / "whole.gguf").read_bytes()
    broken = {"other": b"PK12345", "empty": b"", "head": whole[:40], "keys": whole[:3000], "weights": whole[:-800]}
    for name, content in broken.items():
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}\.gguf: not a language model that transformers reads"):
            LanguageModel.load(path)
    with pytest.raises(InputError, match="no such file; expected a GGUF file"):
        LanguageModel.load(tmp_path / "none.gguf")


def test_an_architecture_that_is_no_language_model_is_refused(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "nothing")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(InputError, match=r"a\.gguf: not a language model that transformers reads"):
        LanguageModel.load(tmp_path / "a.gguf")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_llama(tmp_path / "tiny.gguf", Packing.F32)
    monkeypatch.setitem(sys.modules, "gguf", None)
    monkeypatch.setattr("transformers.modeling_gguf_pytorch_utils.is_gguf_available", lambda *_: False)
    with pytest.raises(InputError, match=r"needs the package 'gguf'; install it with: pip install '\.\[train\]'"):
        LanguageModel.load(tmp_path / "tiny.gguf")
