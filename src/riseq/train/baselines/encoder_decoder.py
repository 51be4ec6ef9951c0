"""Trans++ and QGDiv as tasks: an encoder-decoder taught by its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from riseq.model.backbone import load_backbone
from riseq.model.generator import Generator, GeneratorConfig, initialise_generator
from riseq.model.generator_checkpoint import GeneratorCheckpoint, save_generator
from riseq.model.reading import SourceBatch, collate_sources, cut_words, read_source
from riseq.model.writing import Decoding, write_by_generator
from riseq.text.pieces import Pieces
from riseq.train.baselines.settings import BaselineSettings
from riseq.train.baselines.task import Index
from riseq.types import Example


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
        self.sources = [read_source(self.pieces, example) for example in examples]
        self.targets = [cut_words(self.pieces, example.target or "")[0] for example in examples]
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
        found = write_by_generator(self.network, self.pieces, examples, self.decoding, self.device)
        return [written.text for written in found]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        save_generator(folder, GeneratorCheckpoint(self.network, self.pieces, facts), card, self.settings.half)
