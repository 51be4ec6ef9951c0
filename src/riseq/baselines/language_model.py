"""A decoder-only language model that writes the conversational question after context and question (QuerySim)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from riseq.baselines.generator import read_facts_file
from riseq.files import make_folder
from riseq.hub import find_pretrained
from riseq.model.checkpoint import save_weights
from riseq.model.inputs import UTTERANCE_PIECES, UTTERANCES
from riseq.types import Example, InputError

QUESTION_TOKENS = 64
"""A longer question is read, and a longer output written, up to here."""
ASKED = "\nQuestion:"
ANSWERED = "\nFollow-up:"


@dataclass(frozen=True, slots=True)
class Prompt:
    """The tokens a question is asked with, and how many of them are the question's own."""

    ids: tuple[int, ...]
    question: int
    truncated: bool


class LanguageModel:
    """A causal network of transformers with its tokenizer."""

    def __init__(self, network: Any, tokenizer: Tokenizer, facts: Mapping[str, Any] | None = None) -> None:
        self.network, self.tokenizer = network, tokenizer
        self.facts = dict(facts or {})
        end = network.config.eos_token_id
        self.end_id = int(end[0] if isinstance(end, list | tuple) else end)
        self._asked = self._cut(ASKED)
        self._answered = self._cut(ANSWERED)
        self._line = self._cut("\n")

    @classmethod
    def load(cls, source: str | Path) -> LanguageModel:
        """Return the language model in a local folder or under a hub id, in float32."""
        folder = find_pretrained(source)
        config = read_facts_file(folder / "config.json")
        _quieten()
        from transformers import AutoModelForCausalLM

        try:
            network: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
        except (ValueError, OSError, RuntimeError) as error:
            first = next(iter(str(error).splitlines()), "")
            raise InputError(f"{folder}: not a language model that transformers reads ({first})") from error
        if network.config.eos_token_id is None:
            raise InputError(f"{folder / 'config.json'}: no eos_token_id; expected a language model with an end")
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(network.eval(), tokenizer, config.get("riseq"))

    def save(self, folder: Path, facts: Mapping[str, Any], card: str, half: bool = False) -> None:
        """Write the model's folder whole, as transformers has them, with what is known of its making in its config."""
        state = self.network.state_dict()
        if self.network.config.tie_word_embeddings:
            state.pop("lm_head.weight", None)
        config = {**self.network.config.to_dict(), "dtype": "float16" if half else "float32"}
        config |= {"seed": facts.get("settings", {}).get("seed"), "riseq": dict(facts)}
        with make_folder(folder) as work:
            save_weights(work / "model.safetensors", state, half)
            text = json.dumps(config, indent=2, ensure_ascii=False, default=str) + "\n"
            (work / "config.json").write_text(text, encoding="utf-8")
            self.tokenizer.save(str(work / "tokenizer.json"))
            (work / "README.md").write_text(card, encoding="utf-8")

    def ask(self, example: Example) -> Prompt:
        """Return what the network is given of an example: the last utterances, each cut, then the question."""
        kept = example.context[-UTTERANCES:]
        truncated = len(kept) < len(example.context)
        ids: list[int] = []
        for utterance in kept:
            cut = self._cut(utterance)
            truncated |= len(cut) > UTTERANCE_PIECES
            ids += [*cut[:UTTERANCE_PIECES], *self._line]
        question = self._cut(f" {example.question.strip()}")
        truncated |= len(question) > QUESTION_TOKENS
        question = question[:QUESTION_TOKENS]
        return Prompt((*ids, *self._asked, *question, *self._answered), len(question), truncated)

    def answer(self, text: str) -> tuple[int, ...]:
        """Return the tokens of a target, its end among them."""
        return (*self._cut(f" {text.strip()}")[:QUESTION_TOKENS], self.end_id)

    def read(self, ids: Sequence[int]) -> str:
        """Return the text of written tokens: their first line."""
        lines = self.tokenizer.decode(list(ids), skip_special_tokens=True).strip().splitlines()
        return lines[0].strip() if lines else ""

    def _cut(self, text: str) -> list[int]:
        # Half a surrogate pair has no UTF-8 form.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        found: list[int] = self.tokenizer.encode(clean, add_special_tokens=False).ids
        return found


def pad_right(rows: Sequence[Sequence[int]], pad_id: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return ids and mask of rows that all begin in the first column.

    Padding on the left would leave its own places nothing to attend to, which is not a number in some kernels.
    """
    width = max(len(row) for row in rows)
    ids = np.full((len(rows), width), pad_id, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    ids_BL, mask_BL = (torch.from_numpy(array).to(device, non_blocking=True) for array in (ids, mask))
    return ids_BL, mask_BL


class LanguageModelStepper:
    """A language model at work on a batch of prompts, one output each; the keys and values of the past are kept."""

    def __init__(self, model: LanguageModel, prompts: Sequence[Prompt], device: torch.device) -> None:
        self.network = model.network
        # Each prompt's last token is its first step: so the step's place is the same whatever the prompt's length.
        self.ids, self.mask = pad_right([prompt.ids[:-1] for prompt in prompts], model.end_id, device)
        self.last = torch.tensor([[prompt.ids[-1]] for prompt in prompts], device=device)
        self.positions = self.mask.sum(1, keepdim=True) - 1
        self.past: Any = None

    def begin(self) -> Tensor:
        """Return the log-probabilities of the first token, [B, 1, V]."""
        self._run(self.ids, torch.arange(self.ids.shape[1], device=self.ids.device)[None, :])
        return self.step(self.last)

    def step(self, ids_BK: Tensor) -> Tensor:
        """Return the log-probabilities of the token after ``ids_BK``, [B, 1, V]."""
        self.mask = torch.cat([self.mask, torch.ones_like(self.mask[:, :1])], dim=1)
        self.positions = self.positions + 1
        return self._run(ids_BK, self.positions).float().log_softmax(-1)

    def _run(self, ids: Tensor, positions: Tensor) -> Tensor:
        out = self.network(
            input_ids=ids,
            attention_mask=self.mask,
            position_ids=positions.expand_as(ids),
            past_key_values=self.past,
            use_cache=True,
            logits_to_keep=1,
        )
        self.past = out.past_key_values
        logits: Tensor = out.logits[:, -1:]
        return logits


def _quieten() -> None:
    """Keep transformers' bar for reading weights off the terminal, where results and our own bar are."""
    if "TRANSFORMERS_VERBOSITY" not in os.environ:
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
