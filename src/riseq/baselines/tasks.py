"""The baselines as tasks of the training loop: settings, batches, a loss, questions, and a folder."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from riseq.baselines.encoder_decoder import EncoderDecoder, collate_sources, encode_source, encode_words
from riseq.baselines.generation import Decoding, pad
from riseq.baselines.generator import Generator, GeneratorConfig, SourceBatch
from riseq.baselines.language_model import LanguageModel
from riseq.metrics.behaviour import load_scored
from riseq.model.backbone import load_backbone, load_trained_encoder, start_decoder
from riseq.model.folder import read_training_window
from riseq.model.inputs import UTTERANCE_PIECES, UTTERANCES
from riseq.model.network import pick_device
from riseq.train.corpus import MAX_WORDS, cut_batches, split_pair
from riseq.train.mixture import gather_pairs
from riseq.train.processes import Processes
from riseq.train.settings import TrainSettings
from riseq.train.task import StepLog, Stream, Task, autocast, make_rng
from riseq.train.tracking import make_fingerprint
from riseq.types import Example, InputError

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BaselineSettings(TrainSettings):
    """A baseline's training run; each field's comment is its help text."""

    system: Literal["trans++", "qgdiv", "querysim"] = "trans++"  # whose network and decoding
    # The network
    start: str | None = None  # of trans++ and qgdiv: default, large or a folder, whose encoder they begin with
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
        plain = (self.utterance_pieces, self.utterances, self.context_pieces) == (UTTERANCE_PIECES, UTTERANCES, None)
        if self.system == "querysim" and not plain:
            raise InputError("querysim reads the paper's window; expected no other utterances or pieces")
        if self.system == "querysim" and self.start is not None:
            raise InputError("start: querysim has a network of its own; expected a backbone alone")
        TrainSettings.__post_init__(self)


_ABOUT = {
    "trans++": "Trans++ (Vakulenko et al., 2020): an encoder-decoder whose next piece is a learned mixture of "
    "generating, copying from the question and copying from the context; greedy decoding.",
    "qgdiv": "QGDiv (Sultan et al., 2020): an encoder-decoder with beam search.",
    "querysim": "QuerySim (Yu et al., 2020): a language model that writes the conversational question after context "
    "and question; greedy decoding.",
}


class BaselineTask(Task):
    """What the baselines' tasks share: pairs with their targets given, in batches of like length."""

    settings_class = BaselineSettings
    pretrained: ClassVar[str]
    """What the names of the parameters begin with that learn at the rate of what is pretrained."""
    model: EncoderDecoder | LanguageModel
    lengths: Index
    """How long each pair is."""

    def __init__(self, settings: BaselineSettings, processes: Processes) -> None:
        """Load the pairs and the network, the same for the same settings."""
        if processes.count > 1:
            raise InputError(f"{settings.system}: one process trains a baseline; got {processes.count}")
        self.settings, self.device = settings, pick_device(settings.device, settings.bfloat16)
        torch.manual_seed(settings.seed)
        gathered, _ = gather_pairs(settings, make_rng(settings.seed, Stream.DATA))
        pairs = [example for example, _ in gathered if example.target]
        examples = [one for one in pairs if max(map(len, split_pair(one))) <= MAX_WORDS + 1]  # no longer than RISE's
        self.dev = {name: load_scored(name, need_target=True)[: settings.limit] for name in settings.dev}
        self.fingerprint = make_fingerprint(settings, examples)
        self.log = StepLog()
        self.title, self.about = f"{settings.system}, a baseline", _ABOUT[settings.system]
        self.made_from = f"Started from `{settings.start or settings.backbone}`"
        self._load(examples)
        self.model.facts = {"settings": asdict(settings)}  # what it reads and how much it writes
        self.network = self.model.network.to(self.device)

    @abstractmethod
    def _load(self, examples: Sequence[Example]) -> None:
        """Load the model, and read the pairs as it does."""

    @abstractmethod
    def _prepare(self, index: Index, copy: bool) -> Any:
        """Return the pairs at ``index`` as a batch on the CPU; where ``copy``, their target is their question."""

    @abstractmethod
    def _loss(self, batch: Any) -> Tensor:
        """Return the mean loss of the batch's target pieces."""

    def peak_rate(self, name: str) -> float:
        """Return the parameter's peak learning rate."""
        return self.settings.lr if name.startswith(self.pretrained) else self.settings.head_lr

    def start_epoch(self, epoch: int, rng: np.random.Generator) -> tuple[int, Iterator[tuple[Any, int]]]:
        """Return the pairs in batches; in a copying epoch their target is their question."""
        batches = cut_batches(self.lengths, self.settings.batch, rng)
        copy = epoch < self.settings.copy_epochs
        return len(batches), ((self._prepare(index, copy), len(index)) for index in batches)

    def learn(self, batch: tuple[Any, int]) -> None:
        """Add the gradients of the batch's mean loss."""
        prepared, pairs = batch
        with autocast(self.device, self.settings.bfloat16):
            loss = self._loss(prepared)
        loss.backward()  # type: ignore[no-untyped-call]
        self.log.losses.append(loss.detach())
        self.log.weight += 1
        self.log.states += pairs

    def predict(self, name: str) -> list[str]:
        """Return the question that the network writes for each example of the dev set ``name``."""
        return [written.text for written in self.model.write(self.dev[name])]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        self.model.save(folder, facts, card, self.settings.half)


class EncoderDecoderTask(BaselineTask):
    """An encoder-decoder on its training pairs."""

    pretrained = "encoder."  # the decoder has to learn another trade than its layers had
    model: EncoderDecoder

    def _load(self, examples: Sequence[Example]) -> None:
        settings = self.settings
        backbone = load_trained_encoder(settings.start) if settings.start else load_backbone(settings.backbone)
        copies = settings.system == "trans++"
        pieces = backbone.pieces
        net = Generator(GeneratorConfig(backbone.config, settings.decoder_layers, copies, settings.dropout))
        start_decoder(net.encoder, net.decoder, net.positions, net.norm, backbone)
        decoding = Decoding("beams", settings.beams) if settings.system == "qgdiv" else Decoding()
        self.model = EncoderDecoder(net, pieces, decoding=decoding)
        window = read_training_window({"settings": asdict(settings)})
        self.sources = [encode_source(pieces, example, window) for example in examples]
        self.targets = [encode_words(pieces, example.target or "")[0] for example in examples]
        self.questions = [source.ids[-1 - source.question : -1] for source in self.sources]
        self.lengths = np.array([len(source.ids) for source in self.sources], dtype=np.int64)

    def _prepare(self, index: Index, copy: bool) -> tuple[SourceBatch, Tensor, Tensor, Tensor]:
        """Return sources, the output up to each piece, that piece, and 0 at padding."""
        wanted = [self.questions[k] if copy else self.targets[k] for k in index]
        pieces = self.model.pieces
        before, _ = pad([(pieces.cls_id, *ids) for ids in wanted], pieces.pad_id)
        sources = collate_sources([self.sources[k] for k in index], pieces)
        return sources, before, *pad([(*ids, pieces.sep_id) for ids in wanted], pieces.pad_id)

    def _loss(self, batch: tuple[SourceBatch, Tensor, Tensor, Tensor]) -> Tensor:
        before, targets, real = (part.to(self.device) for part in batch[1:])
        sources, network = batch[0].to(self.device), self.model.network
        losses_BT = network.score_targets(before, targets, sources, self.settings.smoothing)
        return (losses_BT * real).sum() / real.sum()


_UNSCORED = -100  # what torch's cross-entropy leaves out


class LanguageModelTask(BaselineTask):
    """A language model on its training pairs."""

    pretrained = ""  # all of them
    model: LanguageModel

    def _load(self, examples: Sequence[Example]) -> None:
        self.model = LanguageModel.load(self.settings.backbone)
        self.prompts = [self.model.make_prompt(example).ids for example in examples]
        self.answers = [self.model.encode_target(example.target or "") for example in examples]
        self.copies = [self.model.encode_target(example.question) for example in examples]
        pairs = zip(self.prompts, self.answers, strict=True)
        self.lengths = np.array([len(prompt) + len(answer) for prompt, answer in pairs], dtype=np.int64)

    def _prepare(self, index: Index, copy: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return prompts with their answers, and the answers alone in the columns from the first that has one."""
        wanted = [(self.copies if copy else self.answers)[k] for k in index]
        rows = [(*self.prompts[k], *answer) for k, answer in zip(index, wanted, strict=True)]
        ids, mask = pad(rows, self.model.end_id)
        starts = [len(self.prompts[k]) for k in index]
        spaced = [(*[_UNSCORED] * (start - min(starts)), *row) for start, row in zip(starts, wanted, strict=True)]
        return ids, mask, pad(spaced, _UNSCORED)[0]

    def _loss(self, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        ids, mask, labels = (part.to(self.device) for part in batch)
        out = self.network(input_ids=ids, attention_mask=mask, use_cache=False, logits_to_keep=labels.shape[1] + 1)
        logits = out.logits[:, :-1].float()
        return functional.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=_UNSCORED, label_smoothing=self.settings.smoothing
        )
