"""What a run starts from: the data as packed integers, the lexicon, the network, the teachers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from riseq.core.packed import Interner
from riseq.core.phrases import PhraseVocabulary
from riseq.data.dataset import load_dataset
from riseq.model.backbone import Backbone, initialise, load_backbone
from riseq.model.checkpoint import load_checkpoint
from riseq.model.network import Ensemble, NetworkConfig, RiseNetwork, pick_device
from riseq.text.pieces import Pieces
from riseq.train.augment import borrow_answers, drop_answers, swap_entities
from riseq.train.corpus import MAX_WORDS, Corpus, Lexicon, build_corpus, split_pair
from riseq.train.policy import Policy
from riseq.train.random_streams import Stream, make_rng
from riseq.train.settings import TrainSettings
from riseq.types import Example, InputError


@dataclass(frozen=True, slots=True)
class Setup:
    """A run's data and network before its first step."""

    train: Corpus
    dev: dict[str, Corpus]
    lexicon: Lexicon
    policy: Policy
    fingerprint: str
    """Changes with the data, the vocabulary and the settings: a checkpoint of another one is refused."""


@contextmanager
def sampler_threads(workers: int) -> Iterator[None]:
    """Let the sampler use ``workers`` threads (0: all cores) while the block runs."""
    import numba

    most, torch_threads = numba.config.NUMBA_NUM_THREADS, torch.get_num_threads()
    if workers > most:
        raise InputError(f"workers: {workers}, but there are {most} cores to sample on")
    before = numba.get_num_threads()
    numba.set_num_threads(workers or most)
    torch.set_num_threads(torch_threads)  # both count on OpenMP, and numba's first call sets it for both
    try:
        yield
    finally:
        numba.set_num_threads(before)


def prepare(settings: TrainSettings) -> Setup:
    """Return everything a run starts from, the same for the same settings."""
    torch.manual_seed(settings.seed)
    backbone = load_backbone(settings.backbone, settings.keep_layers)
    pieces = Pieces.load(backbone.tokenizer)
    examples, phrases = gather_examples(settings)
    interner = Interner(word for phrase in phrases for word in phrase)
    train = build_corpus(examples, interner, pieces, MAX_WORDS)
    dev = {name: build_corpus(load_dataset(name)[: settings.limit], interner, pieces) for name in settings.dev}
    lexicon = Lexicon(interner, pieces, phrases)
    network = build_network(backbone, lexicon, settings)
    if settings.start is not None:
        begun = load_checkpoint(settings.start)
        if begun.phrases != phrases or begun.network.config.backbone != network.config.backbone:
            raise InputError(
                f"{settings.start}: another backbone or other phrases than the run's; start needs the same"
            )
        network.load_state_dict(begun.network.state_dict())
    policy = Policy.build(network, lexicon, pick_device(settings.device))
    network.to(policy.device)
    return Setup(train, dev, lexicon, policy, _fingerprint(settings, train.examples, phrases))


def gather_examples(settings: TrainSettings) -> tuple[list[Example], PhraseVocabulary]:
    """Return the training pairs with what is made from them, and the phrases of the pairs as they came."""
    rng = make_rng(settings.seed, Stream.DATA)
    plain: list[Example] = []
    answered: list[Example] = []
    for name in settings.train:
        rows = [e for e in load_dataset(name)[: settings.limit] if e.context and e.target is not None]
        (answered if ".qa" in Path(name).name else plain).extend(rows)
    examples = plain + answered
    if not examples:
        raise InputError(f"{', '.join(settings.train)}: no pair with a context and a target to learn from")
    phrases = build_phrases(examples, settings)
    answers = [utterance for e in answered for utterance in e.context[1::2]]
    made = drop_answers(answered, settings.drop_answers, rng)
    made += borrow_answers(plain, answers, settings.borrow_answers, rng)
    made += swap_entities(examples, settings.swap, rng)
    return examples + made, phrases


def build_phrases(examples: Iterable[Example], settings: TrainSettings) -> PhraseVocabulary:
    """Return the phrase vocabulary of the training pairs."""
    pairs = (split_pair(example) for example in examples)
    return PhraseVocabulary.from_pairs(pairs, settings.phrases, settings.min_count)


def build_network(backbone: Backbone, lexicon: Lexicon, settings: TrainSettings) -> RiseNetwork:
    """Return the network started from the backbone."""
    config = NetworkConfig(
        backbone=backbone.config,
        phrases=len(lexicon.phrases),
        decoder_layers=settings.decoder_layers,
        decoder_input=settings.decoder_input,
        dropout=settings.dropout,
    )
    network = RiseNetwork(config, lexicon.pieces.cls_id)
    initialise(network, backbone, [lexicon.pieces.encode(phrase) for phrase in lexicon.phrases])
    return network


def load_teacher(settings: TrainSettings, setup: Setup) -> Ensemble | None:
    """Return the teachers as one, whose phrases must be the run's own."""
    if not settings.teachers:
        return None
    return load_ensemble(settings.teachers, setup.lexicon, setup.policy.device)


def load_ensemble(folders: Sequence[str | Path], lexicon: Lexicon, device: torch.device) -> Ensemble:
    """Return checkpoints as one network over the lexicon's pieces and phrases."""
    networks, maps = [], []
    for folder in folders:
        checkpoint = load_checkpoint(folder)
        if checkpoint.phrases != lexicon.phrases:
            raise InputError(f"{folder}: its phrase vocabulary is not the run's; train both on the same data")
        networks.append(checkpoint.network)
        maps.append(torch.from_numpy(map_pieces(lexicon.pieces, checkpoint.pieces)))
    return Ensemble(networks, maps).to(device).eval()


def map_pieces(mine: Pieces, theirs: Pieces) -> NDArray[np.int64]:
    """Return, for each of my piece ids, the other vocabulary's id of the same piece."""
    special = {
        mine.cls_id: theirs.cls_id,
        mine.sep_id: theirs.sep_id,
        mine.pad_id: theirs.pad_id,
        mine.unk_id: theirs.unk_id,
    }
    table = theirs.vocabulary
    return np.array(
        [
            special.get(number, table.get(piece, theirs.unk_id))
            for piece, number in sorted(mine.vocabulary.items(), key=lambda item: item[1])
        ],
        dtype=np.int64,
    )


def _fingerprint(settings: TrainSettings, examples: Iterable[Example], phrases: PhraseVocabulary) -> str:
    # How many threads sample and whether a run can be resumed change nothing in its result.
    decisive = {name: value for name, value in asdict(settings).items() if name not in ("workers", "resumable")}
    digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode())
    for example in examples:
        digest.update(json.dumps([example.context, example.question, example.target]).encode())
    for line in phrases.to_lines():
        digest.update(line.encode())
    return digest.hexdigest()[:16]
