"""A decoder-only language model that continues context and question with the conversational question (QuerySim)."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from riseq.baselines.generation import Generated, Source, find_longer, generate, pad, write_outputs
from riseq.extras import INSTALL, MissingExtra
from riseq.files import make_folder, write_text
from riseq.hub import find_pretrained
from riseq.model.checkpoint import save_weights
from riseq.model.folder import LAYOUT, read_json
from riseq.model.inputs import UTTERANCE_PIECES, UTTERANCES
from riseq.types import Example, InputError

QUESTION_TOKENS = 64
"""A longer question, and a longer output, is cut here."""
QUESTION_MARK = "\nQuestion:"
TARGET_MARK = "\nFollow-up:"


class LanguageModel:
    """A causal network of transformers with its tokenizer."""

    def __init__(self, network: Any, tokenizer: Tokenizer, facts: Mapping[str, Any] | None = None) -> None:
        from transformers import GenerationConfig

        self.network, self.tokenizer = network, tokenizer
        self.facts = dict(facts or {})
        end = network.config.eos_token_id
        self.end_id = int(end[0] if isinstance(end, list | tuple) else end)
        # What a model's folder proposes (sampling, penalties) is not what is compared here.
        network.generation_config = GenerationConfig()
        self._question_mark = self._encode(QUESTION_MARK)
        self._target_mark = self._encode(TARGET_MARK)
        self._line = self._encode("\n")

    @classmethod
    def load(cls, source: str | Path) -> LanguageModel:
        """Return the language model in a GGUF file, in a local folder or under a hub id, in float32."""
        if Path(source).suffix == ".gguf":
            network, tokenizer, facts = *_read_gguf(Path(source)), None
        else:
            folder = find_pretrained(source)
            config = read_json(folder / LAYOUT.config)
            if not isinstance(config, dict):
                raise InputError(f"{folder / LAYOUT.config}: expected names and values, got {type(config).__name__}")
            facts = config.get("riseq")
            network = _load_network(folder, folder)
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        if network.config.eos_token_id is None:
            raise InputError(f"{source}: no eos_token_id in its config; expected a language model with an end")
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(network.eval(), tokenizer, facts)

    def save(self, folder: Path, facts: Mapping[str, Any], card: str, half: bool = False) -> None:
        """Write the model's folder whole, in transformers' layout, with ``facts`` of its training in its config."""
        state = self.network.state_dict()
        if self.network.config.tie_word_embeddings:
            state.pop("lm_head.weight", None)
        config = {**self.network.config.to_dict(), "dtype": "float16" if half else "float32"}
        config |= {"architectures": [type(self.network).__name__]}
        config |= {"seed": facts.get("settings", {}).get("seed"), "riseq": dict(facts)}
        with make_folder(folder) as work:
            save_weights(work / "model.safetensors", state, half)
            write_text(work / LAYOUT.config, json.dumps(config, indent=2, ensure_ascii=False, default=str) + "\n")
            self.tokenizer.save(str(work / "tokenizer.json"))
            write_text(work / LAYOUT.card, card)

    def make_prompt(self, example: Example) -> Source:
        """Return what the network is given of an example: the last utterances, each cut, then the question."""
        kept = example.context[-UTTERANCES:]
        truncated = len(kept) < len(example.context)
        ids: list[int] = []
        for utterance in kept:
            found = self._encode(utterance)
            truncated |= len(found) > UTTERANCE_PIECES
            ids += [*found[:UTTERANCE_PIECES], *self._line]
        question = self._encode(f" {example.question.strip()}")
        truncated |= len(question) > QUESTION_TOKENS
        question = question[:QUESTION_TOKENS]
        return Source((*ids, *self._question_mark, *question, *self._target_mark), len(question), truncated)

    def encode_target(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a target, its end among them."""
        return (*self._encode(f" {text.strip()}")[:QUESTION_TOKENS], self.end_id)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of output tokens: their first line."""
        lines = self.tokenizer.decode(list(ids), skip_special_tokens=True).strip().splitlines()
        return lines[0].strip() if lines else ""

    def write(self, examples: Sequence[Example]) -> list[Generated]:
        """Return what the network greedily writes after each example."""

        longer = find_longer(self.facts)

        def run(batch: list[Source], device: torch.device) -> list[list[int]]:
            ids, mask = pad([prompt.ids for prompt in batch], self.end_id, "left")
            limits = [min(QUESTION_TOKENS, prompt.question + longer) for prompt in batch]
            return generate(self.network, (ids.to(device), mask.to(device)), limits, self.end_id)

        return write_outputs(self.network, [self.make_prompt(example) for example in examples], run, self.decode)

    def _encode(self, text: str) -> list[int]:
        # Half a surrogate pair has no UTF-8 form.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        found: list[int] = self.tokenizer.encode(clean, add_special_tokens=False).ids
        return found


def _read_gguf(path: Path) -> tuple[Any, Tokenizer]:
    """Return the network in a GGUF file (llama.cpp's format), its packed weights as floats, and its tokenizer."""
    from transformers import AutoTokenizer

    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a GGUF file")
    file = str(path.resolve())  # transformers also looks for a bare name where the process was started
    try:
        network = _load_network(path, path.parent, gguf_file=file)
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=file, local_files_only=True)
    except ImportError as error:
        install = INSTALL.format(extra="train")
        raise MissingExtra(f"{path}: a GGUF file needs the package 'gguf'; install it with: {install}") from error
    # It is floats now; a model that is marked as packed is neither cast nor saved as a plain one.
    if quantizer := getattr(network, "hf_quantizer", None):
        quantizer.remove_quantization_config(network)
    return network, tokenizer.backend_tokenizer


def _load_network(source: Path, folder: Path, **options: str) -> Any:
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    if "TRANSFORMERS_VERBOSITY" not in os.environ:
        # Its bar for reading weights would stand among results and our own bar.
        logging.disable_progress_bar()
    try:
        return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True, **options)
    except (ValueError, KeyError, IndexError, OSError, RuntimeError, struct.error) as error:
        first = next(iter(str(error).splitlines()), "")
        raise InputError(f"{source}: not a language model that transformers reads ({first})") from error
