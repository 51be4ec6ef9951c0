"""The baselines as tasks of a training loop: batches, a loss, questions, and a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from riseq.baselines.generation import (
    Decoding,
    collate_sources,
    encode_source,
    encode_words,
    run_generator,
    run_language_model,
)
from riseq.baselines.generator import (
    Generator,
    GeneratorCheckpoint,
    GeneratorConfig,
    SourceBatch,
    initialise_generator,
    save_generator,
)
from riseq.baselines.language_model import LanguageModel, pad
from riseq.model.backbone import load_backbone
from riseq.text.pieces import Pieces
from riseq.train.baseline_loop import BaselineSettings
from riseq.types import Example

Index = NDArray[np.int64]


class Task(Protocol):
    """A network with its training pairs in the form it reads."""

    @property
    def network(self) -> nn.Module:
        """What is trained."""
        ...

    @property
    def lengths(self) -> Index:
        """How long each pair is, so that batches are of like length."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        ...

    def is_pretrained(self, name: str) -> bool:
        """Return whether the parameter ``name`` learns at the rate of what is pretrained."""
        ...

    def prepare(self, index: Index, copy: bool) -> Any:
        """Return the pairs at ``index`` as a batch on the CPU; where ``copy``, their target is their question."""
        ...

    def loss(self, batch: Any) -> Tensor:
        """Return the mean loss of the batch's target pieces."""
        ...

    def write(self, examples: Sequence[Example]) -> list[str]:
        """Return the question that the network writes for each example."""
        ...

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        ...


@dataclass(frozen=True, slots=True)
class TaughtBatch:
    """Sources, the output up to each piece, and that piece; ``real`` is false at padding."""

    sources: SourceBatch
    before_BT: Tensor
    targets_BT: Tensor
    real_BT: Tensor


class EncoderDecoderTask:
    """An encoder-decoder on its training pairs."""

    def __init__(self, settings: BaselineSettings, examples: Sequence[Example], device: torch.device) -> None:
        self.settings, self.device = settings, device
        backbone = load_backbone(settings.backbone)
        self.pieces = Pieces.load(backbone.tokenizer)
        copies = settings.system == "trans++"
        shape = GeneratorConfig(backbone.config, settings.decoder_layers, copies, settings.dropout)
        self.network = Generator(shape)
        initialise_generator(self.network, backbone)
        self.network.to(device)
        self.sources = [encode_source(self.pieces, example) for example in examples]
        self.targets = [encode_words(self.pieces, example.target or "")[0] for example in examples]
        self.questions = [source.ids[source.context + 1 : -1] for source in self.sources]
        self.lengths: Index = np.array([len(source.ids) for source in self.sources], dtype=np.int64)
        way = Decoding("beams", settings.beams) if settings.system == "qgdiv" else Decoding()
        self.decoding = way

    def is_pretrained(self, name: str) -> bool:
        """Return whether the parameter is the encoder's: the decoder has to learn another trade than its layers had."""
        return name.startswith("encoder.")

    def prepare(self, index: Index, copy: bool) -> TaughtBatch:
        """Return the pairs at ``index`` as a batch; where ``copy``, their target is their question."""
        wanted = [self.questions[k] if copy else self.targets[k] for k in index]
        pieces = self.pieces
        width = max(len(ids) for ids in wanted) + 1
        before = np.full((len(index), width), pieces.pad_id, dtype=np.int64)
        targets, real = before.copy(), np.zeros((len(index), width), dtype=np.bool_)
        for row, ids in enumerate(wanted):
            before[row, 0], before[row, 1 : len(ids) + 1] = pieces.cls_id, ids
            targets[row, : len(ids)], targets[row, len(ids)] = ids, pieces.sep_id
            real[row, : len(ids) + 1] = True
        sources = collate_sources([self.sources[k] for k in index], pieces)
        return TaughtBatch(sources, *(torch.from_numpy(array) for array in (before, targets, real)))

    def loss(self, batch: TaughtBatch) -> Tensor:
        """Return the mean negative log-likelihood of the target pieces."""
        before, targets, real = (part.to(self.device) for part in (batch.before_BT, batch.targets_BT, batch.real_BT))
        sources = batch.sources.to(self.device)
        losses_BT = self.network.score_targets(before, targets, sources, self.settings.smoothing)
        return (losses_BT * real).sum() / real.sum()

    def write(self, examples: Sequence[Example]) -> list[str]:
        """Return the question that the network writes for each example."""
        found = run_generator(self.network, self.pieces, examples, self.decoding, self.device)
        return [written.text for written in found]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        save_generator(folder, GeneratorCheckpoint(self.network, self.pieces, facts), card, self.settings.half)


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
        self.prompts = [self.model.make_prompt(example).ids for example in examples]
        self.answers = [self.model.encode_target(example.target or "") for example in examples]
        self.copies = [self.model.encode_target(example.question) for example in examples]
        pairs = zip(self.prompts, self.answers, strict=True)
        self.lengths: Index = np.array([len(prompt) + len(answer) for prompt, answer in pairs], dtype=np.int64)

    def is_pretrained(self, name: str) -> bool:  # noqa: ARG002
        """Return that every parameter is."""
        return True

    def prepare(self, index: Index, copy: bool) -> ContinuedBatch:
        """Return the pairs at ``index`` as a batch; where ``copy``, their target is their question."""
        wanted = [(self.copies if copy else self.answers)[k] for k in index]
        rows = [(*self.prompts[k], *answer) for k, answer in zip(index, wanted, strict=True)]
        ids, mask = pad(rows, self.model.end_id)
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
        return [written.text for written in run_language_model(self.model, examples, self.device)]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        self.model.save(folder, facts, card, self.settings.half)
