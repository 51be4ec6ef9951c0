"""Training data as packed integers: pairs, the states between question and target, and an epoch's pool of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import MARKER
from riseq.core.packed import Interner, Packed, pack
from riseq.core.phrases import Phrase, PhraseVocabulary, phrases_of
from riseq.core.templates import TemplateVocabulary
from riseq.data.dataset import load_dataset
from riseq.metrics.behaviour import load_scored
from riseq.model.inputs import PAPER_WINDOW, Condition, ContextWindow, encode_context, shown_words, take_ragged
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.train.actions import Actions, Index, gold_actions, reach
from riseq.train.processes import Processes
from riseq.train.settings import RiseSettings, TrainSettings
from riseq.types import Example, InputError

if TYPE_CHECKING:
    from riseq.train.policy import Policy

MAX_WORDS = 40
"""A longer question or target is left out of training: CANARD has one in a thousand, and the scores stop at 30."""
GROUNDED_SUFFIX = "+grounded"
"""What stands after the name of a set whose questions are asked with the grounded condition."""
LEARNT_FROM = 30_000
"""About how many pairs, at most, templates are learnt from."""
OFTEN = 5
"""How often a template must be needed: one with a name in it comes with each form of the question that has it."""
TOGETHER = 64
"""Batches that are sorted by length together: more would make their order less random, fewer their padding larger."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pairs with their contexts; the marker is word 0 of every question and target."""

    contexts: Packed
    sources: Packed
    targets: Packed
    has_context: NDArray[np.bool_]
    condition: Index
    """What the network is told with each pair, a ``Condition``."""
    examples: tuple[Example, ...]
    shown: Packed | None = None
    """The contexts' words as far as they are shown, a marker before each utterance; None where none are copied."""

    def __len__(self) -> int:
        return len(self.examples)


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Every word that can stand in a question, and the pieces of each."""

    interner: Interner
    pieces: Pieces
    phrases: PhraseVocabulary
    templates: TemplateVocabulary = field(default_factory=TemplateVocabulary)

    def piece_table(self) -> Packed:
        """Return the pieces of each word, by its number; the marker's is [SEP]."""
        rows: list[Sequence[int]] = [[self.pieces.sep_id]]
        rows += [self.pieces.cut(self.interner.word(number)) for number in range(1, len(self.interner))]
        return pack(rows)


def split_pair(example: Example) -> tuple[list[str], list[str]]:
    """Return the words of an example's question and target, each after the marker."""
    if example.target is None:
        raise InputError(f"example {example.id}: no target; training and scoring need one")
    return [MARKER, *forms(example.question)], [MARKER, *forms(example.target)]


def load_pairs(settings: TrainSettings) -> list[tuple[str, list[Example]]]:
    """Return the examples with a context and a target of each training set, with the set's name."""
    loaded = [(name, load_dataset(name)[: settings.limit]) for name in settings.train]
    found = [(name, [e for e in rows if e.context and e.target is not None]) for name, rows in loaded]
    if not any(examples for _, examples in found):
        raise InputError(f"{', '.join(settings.train)}: no pair with a context and a target to learn from")
    return found


@dataclass(frozen=True, slots=True)
class ShownSpans:
    """The spans of up to ``longest`` words of what is read, as what contains them or not."""

    text: str
    """All words with a space on each side, a marker between utterances."""
    longest: int

    def __contains__(self, phrase: object) -> bool:
        return isinstance(phrase, tuple) and len(phrase) <= self.longest and f" {' '.join(phrase)} " in self.text


def learn_templates(
    examples: Sequence[Example],
    phrases: PhraseVocabulary,
    pieces: Pieces,
    window: ContextWindow,
    copies: int,
    size: int,
) -> TemplateVocabulary:
    """Return the ``size`` most frequent templates that the pairs need where the vocabulary lacks a phrase."""
    if not size:
        return TemplateVocabulary()

    def find_needed() -> Iterator[tuple[Phrase, ShownSpans]]:
        for example in examples[:: 1 + len(examples) // LEARNT_FROM]:
            source, target = split_pair(example)
            needed = [phrase for phrase in phrases_of(source, target) if phrase not in phrases]
            if needed:
                shown = shown_words(example.context, encode_context(pieces, example.context, window))
                text = f" {MARKER} ".join(" ".join(row) for row in (*shown, source[1:]))
                yield from ((phrase, ShownSpans(f" {text} ", copies)) for phrase in needed)

    return TemplateVocabulary.from_phrases(find_needed(), size, OFTEN)


def build_corpus(
    pairs: Iterable[tuple[Example, Condition]],
    interner: Interner,
    pieces: Pieces,
    max_words: int | None = None,
    window: ContextWindow = PAPER_WINDOW,
    copied: bool = False,
) -> Corpus:
    """Return the examples as packed integers; pairs with more than ``max_words`` words on a side are left out.

    The words of their contexts are kept where they are to be ``copied``.
    """
    split = [(example, condition, *split_pair(example)) for example, condition in pairs]
    most = max_words + 1 if max_words is not None else None
    kept = [one for one in split if most is None or max(len(one[2]), len(one[3])) <= most]
    contexts = [encode_context(pieces, example.context, window) for example, *_ in kept]
    questions = interner.pack([one[2] for one in kept]), interner.pack([one[3] for one in kept])
    packed = pack([one.ids for one in contexts]), *questions
    has_context = np.array([bool(example.context) for example, *_ in kept], dtype=np.bool_)
    conditions = np.array([condition for _, condition, *_ in kept], dtype=np.int64)
    examples = tuple(example for example, *_ in kept)
    shown = None
    if copied:
        rows = [shown_words(e.context, encoded) for e, encoded in zip(examples, contexts, strict=True)]
        shown = interner.pack([[word for row in utterances for word in (MARKER, *row)] for utterances in rows])
    return Corpus(*packed, has_context, conditions, examples, shown)


def load_corpus(
    name: str,
    interner: Interner,
    pieces: Pieces,
    window: ContextWindow = PAPER_WINDOW,
    limit: int | None = None,
    copied: bool = False,
) -> Corpus:
    """Return the set called ``name``; one that ends in ``+grounded`` is asked with the grounded condition."""
    condition = Condition.GROUNDED if name.endswith(GROUNDED_SUFFIX) else Condition.UNKNOWN
    examples = load_scored(name.removesuffix(GROUNDED_SUFFIX))[:limit]
    return build_corpus([(example, condition) for example in examples], interner, pieces, None, window, copied)


@dataclass(frozen=True, slots=True)
class States:
    """Questions as they stand: ``words`` of state k belong to example ``example[k]`` of the corpus."""

    example: Index
    words: Packed

    def __len__(self) -> int:
        return len(self.example)

    def take(self, index: Index) -> States:
        """Return the states at ``index``."""
        return States(self.example[index], take_rows(self.words, index))


def take_rows(packed: Packed, index: Index) -> Packed:
    """Return the sequences at ``index``."""
    values, lengths = take_ragged(packed.values, packed.offsets, index)
    return Packed(values.astype(np.int32), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def join_rows(parts: Sequence[Packed]) -> Packed:
    """Return, for each k, the sequences k of all ``parts`` as one."""
    lengths = np.stack([part.lengths for part in parts], axis=1)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = np.empty(offsets[-1], dtype=np.int32)
    for number, part in enumerate(parts):
        moved = offsets[number : -1 : len(parts)] - part.offsets[:-1]
        values[np.arange(len(part.values)) + np.repeat(moved, part.lengths)] = part.values
    return Packed(values, offsets[:: len(parts)])


def concatenate(parts: list[States]) -> States:
    """Return all states of ``parts``."""
    lengths = np.concatenate([part.words.lengths for part in parts])
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    words = Packed(np.concatenate([part.words.values for part in parts]), offsets)
    return States(np.concatenate([part.example for part in parts]), words)


def start_states(corpus: Corpus) -> States:
    """Return every pair's first state, y^0 = x."""
    return States(np.arange(len(corpus), dtype=np.int64), corpus.sources)


def cut_batches(lengths: Index, size: int, rng: np.random.Generator, together: int = TOGETHER) -> list[Index]:
    """Return shuffled batches of rows of like length, sorted by length within ``together`` batches at a time."""
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), size * together):
        part = order[start : start + size * together]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[at : at + size] for at in range(0, len(part), size)]
    return [batches[k] for k in rng.permutation(len(batches))]


def sorted_batches(lengths: Index, tokens: int) -> list[Index]:
    """Return batches in order of length, each of at most ``tokens`` padded pieces."""
    order = np.argsort(lengths, kind="stable")
    batches, start = [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and lengths[order[end]] * (end + 1 - start) <= tokens:
            end = min(end + max(1, (end - start) // 4), len(order))
        while end - 1 > start and lengths[order[end - 1]] * (end - start) > tokens:
            end -= 1
        batches.append(order[start:end])
        start = end
    return batches


@dataclass(slots=True)
class StatePool:
    """A run's training pairs and the states met on the way to their targets (Algorithm 1, lines 2 and 13)."""

    corpus: Corpus
    policy: Policy
    settings: RiseSettings
    processes: Processes
    _gold: list[tuple[States, Actions]] = field(default_factory=list, init=False)

    def fill(self, epoch: int, rng: np.random.Generator) -> States:
        """Return the epoch's states: every pair's start, states the policy reached itself, finished ones."""
        settings, corpus = self.settings, self.corpus
        parts = [start := start_states(corpus)]
        if settings.parts:
            parts = [states for states, _ in self._follow_gold()]
        if settings.own_share and epoch and not self.is_aligned(epoch):
            chosen = np.flatnonzero(rng.random(len(corpus)) < min(1.0, settings.own_share))
            parts.append(self._act_on(start.take(chosen)))
        if settings.stop_share:
            done = np.flatnonzero(rng.random(len(corpus)) < settings.stop_share)
            parts.append(States(np.arange(len(corpus)), corpus.targets).take(done))
        return concatenate(parts)

    def is_aligned(self, epoch: int) -> bool:
        """Return whether the epoch learns one gold alignment of each pair, from states that have one."""
        return self.settings.method == "mle" or epoch < self.settings.likelihood_epochs

    def _act_on(self, states: States) -> States:
        """Return where the policy's own greedy pass takes ``states``, less those that teach nothing new.

        Each process edits its part and all of them get the whole, so that their batches stay the same.
        """
        mine = states.take(np.arange(len(states))[self.processes.share(len(states))])
        ops, phrases = self.policy.act(mine, self.corpus)
        copyable = self.policy.find_copyable(mine, self.corpus)
        reached = States(mine.example, reach(mine.words, ops, phrases, self.policy.index, copyable))
        # A state that is where it was, or that lost every word, teaches nothing new.
        pairs = enumerate(zip(reached.words, mine.words, strict=True))
        moved = [k for k, (new, old) in pairs if 1 < len(new) <= MAX_WORDS + 1 and not np.array_equal(new, old)]
        return concatenate(self.processes.gather(reached.take(np.array(moved, dtype=np.int64))))

    def align(self, states: States) -> Actions:
        """Return the gold edits of the states of an epoch without own ones; aligning is slow, so it is done once."""
        found = [gold for _, gold in self._follow_gold()]
        rest = len(states.words.values) - sum(len(gold.ops) for gold in found)  # of finished states, which stay
        ops = np.concatenate([*(gold.ops for gold in found), np.zeros(rest, dtype=np.int8)])
        phrases = np.concatenate([*(gold.phrases for gold in found), np.full(rest, -1, dtype=np.int64)])
        lost = np.concatenate([*(gold.lost for gold in found), np.zeros(rest, dtype=np.bool_)])
        return Actions(ops, phrases, np.ones(len(states)), lost)

    def _follow_gold(self) -> list[tuple[States, Actions]]:
        """Return the start states with their gold edits; with ``parts`` also where those get only half the way."""
        if not self._gold:
            states, targets, settings = start_states(self.corpus), self.corpus.targets, self.settings
            for _ in range(max(1, settings.passes)):
                copyable, wanted = self.policy.find_copyable(states, self.corpus), take_rows(targets, states.example)
                gold = gold_actions(states.words, wanted, self.policy.index, copyable, settings.parts)
                self._gold.append((states, gold))
                if not settings.parts:
                    break
                reached = reach(states.words, gold.ops, gold.phrases, self.policy.index, copyable)
                whole = np.bincount(np.repeat(np.arange(len(states)), states.words.lengths), gold.lost) == 0
                rows = zip(reached, states.words, wanted, strict=True)
                left = [not np.array_equal(new, end) and not np.array_equal(new, old) for new, old, end in rows]
                halfway = np.flatnonzero(whole & np.array(left, dtype=np.bool_) & (reached.lengths <= MAX_WORDS + 1))
                if not len(halfway):
                    break
                states = States(states.example, reached).take(halfway)
        return self._gold
