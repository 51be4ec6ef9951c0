"""A network at work on packed states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from riseq.core.edits import MARKER, Op
from riseq.core.packed import Packed
from riseq.train.corpus import build_corpus
from riseq.train.policy import Policy
from riseq.train.preparation import Setup, prepare
from riseq.train.processes import Processes
from riseq.train.settings import TrainSettings
from riseq.train.state_pool import Pool
from riseq.train.states import start_states
from riseq.types import Example

Make = Callable[..., TrainSettings]


@pytest.fixture
def setup(make_settings: Make) -> Setup:
    return prepare(make_settings())


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


def words(setup: Setup, packed: Packed) -> list[list[str]]:
    return setup.lexicon.interner.unpack(packed)


def test_a_question_without_context_comes_back_unchanged(setup: Setup) -> None:
    questions = ["did it cost a lot ?", "did she win ?"]
    examples = [Example(str(k), context, q, q) for q in questions for k, context in enumerate([(), ("well known .",)])]
    corpus = build_corpus(examples, setup.lexicon.interner, setup.lexicon.pieces)
    policy = replace(setup.policy, network=Script(), table=setup.lexicon.piece_table())
    after = [words(setup, packed) for packed in policy.roll_out(corpus, 3)]
    assert len(after) == 3
    for outputs in after:
        assert outputs[0] == [MARKER, *questions[0].split()]
        assert outputs[2] == [MARKER, *questions[1].split()]
    assert [len(outputs[1]) for outputs in after] == [6, 5, 4]


def test_passes_end_where_nothing_changes(setup: Setup) -> None:
    class Keeper(Script):
        def score_edits(self, states: torch.Tensor, firsts_BW: torch.Tensor) -> torch.Tensor:
            scores = torch.zeros(*firsts_BW.shape, 4)
            scores[..., Op.KEEP] = 1
            return scores

    policy = replace(setup.policy, network=Keeper())
    (only,) = policy.roll_out(setup.train, 3)
    assert words(setup, only) == words(setup, setup.train.sources)


def test_acting_on_all_is_acting_on_each(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    states = start_states(setup.train)
    whole = setup.policy.act(states, setup.train)
    assert (whole[0] != Op.KEEP).any()
    monkeypatch.setattr("riseq.train.policy.ROLLOUT_PIECES", 16 * 100)  # a few rows a batch
    parted = setup.policy.act(states, setup.train)
    assert parted[0].tolist() == whole[0].tolist()
    assert parted[1].tolist() == whole[1].tolist()


def fill(setup: Setup, settings: TrainSettings, epoch: int, processes: Processes | None = None) -> Iterator[list[str]]:
    pool = Pool(setup.train, setup.policy, settings, processes or Processes())
    states = pool.fill(epoch, np.random.default_rng(0))
    return iter(words(setup, states.words)[len(setup.train) :])


def test_the_pool_has_starts_then_finished_states_then_the_policys_own(setup: Setup, make_settings: Make) -> None:
    settings = make_settings(own_share=1.0, stop_share=1.0)
    targets = words(setup, setup.train.targets)
    assert list(fill(setup, settings, epoch=0)) == targets, "a policy that knows nothing yet adds nothing of its own"
    later = list(fill(setup, settings, epoch=1))
    own = later[: len(later) - len(targets)]
    assert later[len(own) :] == targets
    assert own
    sources = words(setup, setup.train.sources)
    assert all(len(state) > 1 and state not in sources for state in own)
    assert list(fill(setup, make_settings(own_share=1.0, stop_share=1.0, method="mle"), epoch=1)) == targets
    assert list(fill(setup, make_settings(own_share=0.0, stop_share=0.0), epoch=1)) == []


def test_aligned_states_are_the_pools(setup: Setup, make_settings: Make) -> None:
    pool = Pool(setup.train, setup.policy, make_settings(method="mle", stop_share=0.5), Processes())
    states = pool.fill(0, np.random.default_rng(0))
    gold = pool.align(states)
    assert len(gold.ops) == len(gold.phrases) == len(gold.lost) == len(states.words.values)
    start = len(setup.train.sources.values)
    assert (gold.ops[:start] == Op.SUBSTITUTE).any()
    assert (gold.ops[start:] == Op.KEEP).all()


def test_a_policy_reads_words_that_only_the_dev_set_has(make_settings: Make) -> None:
    setup = prepare(make_settings())
    assert isinstance(setup.policy, Policy)
    assert len(setup.policy.table) == len(setup.lexicon.interner)
