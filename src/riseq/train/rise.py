"""RISE as a task: iterative reinforce training (Algorithm 1) of an editing and a phrasing policy."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core import batch as core
from riseq.core import chain
from riseq.core.edits import Op
from riseq.core.packed import Interner
from riseq.core.phrases import PhraseVocabulary
from riseq.model.checkpoint import Checkpoint, save_checkpoint
from riseq.model.inputs import ContextWindow, SpanBatch, find_spans
from riseq.model.network import pick_device
from riseq.train import actions
from riseq.train.actions import Actions, Floats, Index, Seeds
from riseq.train.beginning import begin
from riseq.train.corpus import (
    MAX_WORDS,
    Lexicon,
    StatePool,
    States,
    build_corpus,
    cut_batches,
    load_corpus,
    sorted_batches,
    split_pair,
    take_rows,
)
from riseq.train.graphs import GraphedDecoder, GraphedEncoder
from riseq.train.halves import HalfCopy
from riseq.train.mixture import gather_pairs
from riseq.train.phrasing import PhraseScores, WordScores
from riseq.train.policy import Policy, load_ensemble, pad_width, predict_passes
from riseq.train.processes import Processes
from riseq.train.risk import baseline_risk, expected_risk, stop_loss
from riseq.train.rollouts import Met, Recomputed, draw_outputs
from riseq.train.settings import RiseSettings, TrainSettings
from riseq.train.step import Forward, MicroBatch, Parts
from riseq.train.task import StepLog, Stream, autocast, make_rng
from riseq.train.tracking import make_fingerprint
from riseq.types import Example, InputError

T = TypeVar("T", bound=np.generic)


class RiseTask:
    """RISE's network on its training pairs: sampling under the current policy, reward, policy gradient."""

    settings_class: ClassVar[type[TrainSettings]] = RiseSettings
    title = "A riseq model"
    about: str = "Makes self-contained questions conversational by editing them (RISE, ACL 2021)."

    def __init__(self, settings: RiseSettings, processes: Processes) -> None:
        """Load the data, the network and its teachers, the same for the same settings."""
        if settings.workers > (most := numba.config.NUMBA_NUM_THREADS):
            raise InputError(f"workers: {settings.workers}, but there are {most} cores to sample on")
        self.settings, self.processes = settings, processes
        self.made_from = f"Encoder: `{settings.backbone}`; method `{settings.method}`, sampler `{settings.sampler}`"
        if settings.direction == "resolve":
            self.about = "Makes conversational questions self-contained by editing them (RISE, ACL 2021, backwards)."
        torch.manual_seed(settings.seed)
        pairs, came = gather_pairs(settings, make_rng(settings.seed, Stream.DATA))
        phrases = PhraseVocabulary.from_pairs(map(split_pair, came), settings.phrases, settings.min_count)
        window = ContextWindow(settings.utterance_pieces, settings.utterances, settings.context_pieces)
        made = begin(settings, phrases, came, window)
        self.network, pieces, phrases = made.network, made.pieces, made.phrases
        interner = Interner(word for phrase in phrases for word in phrase)
        copied = self.network.config.copies > 0
        if copied and settings.teachers:
            raise InputError(f"{settings.start}: it copies phrases, which no teacher can teach; expected no teachers")
        self.corpus = build_corpus(pairs, interner, pieces, MAX_WORDS, window, copied)
        dev = {name: load_corpus(name, interner, pieces, window, settings.limit, copied) for name in settings.dev}
        self.dev_corpora = dev
        self.dev: Mapping[str, Sequence[Example]] = {name: corpus.examples for name, corpus in dev.items()}
        self.lexicon = Lexicon(interner, pieces, phrases, made.templates)
        self.device = pick_device(settings.device, settings.bfloat16)
        self.network.to(self.device)
        self.policy = Policy.build(self.network, self.lexicon, self.device, settings.bfloat16)
        self.teacher = None
        if settings.teachers:
            hidden = self.network.config.backbone.hidden if settings.imitate else None
            self.teacher = load_ensemble(settings.teachers, self.lexicon, self.device, hidden)
        self.half = HalfCopy(self.network) if settings.half else None
        # What learns: the copy that computes, where there is one. The network itself is scored and kept.
        self.learner = self.policy if self.half is None else replace(self.policy, network=self.half.network)
        self.graphs: list[GraphedEncoder] = []
        self.decoders: list[GraphedDecoder] = []
        if settings.graphs and self.device.type == "cuda":
            # One a micro-batch: each has its activations in memory until its own backward pass.
            rows, learner = settings.batch // settings.micro_batches, self.learner.network
            self.graphs = [GraphedEncoder(learner, rows, settings.half) for _ in range(settings.micro_batches)]
            if settings.graphed_decoder:
                self.decoders = [GraphedDecoder(learner, rows, settings.half) for _ in range(settings.micro_batches)]
        self._buffers, self._turn = [torch.empty(0)] * (settings.micro_batches + 1), 0
        self.log = StepLog()
        self.pool = StatePool(self.corpus, self.policy, settings, processes)
        self.fingerprint = make_fingerprint(
            settings, self.corpus.examples, [*phrases.to_lines(), *made.templates.to_lines()]
        )

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
        if name.endswith((".narrow", ".wide")):
            return settings.head_lr
        if name.startswith("encoder.layers."):
            return settings.lr * settings.layer_decay ** (depth - 1 - int(name.split(".")[2]))
        if name.startswith("encoder."):
            return settings.lr * settings.layer_decay**depth
        return settings.lr if name.startswith("decoder.") else settings.head_lr

    def start_epoch(self, epoch: int, rng: np.random.Generator) -> tuple[int, Iterator[Parts]]:
        """Return the epoch's states in batches, the pool filled by the network as it is now."""
        settings = self.settings
        states = self.pool.fill(epoch, rng)
        lengths = self.policy.count_pieces(states, self.corpus)
        batches = cut_batches(lengths, settings.batch, rng)
        seeds = [rng.integers(0, 2**63, size=len(index), dtype=np.uint64) for index in batches]
        for name, parameter in self.network.named_parameters():
            parameter.requires_grad_(not self._is_frozen(name, epoch))
        if self.half is not None:
            self.half.follow()
        if epoch in (0, settings.frozen_epochs):
            for graphs in self.graphs:
                graphs.captured.clear()  # what is trained has changed
            for decoder in self.decoders:
                decoder.clear()
        self.network.train()
        self.learner.network.train()
        for slot, graphs in enumerate(self.graphs):
            parts = [split[slot] for index in batches if slot < len(split := self._split(index))]
            graphs.capture({pad_width(int(lengths[rows].max())) for rows in parts if len(rows) == graphs.rows})
        self.lowers_risk = epoch >= settings.epochs - settings.risk_epochs
        return len(batches), self._micro_batches(epoch, states, batches, seeds)

    def _is_frozen(self, name: str, epoch: int) -> bool:
        """Return whether the parameter stays as it is in this epoch."""
        settings = self.settings
        part, _, rest = name.partition(".")
        shape = self.network.config
        low_rank = shape.low_rank if part in ("encoder", "decoder", "conditions") else 0
        if part == "phrase_head":
            low_rank = shape.phrase_rank
        if low_rank and not name.endswith((".narrow", ".wide", ".bias")) and "norm." not in name:
            return True
        if part == "decoder":
            return settings.frozen_decoder
        if part == "conditions":
            return settings.frozen_layers > 0
        if part != "encoder":
            return False
        below = not rest.startswith("layers.") or int(rest.split(".")[1]) < settings.frozen_layers
        return epoch < settings.frozen_epochs or (settings.frozen_layers > 0 and below)

    def _micro_batches(self, epoch: int, states: States, batches: list[Index], seeds: list[Seeds]) -> Iterator[Parts]:
        """Yield the micro-batches of each step."""
        gold = self.pool.align(states) if self.pool.is_aligned(epoch) else None
        for index, drawn in zip(batches, seeds, strict=True):
            pairs = zip(self._split(index), self._split(drawn), strict=True)
            parts = [self._prepare(states, rows, seeds_of_rows, gold) for rows, seeds_of_rows in pairs]
            yield parts, len(index)

    def _split(self, batch: NDArray[T]) -> list[NDArray[T]]:
        """Return this process's part of a step in micro-batches."""
        mine = batch[self.processes.share(len(batch))]
        return [rows for rows in np.array_split(mine, self.settings.micro_batches) if len(rows)]

    def _prepare(self, states: States, index: Index, seeds: Seeds, gold: Actions | None) -> MicroBatch:
        """Return the states at ``index``, ready for the network."""
        known = None if gold is None else actions.take_actions(gold, states.words.offsets, index)
        states = states.take(index)
        targets = take_rows(self.corpus.targets, states.example)
        return MicroBatch(states, targets, self.policy.collate(states, self.corpus), seeds, known)

    def learn(self, batch: Parts) -> None:
        """Add the gradients of a step's micro-batches: one is sampled while the device computes the next."""
        parts, total = batch
        for decoder in self.decoders:
            decoder.begin()
        if self.half is not None:
            self.half.read_weights()
        for forward in [self._forward(part, slot) for slot, part in enumerate(parts)]:
            self._learn(forward, total)
        if self.half is not None:
            self.half.give_gradients()

    def _computing(self) -> AbstractContextManager[object]:
        """Return the context that the learner's passes run in: a bfloat16 copy needs no casts."""
        return autocast(self.device, self.settings.bfloat16) if self.half is None else nullcontext()

    def predict(self, name: str) -> list[str]:
        """Return the dev set's questions after the last pass, lower-cased words."""
        return predict_passes(self.policy, self.lexicon, self.dev_corpora[name], self.settings.passes)[-1]

    def save(self, folder: Path, facts: Mapping[str, Any], card: str) -> None:
        """Write the model's folder whole."""
        lexicon = self.lexicon
        saved = Checkpoint(self.network, lexicon.phrases, lexicon.pieces, facts, lexicon.templates)
        save_checkpoint(folder, saved, card)

    def _forward(self, part: MicroBatch, slot: int | None) -> Forward:
        """Return the editing policy's scores of micro-batch ``slot``, with their copy to the host under way.

        A part without a slot is a batch of rollouts: it is computed again for gradients, and its scores are waited for.
        """
        inputs, copies = self.policy.send(part.batch), self.policy.send_copies(part.batch)
        network = self.learner.network
        decoder = self.decoders[slot] if self.decoders and slot is not None else None
        with self._computing():
            encoded = self.graphs[slot].encode(inputs) if self.graphs and slot is not None else None
            if encoded is None:
                encoded = (network if slot is not None else Recomputed(network)).encode(inputs)
            edits = network.score_edits(encoded, inputs.firsts_BW)
        if slot is None:
            return Forward(part, inputs, encoded, edits, edits.detach().cpu(), None, copies)
        known = part.gold is not None and not self.lowers_risk  # nothing is drawn: no need to wait for the device
        if known or self.device.type != "cuda":
            return Forward(part, inputs, encoded, edits, edits.detach(), None, copies, decoder)
        host = self._pinned(edits.numel()).view(edits.shape)
        host.copy_(edits.detach(), non_blocking=True)
        arrived = torch.cuda.Event()  # type: ignore[no-untyped-call]
        arrived.record()
        return Forward(part, inputs, encoded, edits, host, arrived, copies, decoder)

    def _pinned(self, size: int) -> Tensor:
        """Return a piece of pinned memory, the buffers taken in turn: one a micro-batch is in use at a time."""
        self._turn = (self._turn + 1) % len(self._buffers)
        if self._buffers[self._turn].numel() < size:
            self._buffers[self._turn] = torch.empty(size * 2, dtype=torch.float32, pin_memory=True)
        return self._buffers[self._turn][:size]

    def _learn(self, forward: Forward, total: int) -> None:
        """Sample edits under the forward's policy and add the gradient of its loss, a part of ``total`` states."""
        part, policy, settings, log = forward.part, self.learner, self.settings, self.log
        if forward.arrived is not None:
            forward.arrived.synchronize()
        began = time.perf_counter()
        draws = self._act(forward, settings.samples)
        credit = actions.give_credit(part.batch, draws, part.states.words.offsets, settings.joint)
        log.sampling_s += time.perf_counter() - began
        put = policy.put
        with self._computing():
            phrases = self._score_phrases(forward, credit.spans)
            said_N = phrases.take(credit.at_N, credit.chosen_N)
            edits = put(credit.codes_LBW), put(credit.weights_LBW)
            loss = actions.policy_loss(forward.edits, *edits, said_N, put(credit.weights_N))
            if self.teacher is not None and settings.distill and isinstance(phrases, WordScores):
                with autocast(self.device, settings.bfloat16):
                    taught = self.teacher.teach(forward.inputs, policy.send_spans(credit.spans))
                real = put(part.batch.real_BW[:, :-1])
                soft = actions.imitation_loss(
                    forward.edits, taught.edits_BWPE, real, phrases.scores_UP, taught.phrases_NP
                )
                loss = (1 - settings.distill) * loss + settings.distill * soft
                if settings.imitate:
                    away = actions.distance_of_states(forward.encoded, taught.states_BLD, forward.inputs.mask_BL)
                    loss = loss + settings.imitate * away
            if self.lowers_risk:
                loss = settings.risk_mix * loss + (1 - settings.risk_mix) * self._find_risk(forward, draws[0])
        (loss / total).backward()  # type: ignore[no-untyped-call]
        log.losses.append(loss.detach())
        log.rewards += sum(float(taken.weights.sum()) for taken in draws) / len(draws)
        log.edits += int(np.count_nonzero(draws[0].ops))
        log.words += len(draws[0].ops)
        log.states += len(part.states)
        log.weight += len(part.states)

    def _act(self, forward: Forward, samples: int) -> list[Actions]:
        """Return the draws of each state that are learnt from."""
        part, settings = forward.part, self.settings
        if part.gold is not None:
            return [part.gold]
        if settings.method == "epsilon":
            return self._explore(forward, samples)
        packed = forward.host.numpy()[part.batch.real_BW[:, :-1]]
        states, index, copyable = part.states.words, self.policy.index, part.copyable
        draws = []
        for number in range(samples):
            seeds = part.seeds + np.uint64(number)
            asked = seeds, index, settings.sampler, copyable, settings.parts
            drawn = actions.draw_guided(states, part.targets, packed, *asked)
            draws.append(replace(drawn, weights=self._scale(drawn.weights, part)))
        return draws

    def _scale(self, rewards: Floats, part: MicroBatch) -> Floats:
        bounded = self.settings.reward_scale == "bounded"
        return actions.scale_rewards(rewards, part.states.words, part.targets, self.settings.reward_floor, bounded)

    def _score_phrases(self, forward: Forward, spans: SpanBatch) -> PhraseScores:
        part = forward.part
        given = forward.inputs, forward.encoded, spans, forward.copies, part.copyable
        return self.learner.score_phrases(*given, forward.decoder)

    def _explore(self, forward: Forward, samples: int) -> list[Actions]:
        """Return edits drawn without a target in sight (-DPS): the best, or anything now and then.

        Phrases are drawn as the policy has them: nobody finds the right one of a thousand by chance alone.
        """
        part, settings = forward.part, self.settings
        rng = np.random.default_rng(int(part.seeds[0]))
        real, words = part.batch.real_BW[:, :-1], part.states.words
        drawn_LBW = chain.draw(forward.as_chain(), rng, samples, settings.epsilon) * real
        found = [find_spans(part.batch, ops_BW) for ops_BW in drawn_LBW]
        phrases_LW = np.full((len(found), len(words.values)), -1, dtype=np.int64)
        if any(len(spans.row_N) for spans in found):
            spans, at_N = actions.merge_spans(found)
            with torch.no_grad():
                chosen = self._score_phrases(replace(forward, decoder=None), spans).draw(at_N)
            draw_N = np.repeat(np.arange(len(found)), [len(one.row_N) for one in found])
            place_N = np.concatenate([words.offsets[one.row_N] + one.word_N for one in found])
            phrases_LW[draw_N, place_N] = chosen
        pairs = zip(drawn_LBW, phrases_LW, strict=True)
        return [self._judge(forward, ops_BW, phrases, rng) for ops_BW, phrases in pairs]

    def _judge(self, forward: Forward, ops_BW: Index, phrases: Index, rng: np.random.Generator) -> Actions:
        """Return a draw with its reward; above that of doing nothing, what has no part in it is spared."""
        part, settings = forward.part, self.settings
        real, words = part.batch.real_BW[:, :-1], part.states.words
        ops = ops_BW[real].astype(np.int8)
        rewards = actions.reward(words, part.targets, ops, phrases, self.policy.index, part.copyable)
        if not settings.above_nothing:
            return Actions(ops, phrases, self._scale(rewards, part), np.zeros(len(ops), dtype=np.bool_))
        nothing = 1.0 / (1.0 + core.distances(words, part.targets))  # Eq. 7 for no edit
        weights = self._scale(rewards - nothing, part)
        # A gain is a tenth of what a wrong edit costs, and both are rare: their scale is set by the gains.
        weights = weights / max(float(weights[weights > 0].mean()) if (weights > 0).any() else 1.0, 1e-3)
        # What was kept has no part in the difference. What lost by it is unlearnt as often as the policy itself
        # would do it: else random draws alone would push whatever is rare further down for ever.
        codes_BW1 = actions.code_ops(ops_BW, settings.joint)[:, :, None]
        scores = forward.as_chain().reshape(*real.shape, -1)
        odds = np.exp(np.take_along_axis(scores, codes_BW1, 2)[:, :, 0][real])
        spared = (ops == Op.KEEP) | ((np.repeat(weights, part.batch.words_B) < 0) & (rng.random(len(ops)) > odds))
        return Actions(ops, phrases, weights, spared)

    def _find_risk(self, forward: Forward, guided: Actions) -> Tensor:
        """Return the loss of some of the policy's own outputs, and of the head that decides whether to stop."""
        settings, network = self.settings, self.learner.network
        count, passes = settings.risk_samples, settings.risk_passes
        outputs = draw_outputs(self.learner, forward, guided, count, passes, self._meet)
        risk = (expected_risk if settings.risk == "expected" else baseline_risk)(outputs)
        odds = network.score_stop(forward.encoded, forward.inputs.firsts_BW)
        return risk if odds is None else risk + stop_loss(odds, outputs)

    def _meet(self, states: States, rng: np.random.Generator) -> Met:
        """Yield the states that rollouts have reached in batches, with the policy's scores and guided edits of each."""
        for index in sorted_batches(self.policy.count_pieces(states, self.corpus), self.policy.most_pieces // 4):
            seeds = rng.integers(0, 2**63, size=len(index), dtype=np.uint64)
            forward = self._forward(self._prepare(states, index, seeds, None), None)
            yield index, forward, self._act(forward, 1)[0]
