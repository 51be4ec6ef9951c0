"""The baselines as tasks of the training loop: settings, batches, a loss, questions, and a folder."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

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
from riseq.data.dataset import load_dataset
from riseq.model.backbone import load_backbone
from riseq.model.network import pick_device
from riseq.text.pieces import Pieces
from riseq.train.corpus import MAX_WORDS, cut_batches, load_pairs, split_pair
from riseq.train.processes import Processes
from riseq.train.settings import TrainSettings
from riseq.train.task import StepLog, autocast
from riseq.train.tracking import make_fingerprint
from riseq.types import Example, InputError

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BaselineSettings(TrainSettings):
    """A baseline's training run; each field's comment is its help text."""

    system: Literal["trans++", "qgdiv", "querysim"] = "trans++"  # whose network and decoding
    # The network
    decoder_layers: int = 6  # of trans++ and qgdiv, started from the encoder's last ones
    beams: int = 5  # of qgdiv's beam search; the others decode greedily
    # The optimiser
    copy_epochs: int = 0  # first epochs in which the target is the question: for a decoder that is not pretrained
    batch: int = 128  # pairs a step
    smoothing: float = 0.0  # share of the probability that the target's piece gives to all pieces
    # The run
    half: bool = False  # store the best model in float16

    def __post_init__(self) -> None:
        if self.decoder_layers < 1 or self.beams < 1:
            raise InputError("decoder_layers and beams are 1 or more")
        if not 0 <= self.copy_epochs < max(1, self.epochs):
            raise InputError(f"copy_epochs: {self.copy_epochs}; expected 0 or more, and fewer than epochs")
        if not self.copy_epochs < self.scored_from:
            raise InputError(f"scored_from: {self.scored_from}; expected after copy_epochs, up to epochs")
        TrainSettings.__post_init__(self)


_ABOUT = {
    "trans++": "Trans++ (Vakulenko et al., 2020): an encoder-decoder whose next piece is a learned mixture of "
    "generating, copying from the question and copying from the context; greedy decoding.",
    "qgdiv": "QGDiv (Sultan et al., 2020): an encoder-decoder with beam search.",
    "querysim": "QuerySim (Yu et al., 2020): a language model that writes the conversational question after context "
    "and question; greedy decoding.",
}


def gather_pairs(settings: BaselineSettings) -> list[Example]:
    """Return the training pairs, neither side longer than RISE's."""
    pairs = [example for _, found in load_pairs(settings) for example in found if example.target]
    return [example for example in pairs if max(map(len, split_pair(example))) <= MAX_WORDS + 1]


class BaselineTask(ABC):
    """What the baselines' tasks share: pairs with their targets given, in batches of like length."""

    settings_class: ClassVar[type[TrainSettings]] = BaselineSettings
    network: nn.Module
    lengths: Index
    """How long each pair is."""

    def __init__(self, settings: BaselineSettings, processes: Processes) -> None:
        """Load the pairs and the network, the same for the same settings."""
        if processes.count > 1:
            raise InputError(f"{settings.system}: one process trains a baseline; got {processes.count}")
        self.settings, self.device = settings, pick_device(settings.device)
        torch.manual_seed(settings.seed)
        examples = gather_pairs(settings)
        self.dev = {name: load_dataset(name, need_target=True)[: settings.limit] for name in settings.dev}
        self.fingerprint = make_fingerprint(settings, examples)
        self.log = StepLog()
        self.title, self.about = f"{settings.system}, a baseline", _ABOUT[settings.system]
        self.made_from = f"Started from `{settings.backbone}`"
        self.load(examples)

    @abstractmethod
    def load(self, examples: Sequence[Example]) -> None:
        """Load the network, and read the pairs as it does."""

    @abstractmethod
    def is_pretrained(self, name: str) -> bool:
        """Return whether the parameter ``name`` learns at the rate of what is pretrained."""

    @abstractmethod
    def prepare(self, index: Index, copy: bool) -> Any:
        """Return the pairs at ``index`` as a batch on the CPU; where ``copy``, their target is their question."""

    @abstractmethod
    def loss(self, batch: Any) -> Tensor:
        """Return the mean loss of the batch's target pieces."""

    def running(self) -> AbstractContextManager[None]:
        """Return the context that the run happens in, which asks for nothing."""
        return nullcontext()

    def peak_rate(self, name: str) -> float:
        """Return the parameter's peak learning rate."""
        return self.settings.lr if self.is_pretrained(name) else self.settings.head_lr

    def start_epoch(self, epoch: int, rng: np.random.Generator) -> tuple[int, Iterator[tuple[Any, int]]]:
        """Return the pairs in batches; in a copying epoch their target is their question."""
        batches = cut_batches(self.lengths, self.settings.batch, rng)
        copy = epoch < self.settings.copy_epochs
        return len(batches), ((self.prepare(index, copy), len(index)) for index in batches)

    def learn(self, batch: tuple[Any, int]) -> None:
        """Add the gradients of the batch's mean loss."""
        prepared, pairs = batch
        with autocast(self.device):
            loss = self.loss(prepared)
        loss.backward()  # type: ignore[no-untyped-call]
        self.log.losses.append(loss.detach())
        self.log.weight += 1
        self.log.states += pairs


@dataclass(frozen=True, slots=True)
class TaughtBatch:
    """Sources, the output up to each piece, and that piece; ``real`` is false at padding."""

    sources: SourceBatch
    before_BT: Tensor
    targets_BT: Tensor
    real_BT: Tensor


class EncoderDecoderTask(BaselineTask):
    """An encoder-decoder on its training pairs."""

    network: Generator

    def load(self, examples: Sequence[Example]) -> None:
        """Load the network, and read the pairs as it does."""
        settings = self.settings
        backbone = load_backbone(settings.backbone)
        self.pieces = Pieces.load(backbone.tokenizer)
        copies = settings.system == "trans++"
        shape = GeneratorConfig(backbone.config, settings.decoder_layers, copies, settings.dropout)
        self.network = Generator(shape)
        initialise_generator(self.network, backbone)
        self.network.to(self.device)
        self.sources = [encode_source(self.pieces, example) for example in examples]
        self.targets = [encode_words(self.pieces, example.target or "")[0] for example in examples]
        self.questions = [source.ids[source.context + 1 : -1] for source in self.sources]
        self.lengths = np.array([len(source.ids) for source in self.sources], dtype=np.int64)
        self.decoding = Decoding("beams", settings.beams) if settings.system == "qgdiv" else Decoding()

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

    def predict(self, name: str) -> list[str]:
        """Return the question that the network writes for each example of the dev set ``name``."""
        found = run_generator(self.network, self.pieces, self.dev[name], self.decoding, self.device)
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


class LanguageModelTask(BaselineTask):
    """A language model on its training pairs."""

    def load(self, examples: Sequence[Example]) -> None:
        """Load the network, and read the pairs as it does."""
        self.model = LanguageModel.load(self.settings.backbone)
        self.network = self.model.network.to(self.device)
        self.prompts = [self.model.make_prompt(example).ids for example in examples]
        self.answers = [self.model.encode_target(example.target or "") for example in examples]
        self.copies = [self.model.encode_target(example.question) for example in examples]
        pairs = zip(self.prompts, self.answers, strict=True)
        self.lengths = np.array([len(prompt) + len(answer) for prompt, answer in pairs], dtype=np.int64)

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

    def predict(self, name: str) -> list[str]:
        """Return the question that the network writes for each example of the dev set ``name``."""
        return [written.text for written in run_language_model(self.model, self.dev[name], self.device)]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        self.model.save(folder, facts, card, self.settings.half)
