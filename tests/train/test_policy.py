"""A network at work on packed states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from riseq.core.edits import MARKER, Op
from riseq.core.packed import Packed
from riseq.model.inputs import Condition
from riseq.train.corpus import StatePool, build_corpus, start_states
from riseq.train.policy import Policy
from riseq.train.processes import Processes
from riseq.train.rise import RiseTask
from riseq.train.settings import RiseSettings
from riseq.types import Example

Make = Callable[..., RiseSettings]


@pytest.fixture
def task(make_settings: Make) -> RiseTask:
    return RiseTask(make_settings(), Processes())


class Script:
    """A network that deletes the last word but one of every question, whatever it is."""

    def eval(self) -> None:
        pass

    def encode(self, inputs: object) -> torch.Tensor:
        return torch.zeros(0)

    def score_edits(self, states: torch.Tensor, firsts_BW: torch.Tensor) -> torch.Tensor:
        scores = torch.zeros(*firsts_BW.shape, 4)
        scores[..., Op.KEEP] = 1
        words = (firsts_BW < firsts_BW.max(1, keepdim=True).values).sum(1)
        rows = torch.arange(len(words))
        scores[rows, words - 1, Op.DELETE] = 2
        scores[:, 0, Op.DELETE] = -1
        return scores


def words(task: RiseTask, packed: Packed) -> list[list[str]]:
    return task.lexicon.interner.unpack(packed)


def test_a_question_without_context_comes_back_unchanged(task: RiseTask) -> None:
    questions = ["did it cost a lot ?", "did she win ?"]
    examples = [Example(str(k), context, q, q) for q in questions for k, context in enumerate([(), ("well known .",)])]
    pairs = [(example, Condition.UNKNOWN) for example in examples]
    corpus = build_corpus(pairs, task.lexicon.interner, task.lexicon.pieces)
    policy = replace(task.policy, network=Script(), table=task.lexicon.piece_table())
    after = [words(task, packed) for packed in policy.roll_out(corpus, 3)]
    assert len(after) == 3
    for outputs in after:
        assert outputs[0] == [MARKER, *questions[0].split()]
        assert outputs[2] == [MARKER, *questions[1].split()]
    assert [len(outputs[1]) for outputs in after] == [6, 5, 4]
    asked = [words(task, packed) for packed in policy.roll_out(corpus, 3, "asked")]
    assert [len(outputs[0]) for outputs in asked] == [6, 5, 4]


def test_passes_end_where_nothing_changes(task: RiseTask) -> None:
    class Keeper(Script):
        def score_edits(self, states: torch.Tensor, firsts_BW: torch.Tensor) -> torch.Tensor:
            scores = torch.zeros(*firsts_BW.shape, 4)
            scores[..., Op.KEEP] = 1
            return scores

    policy = replace(task.policy, network=Keeper())
    (only,) = policy.roll_out(task.corpus, 3)
    assert words(task, only) == words(task, task.corpus.sources)


def test_acting_on_all_is_acting_on_each(task: RiseTask, monkeypatch: pytest.MonkeyPatch) -> None:
    states = start_states(task.corpus)
    whole = task.policy.act(states, task.corpus)
    assert (whole[0] != Op.KEEP).any()
    monkeypatch.setattr("riseq.train.policy.ROLLOUT_PIECES", 16 * 100)  # a few rows a batch
    parted = task.policy.act(states, task.corpus)
    assert parted[0].tolist() == whole[0].tolist()
    assert parted[1].tolist() == whole[1].tolist()


def fill(task: RiseTask, settings: RiseSettings, epoch: int, processes: Processes | None = None) -> Iterator[list[str]]:
    pool = StatePool(task.corpus, task.policy, settings, processes or Processes())
    states = pool.fill(epoch, np.random.default_rng(0))
    return iter(words(task, states.words)[len(task.corpus) :])


def test_the_pool_has_starts_then_finished_states_then_the_policys_own(task: RiseTask, make_settings: Make) -> None:
    settings = make_settings(own_share=1.0, stop_share=1.0)
    targets = words(task, task.corpus.targets)
    assert list(fill(task, settings, epoch=0)) == targets, "a policy that knows nothing yet adds nothing of its own"
    later = list(fill(task, settings, epoch=1))
    own = later[: len(later) - len(targets)]
    assert later[len(own) :] == targets
    assert own
    sources = words(task, task.corpus.sources)
    assert all(len(state) > 1 and state not in sources for state in own)
    assert list(fill(task, make_settings(own_share=1.0, stop_share=1.0, method="mle"), epoch=1)) == targets
    assert list(fill(task, make_settings(own_share=0.0, stop_share=0.0), epoch=1)) == []


def test_aligned_states_are_the_pools(task: RiseTask, make_settings: Make) -> None:
    pool = StatePool(task.corpus, task.policy, make_settings(method="mle", stop_share=0.5), Processes())
    states = pool.fill(0, np.random.default_rng(0))
    gold = pool.align(states)
    assert len(gold.ops) == len(gold.phrases) == len(gold.lost) == len(states.words.values)
    start = len(task.corpus.sources.values)
    assert (gold.ops[:start] == Op.SUBSTITUTE).any()
    assert (gold.ops[start:] == Op.KEEP).all()


def test_layers_below_learn_slower_and_heads_at_their_own_rate(make_settings: Make) -> None:
    task = RiseTask(make_settings(lr=1.0, head_lr=5.0, layer_decay=0.5), Processes())
    assert len(task.network.encoder.layers) == 2
    wanted = {"encoder.layers.1.up.weight": 1.0, "encoder.layers.0.up.weight": 0.5, "decoder.0.up.bias": 1.0}
    wanted |= {"encoder.embeddings.pieces.weight": 0.25, "phrase_head.weight": 5.0}
    assert {name: task.peak_rate(name) for name in wanted} == wanted


def test_a_policy_reads_words_that_only_the_dev_set_has(make_settings: Make) -> None:
    task = RiseTask(make_settings(), Processes())
    assert isinstance(task.policy, Policy)
    assert len(task.policy.table) == len(task.lexicon.interner)
