"""One training step: forward, sampling under the current policy, reward, policy gradient (Algorithm 1, lines 4-13)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core import batch as core
from riseq.core.packed import Packed
from riseq.model.inputs import Batch, SpanBatch, find_spans
from riseq.model.network import Ensemble, Inputs
from riseq.train.actions import Actions, draw_epsilon, draw_guided, reach, reward, scale_rewards
from riseq.train.corpus import Corpus
from riseq.train.cuda_graphs import GraphedEncoder
from riseq.train.objective import consistency_loss, gumbel_argmax, imitation_loss, leave_one_out, policy_loss
from riseq.train.policy import Policy
from riseq.train.processes import Processes
from riseq.train.settings import TrainSettings
from riseq.train.states import States
from riseq.train.states import take as take_rows


@dataclass(frozen=True, slots=True)
class Work:
    """One micro-batch, ready for the network: states, targets, padded input, a seed a state, gold edits for -MLD."""

    states: States
    targets: Packed
    batch: Batch
    seeds: NDArray[np.uint64]
    gold: Actions | None = None


@dataclass(frozen=True, slots=True)
class Forward:
    """The editing policy's answer to a micro-batch, on its way to the host."""

    work: Work
    inputs: Inputs
    encoded: Tensor
    edits_BWE: Tensor
    host_BWE: Tensor
    arrived: torch.cuda.Event | None


@dataclass(slots=True)
class StepLog:
    """Sums over the steps since the last reading; losses stay on the device until they are read."""

    losses: list[Tensor] = field(default_factory=list)
    rewards: float = 0.0
    edits: int = 0
    words: int = 0
    states: int = 0
    sampling_s: float = 0.0

    def read(self, processes: Processes, device: torch.device) -> StepMeans:
        """Return what the steps were like on all processes together."""
        loss = torch.stack(self.losses).sum().item() if self.losses else 0.0
        sums = torch.tensor(
            [loss, self.rewards, self.edits, self.words, self.states, self.sampling_s],
            dtype=torch.float64,
            device=device,
        )
        loss, rewards, edits, words, states, sampling_s = processes.sum(sums).tolist()
        return StepMeans(
            loss=loss / max(1.0, states),
            reward=rewards / max(1.0, states),
            edited=edits / max(1.0, words),
            states=int(states),
            sampling_s=sampling_s / processes.count,
        )


@dataclass(frozen=True, slots=True)
class StepMeans:
    """Loss and reward a state, the share of words edited, how many states, and a process's seconds of sampling."""

    loss: float
    reward: float
    edited: float
    states: int
    sampling_s: float


class Learner:
    """The policy and how it learns from a batch."""

    def __init__(self, policy: Policy, settings: TrainSettings, teacher: Ensemble | None = None) -> None:
        self.policy = policy
        self.settings = settings
        self.teacher = teacher
        self.log = StepLog()
        # One a micro-batch: each has its activations in memory until its own backward pass.
        self.graphs: list[GraphedEncoder] = []
        if settings.graphs and policy.device.type == "cuda":
            rows = settings.batch // settings.micro_batches * (2 if settings.consistency else 1)
            self.graphs = [GraphedEncoder(policy.network.encoder, rows) for _ in range(settings.micro_batches)]
        self._buffers = [torch.empty(0)] * (settings.micro_batches + 1)
        self._turn = 0

    def prepare(self, states: States, corpus: Corpus, seeds: NDArray[np.uint64], gold: Actions | None = None) -> Work:
        """Return the states collated; under a consistency term each stands twice, for two dropout masks."""
        if self.settings.consistency:
            twice = np.concatenate([np.arange(len(states))] * 2)
            states, seeds = states.take(twice), np.concatenate([seeds, seeds + np.uint64(1)])
            gold = None if gold is None else _tile(gold)
        targets = take_rows(corpus.targets, states.example)
        return Work(states, targets, self.policy.collate(states, corpus), seeds, gold)

    def forward(self, work: Work, slot: int = 0) -> Forward:
        """Return the editing policy's scores of micro-batch ``slot``, with their copy to the host under way."""
        inputs = self.policy.send(work.batch)
        with self.policy.autocast():
            encoded = self.graphs[slot].encode(inputs) if self.graphs else None
            if encoded is None:
                encoded = self.policy.network.encode(inputs)
            edits = self.policy.network.score_edits(encoded, inputs.firsts_BW)
        if self.policy.device.type != "cuda":
            return Forward(work, inputs, encoded, edits, edits.detach(), None)
        host = self._pinned(edits.numel()).view(edits.shape)
        host.copy_(edits.detach(), non_blocking=True)
        arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
        arrived.record()
        return Forward(work, inputs, encoded, edits, host, arrived)

    def _pinned(self, size: int) -> Tensor:
        """Return a piece of pinned memory, the buffers taken in turn: one a micro-batch is in use at a time."""
        self._turn = (self._turn + 1) % len(self._buffers)
        if self._buffers[self._turn].numel() < size:
            self._buffers[self._turn] = torch.empty(size * 2, dtype=torch.float32, pin_memory=True)
        return self._buffers[self._turn][:size]

    def learn(self, forward: Forward, total: int, polish: bool = False) -> None:
        """Sample edits under the forward's policy and add the gradient of its loss, a part of ``total`` states."""
        work, policy, settings = forward.work, self.policy, self.settings
        if forward.arrived is not None:
            forward.arrived.synchronize()
        began = time.perf_counter()
        real = work.batch.real_BW[:, :-1]
        packed = forward.host_BWE.numpy()[real]
        actions = self._act(work, packed)
        rewards = actions.weights
        ops_BW = np.zeros(real.shape, dtype=np.int64)
        ops_BW[real] = actions.ops
        spans, said, span_weights = _credited(work.batch, ops_BW, actions, work.states.words.offsets)
        weights_BW = np.zeros(real.shape, dtype=np.float32)
        weights_BW[real] = np.where(actions.lost, 0.0, np.repeat(actions.weights, work.batch.words_B))
        self.log.sampling_s += time.perf_counter() - began
        with policy.autocast():
            if settings.method == "epsilon":
                loss, rewards = self._explore(forward, ops_BW)
            else:
                loss, phrases = self._guided_loss(forward, ops_BW, weights_BW, spans, said, span_weights)
                if self.teacher is not None and settings.distill:
                    taught, taught_phrases = self.teacher.teach(forward.inputs, policy.send_spans(spans))
                    kept = policy.put(real)
                    soft = imitation_loss(forward.edits_BWE, taught, kept, phrases, taught_phrases)
                    loss = (1 - settings.distill) * loss + settings.distill * soft
            if settings.consistency:
                half = len(work.states) // 2
                pair = forward.edits_BWE[:half], forward.edits_BWE[half:]
                loss = loss + settings.consistency * consistency_loss(*pair, policy.put(real[:half]))
            if polish:
                loss = settings.polish_mix * loss + self._polish_loss(forward, real)
        (loss / total).backward()  # type: ignore[no-untyped-call]
        self.log.losses.append(loss.detach())
        self.log.rewards += float(rewards.sum())
        self.log.edits += int(np.count_nonzero(actions.ops))
        self.log.words += len(actions.ops)
        self.log.states += len(work.states)

    def _act(self, work: Work, packed: NDArray[np.float32]) -> Actions:
        settings, index = self.settings, self.policy.index
        if work.gold is not None:
            return work.gold
        if settings.method == "epsilon":
            markers = work.states.words.offsets[:-1]
            ops = draw_epsilon(packed, markers, settings.epsilon, int(work.seeds[0]))
            nothing = np.full(len(ops), -1, dtype=np.int64)
            return Actions(ops, nothing, np.ones(len(work.states)), np.zeros(len(ops), dtype=np.bool_))
        drawn = draw_guided(work.states.words, work.targets, packed, work.seeds, index, settings.sampler)
        weights = scale_rewards(
            drawn.weights, work.states.words, work.targets, settings.reward_floor, settings.reward_scale == "bounded"
        )
        return Actions(drawn.ops, drawn.phrases, weights, drawn.lost)

    def _guided_loss(
        self,
        forward: Forward,
        ops_BW: NDArray[np.int64],
        weights_BW: NDArray[np.float32],
        spans: SpanBatch,
        said: NDArray[np.int64],
        span_weights: NDArray[np.float32],
    ) -> tuple[Tensor, Tensor]:
        put = self.policy.put
        # A batch without a span still runs the decoder, on one span without weight, so that every step is alike.
        phrases = self.policy.network.score_phrases(forward.inputs, forward.encoded, self.policy.send_spans(spans))
        loss = policy_loss(forward.edits_BWE, put(ops_BW), put(weights_BW), phrases, put(said), put(span_weights))
        return loss, phrases

    def _explore(self, forward: Forward, ops_BW: NDArray[np.int64]) -> tuple[Tensor, NDArray[np.float64]]:
        """Return the loss and the rewards of edits drawn without a target in sight, phrases likewise (-DPS)."""
        work, index, settings = forward.work, self.policy.index, self.settings
        spans = find_spans(work.batch, ops_BW)
        if not len(spans.row_N):
            spans = _no_span(work.batch)
        scores = self.policy.network.score_phrases(forward.inputs, forward.encoded, self.policy.send_spans(spans))
        best = scores.detach().argmax(-1).cpu().numpy()
        rng = np.random.default_rng(int(work.seeds[0]) + 1)
        anything = rng.integers(0, len(index.phrases), size=len(best))
        said = np.where(rng.random(len(best)) < settings.epsilon, anything, best).astype(np.int64)
        real = work.batch.real_BW[:, :-1]
        ops = ops_BW[real].astype(np.int8)
        phrases = np.full(len(ops), -1, dtype=np.int64)
        wanted = ops_BW[spans.row_N, spans.word_N] != 0
        phrases[(work.states.words.offsets[spans.row_N] + spans.word_N)[wanted]] = said[wanted]
        gain = reward(work.states.words, work.targets, ops, phrases, index)
        gain = scale_rewards(
            gain, work.states.words, work.targets, settings.reward_floor, settings.reward_scale == "bounded"
        )
        weights = (gain[:, None] * real).astype(np.float32)
        span_weights = np.where(wanted, gain[spans.row_N], 0.0).astype(np.float32)
        put = self.policy.put
        return policy_loss(forward.edits_BWE, put(ops_BW), put(weights), scores, put(said), put(span_weights)), gain

    def _polish_loss(self, forward: Forward, real: NDArray[np.bool_]) -> Tensor:
        """Return the policy-gradient loss of the policy's own samples, each against the others of its state.

        The reward is the first factor of Eq. 7, 1 / (1 + LD(y^(t+1), y*)).
        """
        work, policy, samples = forward.work, self.policy, self.settings.polish_samples
        rows, width = real.shape
        ops_KBW = gumbel_argmax(forward.edits_BWE.detach()[None].expand(samples, -1, -1, -1))
        host = ops_KBW.cpu().numpy() * real[None]
        found = [find_spans(work.batch, host[k]) for k in range(samples)]
        spans = SpanBatch(*(np.concatenate([getattr(f, n) for f in found]) for n in SpanBatch.__slots__))
        sample_N = np.repeat(np.arange(samples), [len(f.row_N) for f in found])
        if not len(spans.row_N):
            return forward.edits_BWE.sum() * 0.0
        scores = policy.network.score_phrases(forward.inputs, forward.encoded, policy.send_spans(spans))
        said_N = gumbel_argmax(scores.detach())
        said = said_N.cpu().numpy()
        phrases_KBW = np.full((samples, rows, width), -1, dtype=np.int64)
        phrases_KBW[sample_N, spans.row_N, spans.word_N] = said
        closeness = np.empty((samples, rows), dtype=np.float32)
        for k in range(samples):
            ops = host[k][real].astype(np.int8)
            reached = reach(work.states.words, ops, phrases_KBW[k][real], policy.index)
            closeness[k] = 1.0 / (1.0 + core.distances(reached, work.targets))
        advantage_KB = leave_one_out(policy.put(closeness))
        taken = forward.edits_BWE[None].expand(samples, -1, -1, -1).gather(3, ops_KBW[..., None]).squeeze(3)
        edit_KB = (taken * policy.put(real)[None]).sum(-1)
        loss = -(advantage_KB * edit_KB).sum()
        chosen_N = scores.gather(1, said_N[:, None]).squeeze(1)
        loss = loss - (advantage_KB[policy.put(sample_N), policy.put(spans.row_N)] * chosen_N).sum()
        mean: Tensor = loss / samples
        return mean


def _credited(
    batch: Batch, ops_BW: NDArray[np.int64], actions: Actions, offsets: NDArray[np.int64]
) -> tuple[SpanBatch, NDArray[np.int64], NDArray[np.float32]]:
    """Return the spans whose phrase the vocabulary has, the phrases, and their states' weights."""
    spans = find_spans(batch, ops_BW)
    said = actions.phrases[offsets[spans.row_N] + spans.word_N]
    known = np.flatnonzero(said >= 0)
    if not len(known):
        return _no_span(batch), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.float32)
    spans = SpanBatch(spans.row_N[known], spans.word_N[known], spans.start_N[known], spans.end_N[known])
    return spans, said[known], actions.weights[spans.row_N].astype(np.float32)


def _no_span(batch: Batch) -> SpanBatch:
    zero = np.zeros(1, dtype=np.int64)
    return SpanBatch(zero, zero, batch.firsts_BW[:1, 0], batch.firsts_BW[:1, 0] + 1)


def _tile(actions: Actions) -> Actions:
    return Actions(*(np.concatenate([getattr(actions, name)] * 2) for name in Actions.__slots__))
