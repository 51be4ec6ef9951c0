"""Writing piece by piece: greedily, by beam search, or by nucleus sampling; any network that scores the next piece.

Dimensions in names: B questions, K beams, V vocabulary, T pieces written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Stepper(Protocol):
    """A network that has read its questions and scores their outputs' next pieces."""

    def begin(self) -> Tensor:
        """Return the log-probabilities of the first piece, [B, K, V]."""
        ...

    def step(self, ids_BK: Tensor) -> Tensor:
        """Return the log-probabilities of the piece after ``ids_BK``, [B, K, V]."""
        ...


class BeamStepper(Stepper, Protocol):
    """A stepper whose outputs can change places."""

    def reorder(self, beams_BK: Tensor) -> None:
        """Let beam k of each question go on from what its beam ``beams_BK[k]`` was."""
        ...


@dataclass(frozen=True, slots=True)
class Output:
    """The pieces of one output, without its end, and the log-probability of all of it."""

    ids: tuple[int, ...]
    log_probability: float


def decode_greedily(stepper: Stepper, limits_B: Tensor, end_id: int) -> list[Output]:
    """Return each question's output by its likeliest piece each time, at most ``limits_B`` pieces without its end."""
    return _decode_one(stepper, limits_B, end_id, lambda scores_BV: scores_BV.argmax(-1))


def decode_nucleus(
    stepper: Stepper, limits_B: Tensor, end_id: int, mass: float, generator: torch.Generator
) -> list[Output]:
    """Return each question's output, each piece drawn from the likeliest that together have ``mass``."""

    def draw(scores_BV: Tensor) -> Tensor:
        kept = keep_nucleus(scores_BV, mass)
        # Drawn where the generator is, so that a seed means the same on every device.
        drawn = torch.multinomial(kept.exp().to(generator.device), 1, generator=generator)
        return drawn[:, 0].to(scores_BV.device)

    return _decode_one(stepper, limits_B, end_id, draw)


def keep_nucleus(scores_BV: Tensor, mass: float) -> Tensor:
    """Return the log-probabilities with all but the fewest likeliest pieces of at least ``mass`` at minus infinity."""
    ordered, places = scores_BV.sort(-1, descending=True)
    before = ordered.exp().cumsum(-1) - ordered.exp()
    kept = ordered.masked_fill(before >= mass, -torch.inf)
    return torch.full_like(scores_BV, -torch.inf).scatter(-1, places, kept)


def search_beams(
    stepper: BeamStepper, limits_B: Tensor, end_id: int, beams: int, length_power: float = 1.0
) -> list[Output]:
    """Return each question's best output among ``beams`` kept at a time, by log-probability over length^power.

    The end counts as a piece. A question is done when as many outputs have ended as there are beams, or when none that
    goes on can still win; an output that reaches its limit ends there.
    """
    scores_BKV = stepper.begin()
    rows, _, vocabulary = scores_BKV.shape
    device = scores_BKV.device
    limits_B = limits_B.to(device)
    # All beams begin alike: only the first may choose.
    alive_BK = torch.full((rows, beams), -torch.inf, device=device)
    alive_BK[:, 0] = 0.0
    written_BKT = torch.zeros((rows, beams, 0), dtype=torch.long, device=device)
    best: list[Output] = [Output((), -torch.inf)] * rows
    best_value = [-torch.inf] * rows
    ended = [0] * rows
    done_B = torch.zeros(rows, dtype=torch.bool, device=device)
    length = 0
    while True:
        length += 1
        total_BM = (alive_BK[:, :, None] + scores_BKV).flatten(1)
        # Twice as many as there are beams: at least that many of them go on.
        value_BC, place_BC = total_BM.topk(min(2 * beams, total_BM.shape[1]), dim=-1)
        from_BC, piece_BC = place_BC // vocabulary, place_BC % vocabulary
        ends_BC = piece_BC == end_id
        ending = (ends_BC & (value_BC > -torch.inf) & ~done_B[:, None]).cpu()
        if ending[:, :beams].any():
            values, froms, past = value_BC.cpu(), from_BC.cpu(), written_BKT.cpu()
            for row, rank in ending[:, :beams].nonzero().tolist():
                ended[row] += 1
                ids, total = past[row, froms[row, rank]], float(values[row, rank])
                _offer(best, best_value, row, ids, total, length, length_power)
        # The best that go on: an end sorts behind everything.
        value_BC = value_BC.masked_fill(ends_BC, -torch.inf)
        alive_BK, rank_BK = value_BC.topk(min(beams, value_BC.shape[1]), dim=-1)
        if alive_BK.shape[1] < beams:
            short = beams - alive_BK.shape[1]
            alive_BK = torch.nn.functional.pad(alive_BK, (0, short), value=-torch.inf)
            rank_BK = torch.nn.functional.pad(rank_BK, (0, short))
        from_BK, piece_BK = from_BC.gather(1, rank_BK), piece_BC.gather(1, rank_BK)
        past_BKT = written_BKT.gather(1, from_BK[:, :, None].expand(-1, -1, written_BKT.shape[2]))
        written_BKT = torch.cat([past_BKT, piece_BK[:, :, None]], dim=2)
        full_B = (length >= limits_B) & ~done_B
        if full_B.any():
            past, values = written_BKT.cpu(), alive_BK.cpu()
            for row in full_B.nonzero()[:, 0].tolist():
                for beam in range(beams):
                    ids, total = past[row, beam], float(values[row, beam])
                    _offer(best, best_value, row, ids, total, length, length_power)
            done_B |= full_B
        # A log-probability only falls: over the longest an output can be, it is the most that can be hoped for.
        hoped_B = alive_BK[:, 0] / limits_B.to(alive_BK.dtype) ** length_power
        done_B |= torch.tensor(best_value, device=device) >= hoped_B
        done_B |= torch.tensor(ended, device=device) >= beams
        if bool(done_B.all()):
            return best
        stepper.reorder(from_BK)
        scores_BKV = stepper.step(piece_BK)


def _offer(
    best: list[Output], best_value: list[float], row: int, ids: Tensor, total: float, length: int, power: float
) -> None:
    """Take an ended output where it is its question's best so far."""
    value = total / length**power
    if value > best_value[row]:
        best_value[row] = value
        best[row] = Output(tuple(ids.tolist()), total)


class _Choice(Protocol):
    def __call__(self, scores_BV: Tensor, /) -> Tensor: ...


def _decode_one(stepper: Stepper, limits_B: Tensor, end_id: int, choose: _Choice) -> list[Output]:
    scores_BV = stepper.begin()[:, 0]
    limits_B = limits_B.to(scores_BV.device)
    totals_B = torch.zeros(len(scores_BV), device=scores_BV.device)
    done_B = limits_B <= 0
    written: list[Tensor] = []
    while not bool(done_B.all()):
        ids_B = choose(scores_BV)
        totals_B += scores_BV.gather(1, ids_B[:, None])[:, 0].masked_fill(done_B, 0.0)
        ids_B = ids_B.masked_fill(done_B, end_id)
        written.append(ids_B)
        done_B = done_B | (ids_B == end_id) | (len(written) >= limits_B)
        if not bool(done_B.all()):
            scores_BV = stepper.step(ids_B[:, None])[:, 0]
    rows = torch.stack(written, dim=1).cpu().tolist() if written else [[] for _ in range(len(totals_B))]
    return [Output(_cut(row, end_id), total) for row, total in zip(rows, totals_B.tolist(), strict=True)]


def _cut(ids: list[int], end_id: int) -> tuple[int, ...]:
    return tuple(ids[: ids.index(end_id)] if end_id in ids else ids)
