"""A network at work on packed states: batches in, edits and phrases out."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from riseq.core.batch import PhraseIndex, index_phrases
from riseq.core.chain import best_path
from riseq.core.copies import find_same
from riseq.core.copyable import BARE_ONLY, Copyable, PackedTemplates, make_copyable, pack_templates
from riseq.core.edits import Op
from riseq.core.packed import Packed, pack
from riseq.metrics.first_turns import FirstTurns
from riseq.model.checkpoint import load_trained
from riseq.model.copies import CopyBatch
from riseq.model.inputs import Batch, SpanBatch, collate, find_spans, take_ragged
from riseq.model.network import CopyInputs, Ensemble, Inputs, RiseNetwork, Spans, merge_copies
from riseq.text.pieces import Pieces
from riseq.train.actions import Index, Ops, reach
from riseq.train.corpus import Corpus, Lexicon, States, join_rows, sorted_batches, start_states, take_rows
from riseq.train.graphs import GraphedDecoder
from riseq.train.phrasing import PhraseScores, TemplateScores, WordScores
from riseq.train.task import autocast
from riseq.types import InputError

ROLLOUT_PIECES = 131_072
"""Padded pieces in one batch of a rollout on a GPU; a CPU takes a sixteenth."""
WIDTHS = (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256)
"""The lengths, in pieces, that batches are padded to."""


@dataclass(slots=True)
class Policy:
    """A network with what it needs to read states and to write phrases."""

    network: Any  # a RiseNetwork, or an Ensemble of them
    table: Packed
    index: PhraseIndex
    sep_id: int
    pad_id: int
    device: torch.device
    beside: bool = False
    """Whether an edited question is read with what it was at first before it."""
    stops: bool = False
    """Whether the network decides if its edits are taken."""
    copies: int = 0
    """The longest phrase, in words, that the network can copy; 0: none."""
    templates: PackedTemplates = BARE_ONLY
    """The templates that a copied phrase may stand in."""
    bfloat16: bool = False
    """Whether the network computes in bfloat16 on a CPU too."""

    @classmethod
    def build(cls, network: Any, lexicon: Lexicon, device: torch.device, bfloat16: bool = False) -> Policy:
        """Return the network's policy over the lexicon's words."""
        index = index_phrases(lexicon.interner.pack(lexicon.phrases))
        config = network.config if isinstance(network, RiseNetwork) else None
        templates = pack_templates(lexicon.templates, lexicon.interner)
        more = () if config is None else (config.beside, config.stops, config.copies, templates)
        ids = lexicon.pieces.sep_id, lexicon.pieces.pad_id
        made = cls(network, lexicon.piece_table(), index, *ids, device, *more)
        made.bfloat16 = bfloat16
        return made

    @property
    def most_pieces(self) -> int:
        """How many padded pieces one batch of a rollout has at most."""
        return ROLLOUT_PIECES if self.device.type == "cuda" else ROLLOUT_PIECES // 16

    def count_pieces(self, states: States, corpus: Corpus) -> Index:
        """Return how many pieces the network reads for each state."""
        ends = np.concatenate([[0], np.cumsum(self.table.lengths[states.words.values])])
        question = ends[states.words.offsets[1:]] - ends[states.words.offsets[:-1]]
        context = corpus.contexts.lengths[states.example]
        edited = self._find_edited(states, corpus)
        if len(edited):
            asked = take_rows(corpus.sources, states.example[edited])
            context[edited] += np.bincount(
                np.repeat(np.arange(len(edited)), asked.lengths), self.table.lengths[asked.values], len(edited)
            ).astype(np.int64)
        lengths: Index = context + question + 1
        return lengths

    def _find_edited(self, states: States, corpus: Corpus) -> Index:
        """Return the states that are read with the question as it was asked: those that are no longer it."""
        if not self.beside:
            return np.zeros(0, dtype=np.int64)
        pairs = zip(states.words, (corpus.sources[k] for k in states.example), strict=True)
        return np.flatnonzero([not np.array_equal(now, first) for now, first in pairs])

    def collate(self, states: States, corpus: Corpus) -> Batch:
        """Return the padded batch of ``states``."""
        contexts = take_ragged(corpus.contexts.values, corpus.contexts.offsets, states.example)
        edited = self._find_edited(states, corpus)
        if len(edited):
            rows = np.split(contexts[0], np.cumsum(contexts[1])[:-1])
            for k in edited:  # the marker of the question as it was asked is a [SEP], as before every utterance
                asked = [self.table[word] for word in corpus.sources[states.example[k]]]
                rows[k] = np.concatenate([rows[k], *asked])
            contexts = np.concatenate(rows), np.array([len(row) for row in rows], dtype=np.int64)
        words = states.words.values.astype(np.int64), states.words.lengths
        table = self.table.values, self.table.offsets
        condition = corpus.condition[states.example]
        batch = collate(contexts, words, table, self.sep_id, self.pad_id, pad_width, condition)
        copyable = self.find_copyable(states, corpus, edited)
        if copyable is None:
            return batch
        same = find_same(copyable, self.index) if len(self.templates) == 1 else None
        counts = self.table.lengths[copyable.words.values]
        return replace(batch, copies=CopyBatch(copyable, counts, same, len(self.index.phrases)))

    def find_copyable(self, states: States, corpus: Corpus, edited: Index | None = None) -> Copyable | None:
        """Return the words that the network reads for each state, as what it copies from; None where it does not."""
        if not self.copies:
            return None
        if corpus.shown is None:
            raise ValueError("phrases are copied from a corpus that keeps its contexts' words")
        edited = self._find_edited(states, corpus) if edited is None else edited
        asked = take_rows(corpus.sources, states.example[edited])
        lengths = np.zeros(len(states), dtype=np.int64)
        lengths[edited] = asked.lengths
        beside = Packed(asked.values, np.concatenate([[0], np.cumsum(lengths)]))
        read = join_rows([take_rows(corpus.shown, states.example), beside, states.words])
        return make_copyable(read, self.copies, self.templates)

    def send(self, batch: Batch) -> Inputs:
        """Return the batch on the device."""
        firsts = batch.firsts_BW[:, :-1]
        arrays = (batch.ids_BL, batch.types_BL, batch.mask_BL, firsts, batch.condition_B)
        return Inputs(*(self.put(array) for array in arrays))

    def send_copies(self, batch: Batch) -> CopyInputs | None:
        """Return the words that phrases can be copied from on the device; None where none are."""
        if (words := batch.copies) is None:
            return None
        first_BC, last_BC, room_BC = (self.put(array) for array in (words.first_BC, words.last_BC, words.room_BC))
        same_BK = words.same_BK
        return CopyInputs(first_BC, last_BC, room_BC, None if same_BK is None else self.put(same_BK))

    def send_spans(self, spans: SpanBatch) -> Spans:
        """Return the spans on the device."""
        return Spans(self.put(spans.row_N), self.put(spans.start_N), self.put(spans.end_N))

    def put(self, array: NDArray[np.generic]) -> Tensor:
        """Return the array on the device; on a GPU from pinned memory: else each copy waits for all work before it."""
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        if self.device.type != "cuda" or not tensor.numel():
            return tensor.to(self.device)
        return tensor.pin_memory().to(self.device, non_blocking=True)

    def score_phrases(
        self,
        inputs: Inputs,
        encoded: Any,
        spans: SpanBatch,
        copies: CopyInputs | None,
        copyable: Copyable | None,
        decoder: GraphedDecoder | None = None,
    ) -> PhraseScores:
        """Return the log-probabilities of phrases at each span, by their words; by a captured ``decoder`` if it can."""
        scores = None if decoder is None else decoder.score(inputs, encoded, spans, copies, self.put)
        if scores is not None:
            if copyable is None or len(self.templates) == 1:
                return WordScores(scores, self.put)
            return self._split_templates(scores, spans, copyable)
        sent = self.send_spans(spans)
        if copies is None or copyable is None:
            return WordScores(self.network.score_phrases(inputs, encoded, sent), self.put)
        scores = self.network.score_phrases(inputs, encoded, sent, copies)
        if copies.same_BK is not None:
            return WordScores(merge_copies(scores, copies.same_BK[sent.row_N]), self.put)
        return self._split_templates(scores, spans, copyable)

    def _split_templates(self, scores: Tensor, spans: SpanBatch, copyable: Copyable) -> TemplateScores:
        count = scores.shape[1] - len(self.templates)
        scores_UP, templates_UT = scores[:, :count], scores[:, count:]
        return TemplateScores(scores_UP, templates_UT, spans.row_N, copyable, self.index, self.put)

    @torch.no_grad()
    def act(self, states: States, corpus: Corpus) -> tuple[Ops, Index]:
        """Return the greedy edits and phrases of one pass over all ``states``, packed as their words are."""
        ops = np.zeros(len(states.words.values), dtype=np.int8)
        phrases = np.full(len(states.words.values), -1, dtype=np.int64)
        self.network.eval()
        for index in sorted_batches(self.count_pieces(states, corpus), self.most_pieces):
            batch = self.collate(states.take(index), corpus)
            inputs = self.send(batch)
            with autocast(self.device, self.bfloat16):
                encoded = self.network.encode(inputs)
                edits = self.network.score_edits(encoded, inputs.firsts_BW).float().cpu().numpy()
                real = batch.real_BW[:, :-1]
                best_BW = best_path(edits if edits.ndim == 4 else edits[:, :, None], real)
                if self.stops:
                    odds_B = self.network.score_stop(encoded, inputs.firsts_BW)
                    best_BW[(odds_B < 0).cpu().numpy()] = Op.KEEP
                spans = find_spans(batch, best_BW)
                best_N = np.zeros(0, dtype=np.int64)
                if len(spans.row_N):
                    copyable = None if batch.copies is None else batch.copies.copyable
                    copies = self.send_copies(batch)
                    best_N = self.score_phrases(inputs, encoded, spans, copies, copyable).best()
            at = states.words.offsets[index]
            ops[(at[:, None] + np.arange(real.shape[1])[None, :])[real]] = best_BW[real]
            phrases[at[spans.row_N] + spans.word_N] = best_N
        return ops, phrases

    def roll_out(self, corpus: Corpus, passes: int, first_turns: FirstTurns = "kept") -> list[Packed]:
        """Return every question after each of up to ``passes`` passes; a pass that changes nothing is the last."""
        current = start_states(corpus)
        outputs = []
        # A question with no dialogue before it has nothing to refer to.
        active = np.arange(len(corpus)) if first_turns == "asked" else np.flatnonzero(corpus.has_context)
        words = list(current.words)
        for _ in range(passes):
            if not len(active):
                break
            states = current.take(active)
            ops, phrases = self.act(states, corpus)
            reached = reach(states.words, ops, phrases, self.index, self.find_copyable(states, corpus))
            moved = [k for k in range(len(active)) if not np.array_equal(reached[k], states.words[k])]
            for k in moved:
                words[active[k]] = reached[k]
            active = active[moved]
            current = States(current.example, pack(words))
            outputs.append(current.words)
        return outputs or [current.words]


def pad_width(longest: int) -> int:
    """Return the width a batch is padded to: the next of ``WIDTHS``, or the next multiple of 8 beyond them."""
    at = bisect.bisect_left(WIDTHS, longest)
    return WIDTHS[at] if at < len(WIDTHS) else longest + -longest % 8


def predict_passes(
    policy: Policy, lexicon: Lexicon, corpus: Corpus, passes: int, first_turns: FirstTurns = "kept"
) -> list[list[str]]:
    """Return the lower-cased words of every question after each pass."""
    outputs = policy.roll_out(corpus, passes, first_turns)
    return [[" ".join(row[1:]) for row in lexicon.interner.unpack(words)] for words in outputs]


def load_ensemble(
    folders: Sequence[str | Path], lexicon: Lexicon, device: torch.device, hidden: int | None = None
) -> Ensemble:
    """Return checkpoints as one network over the lexicon's pieces and phrases.

    Where the first one's states are imitated, ``hidden`` is their size, and they must be of the lexicon's own pieces.
    """
    networks, maps = list[RiseNetwork](), list[Tensor]()
    for folder in folders:
        checkpoint = load_trained(folder)
        if checkpoint.phrases != lexicon.phrases:
            raise InputError(f"{folder}: its phrase vocabulary is not the run's; train both on the same data")
        if checkpoint.network.config.copies:
            raise InputError(f"{folder}: it copies phrases; expected models of an ensemble or teachers that do not")
        ids = map_pieces(lexicon.pieces, checkpoint.pieces)
        if hidden is not None and not networks:
            size = checkpoint.network.config.backbone.hidden
            if size != hidden:
                raise InputError(f"{folder}: its states are of size {size}, the run's {hidden}; imitate needs the same")
            if not np.array_equal(ids, np.arange(len(ids))):
                raise InputError(f"{folder}: its pieces are not the run's; imitate needs a teacher that reads the same")
        networks.append(checkpoint.network)
        maps.append(torch.from_numpy(ids))
    return Ensemble(networks, maps).to(device).eval()


def map_pieces(mine: Pieces, theirs: Pieces) -> NDArray[np.int64]:
    """Return, for each of my piece ids, the other vocabulary's id of the same piece."""
    special = {getattr(mine, name): getattr(theirs, name) for name in ("cls_id", "sep_id", "pad_id", "unk_id")}
    ordered = sorted(mine.vocabulary.items(), key=lambda item: item[1])
    found = [special.get(number, theirs.vocabulary.get(piece, theirs.unk_id)) for piece, number in ordered]
    return np.array(found, dtype=np.int64)
