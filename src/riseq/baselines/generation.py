"""How a baseline's network writes questions: sources in batches of like length, decoding, outputs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteriaList, TopPLogitsWarper

from riseq.model.folder import read_direction
from riseq.types import InputError

LONGER = 8
"""How many pieces an output may have more than its question: a target seldom has any."""
LONGER_RESOLVED = 40
"""The same for a network that resolves: a name or a whole clause comes in, of CANARD's seldom more than this."""
GPU_PIECES, CPU_PIECES = 131_072, 2_048
"""Padded pieces in one batch, beams counted."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a network reads before it writes, how much of it is the question's own, and whether some was cut off."""

    ids: tuple[int, ...]
    question: int
    truncated: bool


def pad(rows: Sequence[Sequence[int]], pad_id: int, side: Literal["left", "right"] = "right") -> tuple[Tensor, Tensor]:
    """Return ids and mask [B, L] of rows of different lengths, padded on the ``side``: left where outputs follow."""
    ids = [torch.tensor(row, dtype=torch.int64) for row in rows]
    mask = pad_sequence([torch.ones_like(row) for row in ids], batch_first=True, padding_side=side)
    return pad_sequence(ids, batch_first=True, padding_value=pad_id, padding_side=side), mask


@dataclass(frozen=True, slots=True)
class Decoding:
    """How outputs are chosen."""

    method: Literal["greedy", "beams", "nucleus"] = "greedy"
    beams: int = 5
    mass: float = 0.9
    """The nucleus: the likeliest pieces that together have this probability."""
    seed: int = 1

    def __post_init__(self) -> None:
        if self.beams < 1:
            raise InputError(f"beams: {self.beams}; expected 1 or more")
        if not 0 < self.mass <= 1:
            raise InputError(f"mass: {self.mass}; expected above 0 and at most 1")

    @property
    def width(self) -> int:
        """How many outputs are kept at a time for each question."""
        return self.beams if self.method == "beams" else 1

    def options(self) -> dict[str, Any]:
        """Return the arguments of transformers' ``generate``."""
        if self.method == "nucleus":
            return {"logits_processor": LogitsProcessorList([NucleusSampler(self.mass, self.seed)])}
        if self.width == 1:
            return {}
        # Beams compare log-probability / length, the end counted as a piece.
        return {"num_beams": self.beams, "length_penalty": 1.0, "early_stopping": True}


class NucleusSampler(LogitsProcessor):  # type: ignore[misc]
    """Leaves one piece of each row: drawn on the CPU by ``seed``, which so means the same on every device."""

    def __init__(self, mass: float, seed: int) -> None:
        self.top_p = TopPLogitsWarper(mass)
        self.random = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Return 0 at the piece that was drawn and minus infinity at all others, [B, V]."""
        kept = self.top_p(input_ids, scores).softmax(-1)
        drawn = torch.multinomial(kept.cpu(), 1, generator=self.random).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, drawn, 0.0)


def generate(
    network: Any, prompts: tuple[Tensor, Tensor], limits: Sequence[int], end_id: int, **options: Any
) -> list[list[int]]:
    """Return what transformers' ``generate`` writes after prompts (ids and mask): up to each limit, without the end."""
    ids_BL, mask_BL = prompts
    limits_B = torch.tensor(limits, device=ids_BL.device)

    def is_full(found: Tensor, _scores: object) -> Tensor:
        written = found.shape[1] - ids_BL.shape[1]
        return written >= limits_B.repeat_interleave(len(found) // len(limits_B))

    rows = network.generate(
        ids_BL,
        attention_mask=mask_BL,
        do_sample=False,
        max_new_tokens=max(limits),
        eos_token_id=end_id,
        pad_token_id=end_id,
        stopping_criteria=StoppingCriteriaList([is_full]),
        **options,
    )
    found: list[list[int]] = rows[:, ids_BL.shape[1] :].tolist()
    return [row[: row.index(end_id)] if end_id in row else row for row in found]


def find_longer(facts: Mapping[str, Any]) -> int:
    """Return how many pieces an output may have more than its question, by what is known of a model's training."""
    return LONGER_RESOLVED if read_direction(facts) == "resolve" else LONGER


@dataclass(frozen=True, slots=True)
class Generated:
    """What was generated for one example: its words in one string, and whether some of the example was cut off."""

    text: str
    truncated: bool


@torch.no_grad()
def write_outputs(
    network: nn.Module,
    sources: Sequence[Source],
    write: Callable[[list[Source], torch.device], list[list[int]]],
    decode: Callable[[Sequence[int]], str],
    width: int = 1,
) -> list[Generated]:
    """Return what ``write`` puts after every source, decoded: batches of like length at a time, in the given order."""
    network.eval()
    device = next(network.parameters()).device
    budget = GPU_PIECES if device.type == "cuda" else CPU_PIECES
    order = sorted(range(len(sources)), key=lambda k: -len(sources[k].ids))
    found: dict[int, str] = {}
    while len(found) < len(order):
        longest = len(sources[order[len(found)]].ids)
        batch = order[len(found) :][: max(1, budget // (longest * width))]
        found |= zip(batch, map(decode, write([sources[k] for k in batch], device)), strict=True)
    return [Generated(found[k], source.truncated) for k, source in enumerate(sources)]
