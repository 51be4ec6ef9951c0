"""QuerySim as a task: a language model taught to go on with the conversational question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from riseq.model.language_model import LanguageModel, pad_right
from riseq.model.writing import write_by_language_model
from riseq.train.baselines.settings import BaselineSettings
from riseq.train.baselines.task import Index
from riseq.types import Example

_UNSCORED = -100  # what torch's cross-entropy leaves out


@dataclass(frozen=True, slots=True)
class ContinuedBatch:
    """Prompts with their answers; ``labels`` are the answers alone, of the columns from the first that has one."""

    ids_BL: Tensor
    mask_BL: Tensor
    labels_BT: Tensor


class LanguageModelTask:
    """A language model on its training pairs."""

    def __init__(self, settings: BaselineSettings, examples: Sequence[Example], device: torch.device) -> None:
        self.settings, self.device = settings, device
        self.model = LanguageModel.load(settings.backbone)
        self.network: nn.Module = self.model.network.to(device)
        self.prompts = [self.model.ask(example).ids for example in examples]
        self.answers = [self.model.answer(example.target or "") for example in examples]
        self.copies = [self.model.answer(example.question) for example in examples]
        pairs = zip(self.prompts, self.answers, strict=True)
        self.lengths: Index = np.array([len(prompt) + len(answer) for prompt, answer in pairs], dtype=np.int64)

    def is_pretrained(self, name: str) -> bool:  # noqa: ARG002
        """Return that every parameter is."""
        return True

    def prepare(self, index: Index, copy: bool) -> ContinuedBatch:
        """Return the pairs at ``index`` as a batch; where ``copy``, their target is their question."""
        wanted = [(self.copies if copy else self.answers)[k] for k in index]
        rows = [(*self.prompts[k], *answer) for k, answer in zip(index, wanted, strict=True)]
        ids, mask = pad_right(rows, self.model.end_id, torch.device("cpu"))
        starts = [len(self.prompts[k]) for k in index]
        first = min(starts)
        labels = np.full((len(rows), ids.shape[1] - first), _UNSCORED, dtype=np.int64)
        for row, (start, answer) in enumerate(zip(starts, wanted, strict=True)):
            labels[row, start - first : start - first + len(answer)] = answer
        return ContinuedBatch(ids, mask, torch.from_numpy(labels))

    def loss(self, batch: ContinuedBatch) -> Tensor:
        """Return the mean cross-entropy of the answers' tokens."""
        labels = batch.labels_BT.to(self.device)
        out = self.network(
            input_ids=batch.ids_BL.to(self.device),
            attention_mask=batch.mask_BL.to(self.device),
            use_cache=False,
            logits_to_keep=labels.shape[1] + 1,
        )
        logits = out.logits[:, :-1].float()
        return functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=_UNSCORED, label_smoothing=self.settings.smoothing
        )

    def write(self, examples: Sequence[Example]) -> list[str]:
        """Return the question that the network writes for each example."""
        return [written.text for written in write_by_language_model(self.model, examples, self.device)]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        self.model.save(folder, facts, card, self.settings.half)
