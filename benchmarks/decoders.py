"""Decoders that write a question word by word, through transformers: their weights are random, their times are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PROMPT, WRITTEN = 64, 10
"""The tokens that GPT-2 is given, and those it writes."""
GPT2, BERT2BERT = "GPT-2 (124M), 10 tokens after 64", "BERT2BERT of our encoder's size"


def make_decoders(
    shape: Mapping[str, Any], read: int, written: int, threads: int, gpt2: Mapping[str, Any] | None = None
) -> dict[str, Callable[[], object]]:
    """Return what writes one answer: GPT-2, and a BERT2BERT of ``shape`` that reads and writes so many pieces.

    ``gpt2`` changes GPT-2's shape. Raises ModuleNotFoundError where torch or transformers is missing.
    """
    import torch
    from transformers import BertConfig, EncoderDecoderConfig, EncoderDecoderModel, GPT2Config, GPT2LMHeadModel

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    decoder = _build(GPT2LMHeadModel, GPT2Config(**gpt2 or {}))
    prompt = torch.randint(0, decoder.config.vocab_size, (1, PROMPT))
    size = {
        "vocab_size": shape["vocab_size"],
        "hidden_size": shape["hidden"],
        "num_hidden_layers": shape["layers"],
        "num_attention_heads": shape["heads"],
        "intermediate_size": shape["intermediate"],
    }
    both = EncoderDecoderConfig.from_encoder_decoder_configs(BertConfig(**size), BertConfig(**size))
    pair = _build(EncoderDecoderModel, both)
    question = torch.randint(0, shape["vocab_size"], (1, read))

    def write(model: Any, ids: Any, count: int, **options: Any) -> object:
        with torch.inference_mode():
            return model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=count,
                min_new_tokens=count,
                do_sample=False,
                num_beams=1,
                pad_token_id=0,
                **options,
            )

    return {
        GPT2: lambda: write(decoder, prompt, WRITTEN),
        BERT2BERT: lambda: write(pair, question, written, decoder_start_token_id=1, eos_token_id=2),
    }


def _build(kind: Any, config: object) -> Any:
    """Return a model of ``kind`` that is not being trained; transformers' classes have no types."""
    return kind(config).eval()
