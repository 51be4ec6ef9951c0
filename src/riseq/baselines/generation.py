"""From examples to the questions that a baseline's network generates: sources in batches, decoding, words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList, StoppingCriteriaList, TopPLogitsWarper

from riseq.baselines.generator import TARGET_PIECES, BatchDecoder, Generator, SourceBatch
from riseq.baselines.language_model import QUESTION_TOKENS, LanguageModel, Source, pad
from riseq.model.inputs import encode_context
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Example, InputError

QUESTION_PIECES = 64
"""A longer question is cut here, at a whole word; the scores look at 30."""
LONGER = 8
"""How many pieces an output may have more than its question: a target seldom has any."""
GPU_PIECES, CPU_PIECES = 131_072, 2_048
"""Padded pieces in one batch, beams counted."""


def encode_words(pieces: Pieces, text: str, room: int = QUESTION_PIECES) -> tuple[list[int], bool]:
    """Return the pieces of as many of the words of ``text`` as have room, and whether any was left out."""
    ids: list[int] = []
    for form in forms(text):
        cut = pieces.cut(form)
        if len(ids) + len(cut) > room:
            return ids, True
        ids.extend(cut)
    return ids, False


def encode_source(pieces: Pieces, example: Example) -> Source:
    """Return the ids of ``[CLS] c1 [SEP] c2 [SEP] x [SEP]``."""
    context = encode_context(pieces, example.context)
    question, cut = encode_words(pieces, example.question)
    ids = (*context.ids, pieces.sep_id, *question, pieces.sep_id)
    return Source(ids, len(question), context.truncated or cut)


def collate_sources(sources: Sequence[Source], pieces: Pieces) -> SourceBatch:
    """Return the padded batch of ``sources``."""
    ids, mask = pad([source.ids for source in sources], pieces.pad_id)
    real = mask.bool()
    markers = torch.tensor([[len(source.ids) - source.question - 2] for source in sources])
    after = torch.arange(ids.shape[1]) >= markers
    plain = real & (ids != pieces.sep_id) & (ids != pieces.cls_id)
    return SourceBatch(ids, (after & real).long(), real, torch.stack([plain & after, plain & ~after]))


def name_pieces(pieces: Pieces) -> dict[int, str]:
    """Return the pieces that words are made of, by their ids."""
    marks = {pieces.cls_id, pieces.sep_id, pieces.pad_id, pieces.unk_id}
    return {number: piece for piece, number in pieces.vocabulary.items() if number not in marks}


def join_pieces(names: Mapping[int, str], ids: Sequence[int]) -> list[str]:
    """Return the words of output pieces, marks left out; a piece that continues nothing starts a word of its own."""
    words: list[str] = []
    for piece in (names[number] for number in ids if number in names):
        continues = piece.startswith("##") and len(piece) > 2
        if continues and words:
            words[-1] += piece[2:]
        else:
            words.append(piece[2:] if continues else piece)
    return words


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


@dataclass(frozen=True, slots=True)
class Generated:
    """What was generated for one example: its words in one string, and whether some of the example was cut off."""

    text: str
    truncated: bool


@torch.no_grad()
def run_generator(
    network: Generator, pieces: Pieces, examples: Sequence[Example], decoding: Decoding, device: torch.device
) -> list[Generated]:
    """Return what an encoder-decoder generates for each example, as lower-cased words."""
    sources = [encode_source(pieces, example) for example in examples]
    options = decoding.options()

    def run(batch: list[Source]) -> list[list[int]]:
        decoder = BatchDecoder(network, collate_sources(batch, pieces).to(device))
        start = torch.full((len(batch), 1), pieces.cls_id, device=device)
        limits = [min(TARGET_PIECES - 1, source.question + LONGER) for source in batch]
        return generate(decoder, (start, torch.ones_like(start)), limits, pieces.sep_id, **options)

    names = name_pieces(pieces)
    network.eval()
    return _run_batches(sources, run, lambda ids: " ".join(join_pieces(names, ids)), device, decoding.width)


@torch.no_grad()
def run_language_model(model: LanguageModel, examples: Sequence[Example], device: torch.device) -> list[Generated]:
    """Return what a language model greedily writes after each example."""

    def run(batch: list[Source]) -> list[list[int]]:
        ids, mask = pad([prompt.ids for prompt in batch], model.end_id, "left")
        limits = [min(QUESTION_TOKENS, prompt.question + LONGER) for prompt in batch]
        return generate(model.network, (ids.to(device), mask.to(device)), limits, model.end_id)

    model.network.eval()
    return _run_batches([model.make_prompt(example) for example in examples], run, model.decode, device)


def _run_batches(
    sources: Sequence[Source],
    run: Callable[[list[Source]], list[list[int]]],
    decode: Callable[[Sequence[int]], str],
    device: torch.device,
    width: int = 1,
) -> list[Generated]:
    """Return what ``run`` writes after every source, decoded: batches of like length at a time, in the given order."""
    budget = GPU_PIECES if device.type == "cuda" else CPU_PIECES
    order = sorted(range(len(sources)), key=lambda k: -len(sources[k].ids))
    found: dict[int, str] = {}
    while len(found) < len(order):
        longest = len(sources[order[len(found)]].ids)
        batch = order[len(found) :][: max(1, budget // (longest * width))]
        found |= zip(batch, map(decode, run([sources[k] for k in batch])), strict=True)
    return [Generated(found[k], source.truncated) for k, source in enumerate(sources)]
