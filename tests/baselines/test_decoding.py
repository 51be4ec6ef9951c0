"""Decoding against brute force on a small Markov chain."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor

from riseq.baselines.decoding import decode_greedily, decode_nucleus, keep_nucleus, search_beams

END = 0


class Chain:
    """Log-probabilities that depend on the question and on the last two pieces; it must be reordered to stay right."""

    def __init__(self, seed: int, rows: int, vocabulary: int, beams: int = 1) -> None:
        table = torch.randn(rows, vocabulary, vocabulary, vocabulary, generator=torch.Generator().manual_seed(seed))
        self.table = (2 * table).log_softmax(-1)
        self.last = torch.zeros(rows, beams, 2, dtype=torch.long)

    def _score(self) -> Tensor:
        rows = torch.arange(len(self.last))[:, None]
        return self.table[rows, self.last[:, :, 0], self.last[:, :, 1]]

    def begin(self) -> Tensor:
        return self._score()

    def step(self, ids_BK: Tensor) -> Tensor:
        self.last = torch.stack([self.last[:, :, 1], ids_BK], dim=-1)
        return self._score()

    def reorder(self, beams_BK: Tensor) -> None:
        self.last = self.last.gather(1, beams_BK[:, :, None].expand(-1, -1, 2))


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
    vocabulary, rows, beams = 4, 3, 200
    limits = torch.tensor([4, 3, 2])
    chain = Chain(seed, rows, vocabulary, beams)
    found = search_beams(chain, limits, END, beams, power)
    for row, output in enumerate(found):
        wanted = search_all(chain, row, vocabulary, int(limits[row]), power)
        assert output.ids == wanted
        whole = wanted if len(wanted) == limits[row] else (*wanted, END)
        assert output.log_probability == pytest.approx(total(chain, row, whole), abs=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_one_beam_that_ends_where_greed_ends_is_greedy(seed: int) -> None:
    limits = torch.tensor([6, 6, 6, 6])
    greedy = decode_greedily(Chain(seed, 4, 5), limits, END)
    one = search_beams(Chain(seed, 4, 5, 1), limits, END, 1, 0.0)
    for mine, theirs in zip(one, greedy, strict=True):
        assert mine.ids == theirs.ids
        assert mine.log_probability == pytest.approx(theirs.log_probability, abs=1e-4)


def test_more_beams_are_never_worse_than_one_by_the_sums_they_compare() -> None:
    limits = torch.full((40,), 6)
    one = search_beams(Chain(1, 40, 6, 1), limits, END, 1, 0.0)
    five = search_beams(Chain(1, 40, 6, 5), limits, END, 5, 0.0)
    gains = [b.log_probability - a.log_probability for a, b in zip(one, five, strict=True)]
    assert sum(gains) > 0.5


def test_greed_takes_the_likeliest_piece_each_time_up_to_its_own_limit() -> None:
    chain = Chain(5, 3, 6)
    limits = torch.tensor([0, 2, 9])
    for row, output in enumerate(decode_greedily(chain, limits, END)):
        last = (0, 0)
        wanted: list[int] = []
        while len(wanted) < limits[row]:
            piece = int(chain.table[row, last[0], last[1]].argmax())
            if piece == END:
                break
            wanted.append(piece)
            last = (last[1], piece)
        assert output.ids == tuple(wanted)


def test_the_nucleus_is_the_fewest_pieces_with_the_mass() -> None:
    scores = torch.tensor([[0.5, 0.1, 0.3, 0.1], [0.05, 0.05, 0.05, 0.85]]).log()
    kept = keep_nucleus(scores, 0.7).exp()
    torch.testing.assert_close(kept, torch.tensor([[0.5, 0.0, 0.3, 0.0], [0.0, 0.0, 0.0, 0.85]]))
    torch.testing.assert_close(keep_nucleus(scores, 1.0), scores)


def test_samples_follow_the_distribution_and_the_seed() -> None:
    def draw(seed: int) -> list[tuple[int, ...]]:
        chain = Chain(2, 1, 4)
        chain.table = chain.table.expand(4000, -1, -1, -1)
        chain.last = chain.last.expand(4000, -1, -1)
        found = decode_nucleus(chain, torch.ones(4000, dtype=torch.long), END, 1.0, torch.Generator().manual_seed(seed))
        return [output.ids for output in found]

    first = draw(1)
    assert first == draw(1)
    assert first != draw(2)
    shares = Chain(2, 1, 4).table[0, 0, 0].exp()
    for piece in range(1, 4):
        assert first.count((piece,)) / 4000 == pytest.approx(float(shares[piece]), abs=0.03)
