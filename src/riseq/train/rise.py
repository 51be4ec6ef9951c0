"""RISE as a task: iterative reinforce training (Algorithm 1) of an editing and a phrasing policy."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
import torch
from torch import Tensor

from riseq.core import batch as core
from riseq.core import chain
from riseq.core.closeness import measure_closeness
from riseq.core.edits import Op
from riseq.core.packed import Interner, Packed
from riseq.core.phrases import PhraseVocabulary
from riseq.model.backbone import initialise, load_backbone
from riseq.model.checkpoint import Checkpoint, load_trained, save_checkpoint
from riseq.model.inputs import Batch, ContextWindow, SpanBatch, find_spans
from riseq.model.network import Inputs, NetworkConfig, RiseNetwork, pick_device
from riseq.text.pieces import Pieces
from riseq.train import actions
from riseq.train.actions import Actions, Floats, Index, Scores, Seeds, reach
from riseq.train.corpus import MAX_WORDS, Lexicon, StatePool, States, build_corpus, cut_batches, load_corpus, take_rows
from riseq.train.mixture import gather_pairs
from riseq.train.policy import GraphedEncoder, Policy, load_ensemble, predict_passes
from riseq.train.processes import Processes
from riseq.train.settings import RiseSettings, TrainSettings
from riseq.train.task import StepLog, Stream, autocast, make_rng
from riseq.train.tracking import make_fingerprint
from riseq.types import Example, InputError


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """A part of a step, ready for the network: states, targets, padded input, a seed a state, gold edits for -MLD."""

    states: States
    targets: Packed
    batch: Batch
    seeds: Seeds
    gold: Actions | None = None


Parts = tuple[list[MicroBatch], int]
"""This process's part of a step in micro-batches, with the number of states of the whole step."""


@dataclass(frozen=True, slots=True)
class Forward:
    """The editing policy's answer to a micro-batch, on its way to the host."""

    part: MicroBatch
    inputs: Inputs
    encoded: Tensor
    edits: Tensor
    """[B, W, 4], or of a joint policy [B, W, 4, 4]."""
    host: Tensor
    arrived: torch.cuda.Event | None


class RiseTask:
    """RISE's network on its training pairs: sampling under the current policy, reward, policy gradient."""

    settings_class: ClassVar[type[TrainSettings]] = RiseSettings
    title = "A riseq model"
    about = "Makes self-contained questions conversational by editing them (RISE, ACL 2021)."

    def __init__(self, settings: RiseSettings, processes: Processes) -> None:
        """Load the data, the network and its teachers, the same for the same settings."""
        if settings.workers > (most := numba.config.NUMBA_NUM_THREADS):
            raise InputError(f"workers: {settings.workers}, but there are {most} cores to sample on")
        self.settings, self.processes = settings, processes
        self.made_from = f"Encoder: `{settings.backbone}`; method `{settings.method}`, sampler `{settings.sampler}`"
        torch.manual_seed(settings.seed)
        pairs, phrases = gather_pairs(settings, make_rng(settings.seed, Stream.DATA))
        self.network, pieces, phrases = _make_network(settings, phrases)
        interner = Interner(word for phrase in phrases for word in phrase)
        window = ContextWindow(settings.utterance_pieces, settings.utterances, settings.context_pieces)
        self.corpus = build_corpus(pairs, interner, pieces, MAX_WORDS, window)
        dev = {name: load_corpus(name, interner, pieces, window, settings.limit) for name in settings.dev}
        self.dev_corpora = dev
        self.dev: Mapping[str, Sequence[Example]] = {name: corpus.examples for name, corpus in dev.items()}
        self.lexicon = Lexicon(interner, pieces, phrases)
        self.device = pick_device(settings.device)
        self.network.to(self.device)
        self.policy = Policy.build(self.network, self.lexicon, self.device)
        self.teacher = load_ensemble(settings.teachers, self.lexicon, self.device) if settings.teachers else None
        self.graphs: list[GraphedEncoder] = []
        if settings.graphs and self.device.type == "cuda":
            # One a micro-batch: each has its activations in memory until its own backward pass.
            rows = settings.batch // settings.micro_batches
            self.graphs = [GraphedEncoder(self.network.encoder, rows) for _ in range(settings.micro_batches)]
        self._buffers, self._turn = [torch.empty(0)] * (settings.micro_batches + 1), 0
        self.log = StepLog()
        self.pool = StatePool(self.corpus, self.policy, settings, processes)
        self.fingerprint = make_fingerprint(settings, self.corpus.examples, phrases.to_lines())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Let the sampler use the settings' threads (0: all cores) while the block runs."""
        before, torch_threads = numba.get_num_threads(), torch.get_num_threads()
        numba.set_num_threads(self.settings.workers or numba.config.NUMBA_NUM_THREADS)
        torch.set_num_threads(torch_threads)  # both count on OpenMP, and numba's first call sets it for both
        try:
            yield
        finally:
            numba.set_num_threads(before)

    def peak_rate(self, name: str) -> float:
        """Return the parameter's peak rate: deeper layers learn faster where ``layer_decay`` is below 1."""
        settings, depth = self.settings, len(self.network.encoder.layers)
        if name.startswith("encoder.layers."):
            return settings.lr * settings.layer_decay ** (depth - 1 - int(name.split(".")[2]))
        if name.startswith("encoder."):
            return settings.lr * settings.layer_decay**depth
        return settings.lr if name.startswith("decoder.") else settings.head_lr

    def start_epoch(self, epoch: int, rng: np.random.Generator) -> tuple[int, Iterator[Parts]]:
        """Return the epoch's states in batches, the pool filled by the network as it is now."""
        settings = self.settings
        states = self.pool.fill(epoch, rng)
        batches = cut_batches(self.policy.count_pieces(states, self.corpus), settings.batch, rng)
        seeds = [rng.integers(0, 2**63, size=len(index), dtype=np.uint64) for index in batches]
        for name, parameter in self.network.named_parameters():
            parameter.requires_grad_(not self._is_frozen(name, epoch))
        if epoch in (0, settings.frozen_epochs):
            for graphs in self.graphs:
                graphs.captured.clear()  # what is trained has changed
        self.lowers_risk = epoch >= settings.epochs - settings.risk_epochs
        return len(batches), self._micro_batches(states, batches, seeds)

    def _is_frozen(self, name: str, epoch: int) -> bool:
        """Return whether the parameter stays as it is in this epoch."""
        settings = self.settings
        part, _, rest = name.partition(".")
        if part == "decoder":
            return settings.frozen_decoder
        if part == "conditions":
            return settings.frozen_layers > 0
        if part != "encoder":
            return False
        below = not rest.startswith("layers.") or int(rest.split(".")[1]) < settings.frozen_layers
        return epoch < settings.frozen_epochs or (settings.frozen_layers > 0 and below)

    def _micro_batches(self, states: States, batches: list[Index], seeds: list[Seeds]) -> Iterator[Parts]:
        """Yield the micro-batches of each step."""
        settings = self.settings
        gold = self.pool.align(states) if settings.method == "mle" else None
        for index, drawn in zip(batches, seeds, strict=True):
            mine = np.arange(len(index))[self.processes.share(len(index))]
            split = [rows for rows in np.array_split(mine, settings.micro_batches) if len(rows)]
            parts = [self._prepare(states, index[rows], drawn[rows], gold) for rows in split]
            yield parts, len(index)

    def _prepare(self, states: States, index: Index, seeds: Seeds, gold: Actions | None) -> MicroBatch:
        """Return the states at ``index``, ready for the network."""
        known = None if gold is None else actions.take_actions(gold, states.words.offsets, index)
        states = states.take(index)
        targets = take_rows(self.corpus.targets, states.example)
        return MicroBatch(states, targets, self.policy.collate(states, self.corpus), seeds, known)

    def learn(self, batch: Parts) -> None:
        """Add the gradients of a step's micro-batches: one is sampled while the device computes the next."""
        parts, total = batch
        for forward in [self._forward(part, slot) for slot, part in enumerate(parts)]:
            self._learn(forward, total)

    def predict(self, name: str) -> list[str]:
        """Return the dev set's questions after the last pass, lower-cased words."""
        return predict_passes(self.policy, self.lexicon, self.dev_corpora[name], self.settings.passes)[-1]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        save_checkpoint(folder, Checkpoint(self.network, self.lexicon.phrases, self.lexicon.pieces, facts), card)

    def _forward(self, part: MicroBatch, slot: int) -> Forward:
        """Return the editing policy's scores of micro-batch ``slot``, with their copy to the host under way."""
        inputs = self.policy.send(part.batch)
        with autocast(self.device):
            encoded = self.graphs[slot].encode(inputs) if self.graphs else None
            if encoded is None:
                encoded = self.network.encode(inputs)
            edits = self.network.score_edits(encoded, inputs.firsts_BW)
        if self.device.type != "cuda":
            return Forward(part, inputs, encoded, edits, edits.detach(), None)
        host = self._pinned(edits.numel()).view(edits.shape)
        host.copy_(edits.detach(), non_blocking=True)
        arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
        arrived.record()
        return Forward(part, inputs, encoded, edits, host, arrived)

    def _pinned(self, size: int) -> Tensor:
        """Return a piece of pinned memory, the buffers taken in turn: one a micro-batch is in use at a time."""
        self._turn = (self._turn + 1) % len(self._buffers)
        if self._buffers[self._turn].numel() < size:
            self._buffers[self._turn] = torch.empty(size * 2, dtype=torch.float32, pin_memory=True)
        return self._buffers[self._turn][:size]

    def _learn(self, forward: Forward, total: int) -> None:
        """Sample edits under the forward's policy and add the gradient of its loss, a part of ``total`` states."""
        part, policy, settings, log = forward.part, self.policy, self.settings, self.log
        if forward.arrived is not None:
            forward.arrived.synchronize()
        began = time.perf_counter()
        draws = self._act(forward)
        credit = actions.give_credit(part.batch, draws, part.states.words.offsets, settings.joint)
        log.sampling_s += time.perf_counter() - began
        put = policy.put
        with autocast(self.device):
            phrases = self._score_phrases(forward, credit.spans)
            edits, at = (put(credit.codes_LBW), put(credit.weights_LBW)), put(credit.at_N)
            loss = actions.policy_loss(forward.edits, *edits, phrases, at, put(credit.chosen_N), put(credit.weights_N))
            if self.teacher is not None and settings.distill:
                taught, taught_phrases = self.teacher.teach(forward.inputs, policy.send_spans(credit.spans))
                real = put(part.batch.real_BW[:, :-1])
                soft = actions.imitation_loss(forward.edits, taught, real, phrases, taught_phrases)
                loss = (1 - settings.distill) * loss + settings.distill * soft
            if self.lowers_risk:
                loss = settings.risk_mix * loss + (1 - settings.risk_mix) * self._find_risk(forward, draws[0])
        (loss / total).backward()  # type: ignore[no-untyped-call]
        log.losses.append(loss.detach())
        log.rewards += sum(float(taken.weights.sum()) for taken in draws) / len(draws)
        log.edits += int(np.count_nonzero(draws[0].ops))
        log.words += len(draws[0].ops)
        log.states += len(part.states)
        log.weight += len(part.states)

    def _act(self, forward: Forward) -> list[Actions]:
        """Return the draws of each state that are learnt from."""
        part, settings = forward.part, self.settings
        if part.gold is not None:
            return [part.gold]
        if settings.method == "epsilon":
            return [self._explore(forward, number) for number in range(settings.samples)]
        packed = forward.host.numpy()[part.batch.real_BW[:, :-1]]
        states, index = part.states.words, self.policy.index
        draws = []
        for number in range(settings.samples):
            seeds = part.seeds + np.uint64(number)
            drawn = actions.draw_guided(states, part.targets, packed, seeds, index, settings.sampler)
            draws.append(replace(drawn, weights=self._scale(drawn.weights, part)))
        return draws

    def _scale(self, rewards: Floats, part: MicroBatch) -> Floats:
        bounded = self.settings.reward_scale == "bounded"
        return actions.scale_rewards(rewards, part.states.words, part.targets, self.settings.reward_floor, bounded)

    def _score_phrases(self, forward: Forward, spans: SpanBatch) -> Tensor:
        return self.network.score_phrases(forward.inputs, forward.encoded, self.policy.send_spans(spans))

    def _explore(self, forward: Forward, number: int) -> Actions:
        """Return edits and phrases drawn without a target in sight (-DPS): the best, or anything now and then."""
        part, index, settings = forward.part, self.policy.index, self.settings
        rng = np.random.default_rng(int(part.seeds[0]) + number)
        real, words = part.batch.real_BW[:, :-1], part.states.words
        scores_BWPE = _as_chain(forward.host)
        ops_BW = chain.draw(scores_BWPE, rng, 1, settings.epsilon)[0] * real
        spans = find_spans(part.batch, ops_BW)
        ops = ops_BW[real].astype(np.int8)
        phrases = np.full(len(ops), -1, dtype=np.int64)
        if len(spans.row_N):
            with torch.no_grad():
                best = self._score_phrases(forward, spans).argmax(-1).cpu().numpy()
            anything = rng.integers(0, len(index.phrases), size=len(best))
            chosen = np.where(rng.random(len(best)) < settings.epsilon, anything, best)
            phrases[words.offsets[spans.row_N] + spans.word_N] = chosen
        rewards = actions.reward(words, part.targets, ops, phrases, index)
        nothing = 1.0 / (1.0 + core.distances(words, part.targets))  # Eq. 7 for no edit
        weights = self._scale(rewards - nothing if settings.above_nothing else rewards, part)
        spared = np.zeros(len(ops), dtype=np.bool_)
        if settings.above_nothing:
            # What was kept has no part in the difference. What lost by it is unlearnt as often as the policy itself
            # would do it: else random draws alone would push whatever is rare further down for ever.
            codes_BW1 = actions.code_ops(ops_BW, settings.joint)[:, :, None]
            odds = np.exp(np.take_along_axis(scores_BWPE.reshape(*real.shape, -1), codes_BW1, 2)[:, :, 0][real])
            spared = (ops == Op.KEEP) | ((np.repeat(weights, part.batch.words_B) < 0) & (rng.random(len(ops)) > odds))
        return Actions(ops, phrases, weights, spared)

    def _find_risk(self, forward: Forward, guided: Actions) -> Tensor:
        """Return the risk of outputs of each state: the ``guided`` one, the policy's best, and draws from it."""
        part, policy, count, joint = forward.part, self.policy, self.settings.risk_samples, self.settings.joint
        real, words = part.batch.real_BW[:, :-1], part.states.words
        rng, scores_BWPE = np.random.default_rng(int(part.seeds[0]) + 2), _as_chain(forward.host)
        ops_KBW = np.zeros((count, *real.shape), dtype=np.int64)
        ops_KBW[0, real] = guided.ops
        ops_KBW[1] = chain.best_path(scores_BWPE, real)
        ops_KBW[2:] = chain.draw(scores_BWPE, rng, count - 2) * real
        found = [find_spans(part.batch, ops_BW) for ops_BW in ops_KBW]
        sample_N = np.repeat(np.arange(count), [len(spans.row_N) for spans in found])
        row_N, word_N = (np.concatenate([getattr(spans, name) for spans in found]) for name in ("row_N", "word_N"))
        phrases_KBW = np.full(ops_KBW.shape, -1, dtype=np.int64)
        scores_KB = actions.take_scores(forward.edits, policy.put(actions.code_ops(ops_KBW, joint)))
        scores_KB = (scores_KB * policy.put(real)).sum(-1)
        if len(row_N):
            spans, at_N = actions.merge_spans(found)
            scores_UP, at = self._score_phrases(forward, spans), policy.put(at_N)
            drawn_N = actions.gumbel_argmax(scores_UP.detach()[at])
            chosen_N = torch.where(policy.put(sample_N == 1), scores_UP.detach().argmax(-1)[at], drawn_N).cpu().numpy()
            known = guided.phrases[words.offsets[row_N] + word_N]
            chosen_N = np.where(sample_N == 0, known, chosen_N)
            phrases_KBW[sample_N, row_N, word_N] = chosen_N
            flat = policy.put(sample_N * len(real) + row_N)
            taken_N = scores_UP[at, policy.put(chosen_N.clip(0))]
            scores_KB = scores_KB + scores_KB.new_zeros(scores_KB.numel()).index_add(0, flat, taken_N).view_as(
                scores_KB
            )
        every = np.tile(np.arange(len(real)), count)
        made = reach(
            take_rows(words, every),
            ops_KBW[:, real].ravel().astype(np.int8),
            phrases_KBW[:, real].ravel(),
            policy.index,
        )
        closeness = measure_closeness(made, take_rows(part.targets, every)).reshape(count, -1)
        out_KB = actions.find_repeated(np.concatenate([ops_KBW, phrases_KBW], axis=2))
        out_KB[0] |= np.bincount(np.repeat(np.arange(len(real)), part.batch.words_B), guided.lost, len(real)) > 0
        return actions.risk_loss(scores_KB, policy.put(closeness.astype(np.float32)), policy.put(out_KB))


def _as_chain(host: Tensor) -> Scores:
    """Return scores [B, W, P, 4], with one P where the policy is independent."""
    scores: Scores = host.float().numpy()
    return scores if scores.ndim == 4 else scores[:, :, None]


def _make_network(settings: RiseSettings, phrases: PhraseVocabulary) -> tuple[RiseNetwork, Pieces, PhraseVocabulary]:
    """Return the network that a run begins with, its pieces and its phrases: ``phrases``, or those of its start."""
    if settings.start is None:
        backbone = load_backbone(settings.backbone, settings.keep_layers)
        pieces = Pieces.load(backbone.tokenizer)
        decoder = settings.decoder_layers, settings.decoder_input
        config = NetworkConfig(
            backbone.config, len(phrases), *decoder, settings.dropout, settings.grounded, settings.joint
        )
        network = RiseNetwork(config, pieces.cls_id)
        initialise(network, backbone, [pieces.encode(phrase) for phrase in phrases])
        return network, pieces, phrases
    begun = load_trained(settings.start)
    shape = begun.network.config
    for name in ("decoder_layers", "decoder_input"):
        if getattr(shape, name) != getattr(settings, name):
            raise InputError(f"{settings.start}: {name} is {getattr(shape, name)}, the run's {getattr(settings, name)}")
    conditioned, joint = shape.conditioned or settings.grounded, shape.joint or settings.joint
    shape = replace(shape, dropout=settings.dropout, conditioned=conditioned, joint=joint)
    network = RiseNetwork(shape, begun.pieces.cls_id)
    network.load_state_dict({**network.state_dict(), **begun.network.state_dict()})  # what is new adds nothing yet
    return network, begun.pieces, begun.phrases
