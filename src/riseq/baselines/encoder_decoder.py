"""A trained encoder-decoder (Trans++, QGDiv): its folder, what it reads, and the questions it writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from riseq.baselines.generation import Decoding, Generated, Source, find_longer, generate, pad, write_outputs
from riseq.baselines.generator import TARGET_PIECES, BatchDecoder, Generator, GeneratorConfig, SourceBatch
from riseq.files import make_folder
from riseq.hub import check_files
from riseq.model.checkpoint import fill_network, read_shape, save_weights
from riseq.model.folder import FORMAT, LAYOUT, read_json, read_training_window, write_facts
from riseq.model.inputs import PAPER_WINDOW, ContextWindow, encode_context
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Example, InputError

QUESTION_PIECES = 64
"""A longer question is cut here, at a whole word; the scores look at 30."""


@dataclass(slots=True)
class EncoderDecoder:
    """A network, the vocabulary of its pieces, facts of its training, and how it decodes."""

    network: Generator
    pieces: Pieces
    facts: Mapping[str, Any] = field(default_factory=dict)
    decoding: Decoding = field(default_factory=Decoding)

    @classmethod
    def load(cls, folder: str | Path) -> EncoderDecoder:
        """Return the encoder-decoder in ``folder``, its parts checked against each other."""
        folder = Path(folder)
        names = (LAYOUT.config, LAYOUT.weights, LAYOUT.vocabulary)
        check_files(folder, names, "the folder of an encoder-decoder that riseq trained")
        config = read_json(folder / LAYOUT.config)
        if not isinstance(config, dict) or "generator" not in config or config.get("format") != FORMAT:
            raise InputError(f"{folder}: {LAYOUT.config} describes no encoder-decoder of format {FORMAT}")
        shape = read_shape(folder, GeneratorConfig, config["generator"], "an encoder-decoder")
        pieces = Pieces.load(folder / LAYOUT.vocabulary)
        with torch.device("meta"):
            network = Generator(shape)
        fill_network(network, folder)
        most = shape.backbone.vocab_size
        if len(pieces) > most:
            raise InputError(f"{folder}: {LAYOUT.vocabulary} has {len(pieces)} pieces, the network {most}")
        facts = {name: fact for name, fact in config.items() if name not in ("format", "generator")}
        return cls(network.eval(), pieces, facts)

    def save(self, folder: Path, facts: Mapping[str, Any], card: str, half: bool = False) -> None:
        """Write the model's folder whole; ``half`` stores the weights in float16."""
        with make_folder(folder) as work:
            save_weights(work / LAYOUT.weights, self.network.state_dict(), half)
            self.pieces.save(work / LAYOUT.vocabulary)
            write_facts(work, {"format": FORMAT, "generator": asdict(self.network.config), **facts}, card)

    def write(self, examples: Sequence[Example]) -> list[Generated]:
        """Return what the network generates for each example, as lower-cased words."""
        options, longer = self.decoding.options(), find_longer(self.facts)
        window = read_training_window(self.facts)
        decode = partial(join_pieces, name_pieces(self.pieces))

        def run(batch: list[Source], device: torch.device) -> list[list[int]]:
            decoder = BatchDecoder(self.network, collate_sources(batch, self.pieces).to(device))
            start = torch.full((len(batch), 1), self.pieces.cls_id, device=device)
            limits = [min(TARGET_PIECES - 1, source.question + longer) for source in batch]
            return generate(decoder, (start, torch.ones_like(start)), limits, self.pieces.sep_id, **options)

        sources = [encode_source(self.pieces, example, window) for example in examples]
        return write_outputs(self.network, sources, run, decode, self.decoding.width)


def encode_words(pieces: Pieces, text: str, room: int = QUESTION_PIECES) -> tuple[list[int], bool]:
    """Return the pieces of as many of the words of ``text`` as have room, and whether any was left out."""
    ids: list[int] = []
    for form in forms(text):
        cut = pieces.cut(form)
        if len(ids) + len(cut) > room:
            return ids, True
        ids.extend(cut)
    return ids, False


def encode_source(pieces: Pieces, example: Example, window: ContextWindow = PAPER_WINDOW) -> Source:
    """Return the ids of ``[CLS] c1 [SEP] c2 [SEP] x [SEP]``."""
    context = encode_context(pieces, example.context, window)
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


def join_pieces(names: Mapping[int, str], ids: Sequence[int]) -> str:
    """Return the words of output pieces, marks left out; a piece that continues nothing starts a word of its own."""
    words: list[str] = []
    for piece in (names[number] for number in ids if number in names):
        continues = piece.startswith("##") and len(piece) > 2
        if continues and words:
            words[-1] += piece[2:]
        else:
            words.append(piece[2:] if continues else piece)
    return " ".join(words)
