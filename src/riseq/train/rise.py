"""RISE as a task: iterative reinforce training (Algorithm 1) of an editing and a phrasing policy."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core import batch as core
from riseq.core.packed import Interner, Packed
from riseq.core.phrases import PhraseVocabulary
from riseq.model.backbone import initialise, load_backbone
from riseq.model.checkpoint import Checkpoint, load_trained, save_checkpoint
from riseq.model.inputs import Batch, ContextWindow, SpanBatch, find_spans
from riseq.model.network import Inputs, NetworkConfig, RiseNetwork, pick_device
from riseq.text.pieces import Pieces
from riseq.train import actions
from riseq.train.actions import Actions, Floats, Index, Scores, Seeds
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
    edits_BWE: Tensor
    host_BWE: Tensor
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
            rows = settings.batch // settings.micro_batches * (2 if settings.consistency else 1)
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
        for parameter in self.network.encoder.parameters():
            parameter.requires_grad_(epoch >= settings.frozen_epochs)
        if epoch in (0, settings.frozen_epochs):
            for graphs in self.graphs:
                graphs.captured.clear()  # what is trained has changed
        self.polish = epoch >= settings.epochs - settings.polish_epochs
        return len(batches), self._micro_batches(states, batches, seeds)

    def _micro_batches(self, states: States, batches: list[Index], seeds: list[Seeds]) -> Iterator[Parts]:
        """Yield the micro-batches of each step."""
        settings = self.settings
        gold = self.pool.align(states) if settings.method == "mle" else None
        for index, drawn in zip(batches, seeds, strict=True):
            mine = np.arange(len(index))[self.processes.share(len(index))]
            split = [rows for rows in np.array_split(mine, settings.micro_batches) if len(rows)]
            parts = [self._prepare(states, index[rows], drawn[rows], gold) for rows in split]
            yield parts, len(index) * (2 if settings.consistency else 1)

    def _prepare(self, states: States, index: Index, seeds: Seeds, gold: Actions | None) -> MicroBatch:
        """Return the states at ``index``; under a consistency term each stands twice, for two dropout masks."""
        if self.settings.consistency:
            index, seeds = np.concatenate([index] * 2), np.concatenate([seeds, seeds + np.uint64(1)])
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
        real = part.batch.real_BW[:, :-1]
        taken = self._act(part, forward.host_BWE.numpy()[real])
        rewards = taken.weights
        ops_BW = np.zeros(real.shape, dtype=np.int64)
        ops_BW[real] = taken.ops
        spans, chosen, span_weights = actions.credited_spans(part.batch, ops_BW, taken, part.states.words.offsets)
        weights_BW = np.zeros(real.shape, dtype=np.float32)
        weights_BW[real] = np.where(taken.lost, 0.0, np.repeat(taken.weights, part.batch.words_B))
        log.sampling_s += time.perf_counter() - began
        with autocast(self.device):
            if settings.method == "epsilon":
                loss, rewards = self._explore(forward, ops_BW)
            else:
                phrases = self._score_phrases(forward, spans)
                edits, put = forward.edits_BWE, policy.put
                loss = actions.policy_loss(edits, put(ops_BW), put(weights_BW), phrases, put(chosen), put(span_weights))
                if self.teacher is not None and settings.distill:
                    taught, taught_phrases = self.teacher.teach(forward.inputs, policy.send_spans(spans))
                    soft = actions.imitation_loss(edits, taught, put(real), phrases, taught_phrases)
                    loss = (1 - settings.distill) * loss + settings.distill * soft
            if settings.consistency:
                half = len(part.states) // 2
                pair = forward.edits_BWE[:half], forward.edits_BWE[half:]
                loss = loss + settings.consistency * actions.consistency_loss(*pair, policy.put(real[:half]))
            if self.polish:
                loss = settings.polish_mix * loss + self._polish_loss(forward, real)
        (loss / total).backward()  # type: ignore[no-untyped-call]
        log.losses.append(loss.detach())
        log.rewards += float(rewards.sum())
        log.edits += int(np.count_nonzero(taken.ops))
        log.words += len(taken.ops)
        log.states += len(part.states)
        log.weight += len(part.states)

    def _act(self, part: MicroBatch, packed: Scores) -> Actions:
        settings, index = self.settings, self.policy.index
        if part.gold is not None:
            return part.gold
        if settings.method == "epsilon":
            markers = part.states.words.offsets[:-1]
            ops = actions.draw_epsilon(packed, markers, settings.epsilon, int(part.seeds[0]))
            nothing = np.full(len(ops), -1, dtype=np.int64)
            return Actions(ops, nothing, np.ones(len(part.states)), np.zeros(len(ops), dtype=np.bool_))
        drawn = actions.draw_guided(part.states.words, part.targets, packed, part.seeds, index, settings.sampler)
        return replace(drawn, weights=self._scale(drawn.weights, part))

    def _scale(self, rewards: Floats, part: MicroBatch) -> Floats:
        bounded = self.settings.reward_scale == "bounded"
        return actions.scale_rewards(rewards, part.states.words, part.targets, self.settings.reward_floor, bounded)

    def _score_phrases(self, forward: Forward, spans: SpanBatch) -> Tensor:
        return self.network.score_phrases(forward.inputs, forward.encoded, self.policy.send_spans(spans))

    def _explore(self, forward: Forward, ops_BW: Index) -> tuple[Tensor, Floats]:
        """Return the loss and the rewards of edits drawn without a target in sight, phrases likewise (-DPS)."""
        part, index, settings = forward.part, self.policy.index, self.settings
        spans = find_spans(part.batch, ops_BW)
        if not len(spans.row_N):
            spans = actions.unweighted_span(part.batch)
        scores = self._score_phrases(forward, spans)
        best = scores.detach().argmax(-1).cpu().numpy()
        rng = np.random.default_rng(int(part.seeds[0]) + 1)
        anything = rng.integers(0, len(index.phrases), size=len(best))
        chosen = np.where(rng.random(len(best)) < settings.epsilon, anything, best).astype(np.int64)
        real = part.batch.real_BW[:, :-1]
        ops = ops_BW[real].astype(np.int8)
        phrases = np.full(len(ops), -1, dtype=np.int64)
        wanted = ops_BW[spans.row_N, spans.word_N] != 0
        phrases[(part.states.words.offsets[spans.row_N] + spans.word_N)[wanted]] = chosen[wanted]
        gain = self._scale(actions.reward(part.states.words, part.targets, ops, phrases, index), part)
        weights = (gain[:, None] * real).astype(np.float32)
        span_weights = np.where(wanted, gain[spans.row_N], 0.0).astype(np.float32)
        edits, put = forward.edits_BWE, self.policy.put
        loss = actions.policy_loss(edits, put(ops_BW), put(weights), scores, put(chosen), put(span_weights))
        return loss, gain

    def _polish_loss(self, forward: Forward, real: NDArray[np.bool_]) -> Tensor:
        """Return the policy-gradient loss of the policy's own samples, each against the others of its state.

        The reward is the first factor of Eq. 7, 1 / (1 + LD(y^(t+1), y*)).
        """
        part, policy, samples = forward.part, self.policy, self.settings.polish_samples
        rows, width = real.shape
        ops_KBW = actions.gumbel_argmax(forward.edits_BWE.detach()[None].expand(samples, -1, -1, -1))
        host = ops_KBW.cpu().numpy() * real[None]
        found = [find_spans(part.batch, host[k]) for k in range(samples)]
        spans = SpanBatch(*(np.concatenate([getattr(f, n) for f in found]) for n in SpanBatch.__slots__))
        sample_N = np.repeat(np.arange(samples), [len(f.row_N) for f in found])
        if not len(spans.row_N):
            return forward.edits_BWE.sum() * 0.0
        scores = self._score_phrases(forward, spans)
        drawn_N = actions.gumbel_argmax(scores.detach())
        phrases_KBW = np.full((samples, rows, width), -1, dtype=np.int64)
        phrases_KBW[sample_N, spans.row_N, spans.word_N] = drawn_N.cpu().numpy()
        closeness = np.empty((samples, rows), dtype=np.float32)
        for k in range(samples):
            ops = host[k][real].astype(np.int8)
            reached = actions.reach(part.states.words, ops, phrases_KBW[k][real], policy.index)
            closeness[k] = 1.0 / (1.0 + core.distances(reached, part.targets))
        advantage_KB = actions.leave_one_out(policy.put(closeness))
        taken = forward.edits_BWE[None].expand(samples, -1, -1, -1).gather(3, ops_KBW[..., None]).squeeze(3)
        edit_KB = (taken * policy.put(real)[None]).sum(-1)
        loss = -(advantage_KB * edit_KB).sum()
        chosen_N = scores.gather(1, drawn_N[:, None]).squeeze(1)
        loss = loss - (advantage_KB[policy.put(sample_N), policy.put(spans.row_N)] * chosen_N).sum()
        return loss / samples


def _make_network(settings: RiseSettings, phrases: PhraseVocabulary) -> tuple[RiseNetwork, Pieces, PhraseVocabulary]:
    """Return the network that a run begins with, its pieces and its phrases: ``phrases``, or those of its start."""
    if settings.start is None:
        backbone = load_backbone(settings.backbone, settings.keep_layers)
        pieces = Pieces.load(backbone.tokenizer)
        decoder = settings.decoder_layers, settings.decoder_input
        config = NetworkConfig(backbone.config, len(phrases), *decoder, settings.dropout, settings.grounded)
        network = RiseNetwork(config, pieces.cls_id)
        initialise(network, backbone, [pieces.encode(phrase) for phrase in phrases])
        return network, pieces, phrases
    begun = load_trained(settings.start)
    shape = begun.network.config
    for name in ("decoder_layers", "decoder_input"):
        if getattr(shape, name) != getattr(settings, name):
            raise InputError(f"{settings.start}: {name} is {getattr(shape, name)}, the run's {getattr(settings, name)}")
    conditioned = shape.conditioned or settings.grounded
    network = RiseNetwork(replace(shape, dropout=settings.dropout, conditioned=conditioned), begun.pieces.cls_id)
    network.load_state_dict({**network.state_dict(), **begun.network.state_dict()})  # a new condition adds nothing yet
    return network, begun.pieces, begun.phrases
