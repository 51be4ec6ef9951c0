"""A network, a way of decoding and many examples: the questions it writes, in batches of like length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import torch
from torch import Tensor

from riseq.baselines.decoding import BeamStepper, Output, Stepper, decode_greedily, decode_nucleus, search_beams
from riseq.baselines.generator import TARGET_PIECES, Generator, GeneratorStepper
from riseq.baselines.inputs import Source, Speller, collate_sources, read_source
from riseq.baselines.language_model import QUESTION_TOKENS, LanguageModel, LanguageModelStepper, Prompt
from riseq.text.pieces import Pieces
from riseq.types import Example, InputError

T = TypeVar("T")

LONGER = 8
"""How many pieces an output may have more than its question: a target seldom has any."""
GPU_PIECES, CPU_PIECES = 131_072, 2_048
"""Padded pieces in one batch, beams counted."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How outputs are chosen."""

    way: Literal["greedy", "beams", "nucleus"] = "greedy"
    beams: int = 5
    length_power: float = 1.0
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
        return self.beams if self.way == "beams" else 1


@dataclass(frozen=True, slots=True)
class Written:
    """What was written for one example: its words in one string, and whether some of the example was not read."""

    text: str
    truncated: bool


@torch.no_grad()
def write_by_generator(
    network: Generator, pieces: Pieces, examples: Sequence[Example], decoding: Decoding, device: torch.device
) -> list[Written]:
    """Return what an encoder-decoder writes for each example, as lower-cased words."""
    sources = [read_source(pieces, example) for example in examples]

    def run(batch: list[Source]) -> list[Output]:
        stepper = GeneratorStepper(network, collate_sources(batch, pieces).to(device), pieces.cls_id, decoding.width)
        limits = torch.tensor([min(TARGET_PIECES - 1, source.question + LONGER) for source in batch])
        return _decode(stepper, limits, pieces.sep_id, decoding, generator)

    network.eval()
    generator = torch.Generator().manual_seed(decoding.seed)
    outputs = _run_batches(sources, [len(s.ids) for s in sources], run, decoding.width, device)
    speller = Speller(pieces)
    return [
        Written(" ".join(speller.words(output.ids)), source.truncated)
        for output, source in zip(outputs, sources, strict=True)
    ]


@torch.no_grad()
def write_by_language_model(model: LanguageModel, examples: Sequence[Example], device: torch.device) -> list[Written]:
    """Return what a language model writes greedily after each example."""
    prompts = [model.ask(example) for example in examples]

    def run(batch: list[Prompt]) -> list[Output]:
        limits = torch.tensor([min(QUESTION_TOKENS, prompt.question + LONGER) for prompt in batch])
        return decode_greedily(LanguageModelStepper(model, batch, device), limits, model.end_id)

    model.network.eval()
    outputs = _run_batches(prompts, [len(p.ids) for p in prompts], run, 1, device)
    return [Written(model.read(output.ids), prompt.truncated) for output, prompt in zip(outputs, prompts, strict=True)]


def _decode(
    stepper: BeamStepper, limits: Tensor, end_id: int, decoding: Decoding, generator: torch.Generator
) -> list[Output]:
    if decoding.way == "beams":
        return search_beams(stepper, limits, end_id, decoding.beams, decoding.length_power)
    alone: Stepper = stepper
    if decoding.way == "nucleus":
        return decode_nucleus(alone, limits, end_id, decoding.mass, generator)
    return decode_greedily(alone, limits, end_id)


def _run_batches(
    items: Sequence[T], lengths: Sequence[int], run: Callable[[list[T]], list[Output]], width: int, device: torch.device
) -> list[Output]:
    """Return what ``run`` makes of every item, batches of like length at a time, in the items' order."""
    budget = GPU_PIECES if device.type == "cuda" else CPU_PIECES
    order = sorted(range(len(items)), key=lambda k: -lengths[k])
    found: list[Output | None] = [None] * len(items)
    start = 0
    while start < len(order):
        size = max(1, budget // (lengths[order[start]] * width))
        index = order[start : start + size]
        for place, output in zip(index, run([items[k] for k in index]), strict=True):
            found[place] = output
        start += size
    return [output for output in found if output is not None]
