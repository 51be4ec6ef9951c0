"""Decoding against brute force on a small Markov chain."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import GenerationMixin, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from riseq.baselines.generation import Decoding, NucleusSampler, generate
from riseq.types import InputError

END = 0


class Chain(PreTrainedModel, GenerationMixin):  # type: ignore[misc]
    """A model whose log-probabilities depend on the question and on the last two pieces."""

    def __init__(self, seed: int, rows: int, vocabulary: int) -> None:
        super().__init__(PreTrainedConfig.from_dict({"vocab_size": vocabulary}))
        table = torch.randn(rows, vocabulary, vocabulary, vocabulary, generator=torch.Generator().manual_seed(seed))
        self.table = torch.nn.Parameter((2 * table).log_softmax(-1), requires_grad=False)

    def forward(self, input_ids: Tensor, **_: Any) -> CausalLMOutputWithPast:
        rows = torch.arange(len(self.table)).repeat_interleave(len(input_ids) // len(self.table))
        last = torch.cat([torch.zeros_like(input_ids[:, :1]), input_ids], dim=1)
        return CausalLMOutputWithPast(logits=self.table[rows, last[:, -2], last[:, -1]][:, None])

    def run(self, limits: list[int], decoding: Decoding, **options: float) -> list[tuple[int, ...]]:
        start = torch.full((len(limits), 1), END)
        options = {"use_cache": False, **decoding.options(), **options}
        found = generate(self, (start, torch.ones_like(start)), limits, END, **options)
        return [tuple(ids) for ids in found]


@torch.no_grad()
def total(chain: Chain, row: int, ids: tuple[int, ...]) -> float:
    """Return the log-probability of ``ids``, their end among them where it is there."""
    last, found = (0, 0), 0.0
    for piece in ids:
        found += float(chain.table[row, last[0], last[1], piece])
        last = (last[1], piece)
    return found


def search_all(chain: Chain, row: int, vocabulary: int, limit: int, power: float) -> tuple[int, ...]:
    """Return the best of all outputs of up to ``limit`` pieces, by brute force."""
    best: tuple[int, ...] = ()
    value = -math.inf
    for length in range(limit + 1):
        for ids in itertools.product(range(1, vocabulary), repeat=length):
            whole = ids if length == limit else (*ids, END)
            found = total(chain, row, whole) / len(whole) ** power
            if found > value:
                best, value = ids, found
    return best


@pytest.mark.parametrize("power", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(8))
def test_beams_enough_for_everything_find_the_best_of_all(seed: int, power: float) -> None:
    vocabulary, limits = 4, [4, 3, 2]
    chain = Chain(seed, 3, vocabulary)
    for row, ids in enumerate(chain.run(limits, Decoding("beams", 200), length_penalty=power)):
        assert ids == search_all(chain, row, vocabulary, limits[row], power)


@pytest.mark.parametrize("seed", range(8))
def test_one_beam_is_greedy(seed: int) -> None:
    chain = Chain(seed, 4, 5)
    assert chain.run([6] * 4, Decoding("beams", 1)) == chain.run([6] * 4, Decoding())


def test_more_beams_find_likelier_outputs_than_one() -> None:
    chain = Chain(1, 40, 6)
    gain = 0.0
    one, five = (chain.run([6] * 40, Decoding("beams", beams), length_penalty=0.0) for beams in (1, 5))
    for row, (alone, best) in enumerate(zip(one, five, strict=True)):
        wholes = [ids if len(ids) == 6 else (*ids, END) for ids in (alone, best)]
        gain += total(chain, row, wholes[1]) - total(chain, row, wholes[0])
    assert gain > 0.5


def test_greedy_is_the_likeliest_piece_each_time_up_to_its_own_limit() -> None:
    chain = Chain(5, 3, 6)
    limits = [1, 2, 9]
    for row, ids in enumerate(chain.run(limits, Decoding())):
        last = (0, 0)
        wanted: list[int] = []
        while len(wanted) < limits[row]:
            piece = int(chain.table[row, last[0], last[1]].argmax())
            if piece == END:
                break
            wanted.append(piece)
            last = (last[1], piece)
        assert ids == tuple(wanted)


def test_the_nucleus_is_the_fewest_pieces_with_the_mass() -> None:
    scores = torch.tensor([[0.5, 0.1, 0.3, 0.1], [0.05, 0.05, 0.05, 0.85]]).log()
    ids = torch.zeros(2, 1, dtype=torch.long)
    for mass, kept in ((0.7, [{0, 2}, {3}]), (1.0, [{0, 1, 2, 3}, {0, 1, 2, 3}])):
        sampler = NucleusSampler(mass, 1)
        drawn = torch.stack([sampler(ids, scores).exp() for _ in range(400)])
        assert (drawn.sum(-1) == 1).all()
        assert [set(row.nonzero()[:, 0].tolist()) for row in drawn.sum(0)] == kept
    shares = torch.stack([NucleusSampler(0.7, seed)(ids, scores)[0].exp() for seed in range(400)]).mean(0)
    assert float(shares[0]) == pytest.approx(0.5 / 0.8, abs=0.08)


def test_samples_follow_the_distribution_and_the_seed() -> None:
    def draw(seed: int) -> list[tuple[int, ...]]:
        chain = Chain(2, 1, 4)
        chain.table.data = chain.table.data.expand(4000, -1, -1, -1)
        return chain.run([1] * 4000, Decoding("nucleus", mass=1.0, seed=seed))

    first = draw(1)
    assert first == draw(1)
    assert first != draw(2)
    shares = Chain(2, 1, 4).table[0, 0, 0].exp()
    for piece in range(1, 4):
        assert first.count((piece,)) / 4000 == pytest.approx(float(shares[piece]), abs=0.03)


def test_impossible_decodings_are_refused() -> None:
    with pytest.raises(InputError, match="beams: 0; expected 1 or more"):
        Decoding("beams", 0)
    with pytest.raises(InputError, match=r"mass: 0\.0; expected above 0"):
        Decoding("nucleus", mass=0.0)
