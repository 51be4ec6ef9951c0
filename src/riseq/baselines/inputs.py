"""What an encoder-decoder reads of an example, and how its output becomes words again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from riseq.model.inputs import encode_context
from riseq.text.pieces import Pieces
from riseq.text.words import forms
from riseq.types import Example

QUESTION_PIECES = 64
"""A longer question is read up to here, at a whole word; the scores look at 30."""


@dataclass(frozen=True, slots=True)
class Source:
    """The ids of ``[CLS] c1 [SEP] c2 [SEP] x [SEP]``, and how many of them stand before the question's marker."""

    ids: tuple[int, ...]
    context: int
    truncated: bool

    @property
    def question(self) -> int:
        """How many pieces the question has."""
        return len(self.ids) - self.context - 2


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """Sources side by side: their pieces, types (1 from the marker on), and what is real, question and context."""

    ids_BL: Tensor
    types_BL: Tensor
    mask_BL: Tensor
    question_BL: Tensor
    """True at the question's pieces, without the marks around them; likewise ``context_BL``."""
    context_BL: Tensor

    def to(self, device: torch.device) -> SourceBatch:
        """Return the batch on ``device``."""
        parts = (self.ids_BL, self.types_BL, self.mask_BL, self.question_BL, self.context_BL)
        return SourceBatch(*(part.to(device, non_blocking=True) for part in parts))


def cut_words(pieces: Pieces, text: str, room: int = QUESTION_PIECES) -> tuple[list[int], bool]:
    """Return the pieces of as many of the words of ``text`` as have room, and whether any was left out."""
    ids: list[int] = []
    for form in forms(text):
        cut = pieces.cut(form)
        if len(ids) + len(cut) > room:
            return ids, True
        ids.extend(cut)
    return ids, False


def read_source(pieces: Pieces, example: Example) -> Source:
    """Return an example as the encoder reads it."""
    context = encode_context(pieces, example.context)
    question, cut = cut_words(pieces, example.question)
    ids = (*context.ids, pieces.sep_id, *question, pieces.sep_id)
    return Source(ids, len(context.ids), context.truncated or cut)


def collate_sources(sources: Sequence[Source], pieces: Pieces) -> SourceBatch:
    """Return the padded batch of ``sources``."""
    lengths = np.array([len(source.ids) for source in sources])
    before = np.array([source.context for source in sources])
    ids = np.full((len(sources), int(lengths.max())), pieces.pad_id, dtype=np.int64)
    for row, source in enumerate(sources):
        ids[row, : len(source.ids)] = source.ids
    place = np.arange(ids.shape[1])[None, :]
    mask = place < lengths[:, None]
    after = place >= before[:, None]
    plain = mask & (ids != pieces.sep_id) & (ids != pieces.cls_id)
    arrays = (ids, (after & mask).astype(np.int64), mask, plain & after, plain & ~after)
    return SourceBatch(*(torch.from_numpy(array) for array in arrays))


class Speller:
    """Turns the pieces that a decoder writes back into words."""

    def __init__(self, pieces: Pieces) -> None:
        self._names = {number: piece for piece, number in pieces.vocabulary.items()}
        self._silent = {pieces.cls_id, pieces.sep_id, pieces.pad_id, pieces.unk_id}

    def words(self, ids: Sequence[int]) -> list[str]:
        """Return the words of ``ids``, a piece that goes on from nothing starting one of its own."""
        words: list[str] = []
        for number in ids:
            piece = self._names.get(number)
            if piece is None or number in self._silent:
                continue
            if piece.startswith("##") and len(piece) > 2:
                if words:
                    words[-1] += piece[2:]
                else:
                    words.append(piece[2:])
            else:
                words.append(piece)
        return words
