"""Questions and contexts as padded arrays for a network; numpy alone, shared by torch and ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Op
from riseq.text.pieces import Pieces
from riseq.text.words import forms

UTTERANCE_PIECES = 30
"""The paper's cut of each utterance."""
UTTERANCES = 6
"""Three turns of question and answer."""


@dataclass(frozen=True, slots=True)
class ContextIds:
    """The piece ids of ``[CLS] c1 [SEP] c2``, without a last [SEP], and whether anything was left out."""

    ids: list[int]
    truncated: bool


def encode_context(pieces: Pieces, context: Sequence[str], utterances: int = UTTERANCES) -> ContextIds:
    """Return the last ``utterances`` of a dialogue in pieces, each cut at a whole word within its limit."""
    kept = context[len(context) - utterances :] if len(context) > utterances else context
    truncated = len(kept) < len(context)
    ids = [pieces.cls_id]
    for number, utterance in enumerate(kept):
        if number:
            ids.append(pieces.sep_id)
        room = UTTERANCE_PIECES
        for form in forms(utterance):
            cut = pieces.cut(form)
            if len(cut) > room:
                truncated = True
                break
            ids.extend(cut)
            room -= len(cut)
    return ContextIds(ids, truncated)


IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """A padded batch: row b is ``[CLS] c1 [SEP] c2 [SEP] y [SEP]``, the marker being the [SEP] before y."""

    ids_BL: IntArray
    lengths_B: IntArray
    context_B: IntArray
    """How many pieces stand before the marker."""
    firsts_BW: IntArray
    """Where each word starts, the marker first; past a row's words, where its last [SEP] stands."""
    words_B: IntArray
    """How many words a row has, the marker counted."""

    @property
    def types_BL(self) -> IntArray:
        """Token types: 0 up to the marker, 1 from there on."""
        return (np.arange(self.ids_BL.shape[1])[None, :] >= self.context_B[:, None]).astype(np.int64)

    @property
    def mask_BL(self) -> NDArray[np.bool_]:
        """True at real pieces."""
        return np.arange(self.ids_BL.shape[1])[None, :] < self.lengths_B[:, None]

    @property
    def real_BW(self) -> NDArray[np.bool_]:
        """True at real words."""
        return np.arange(self.firsts_BW.shape[1])[None, :] < self.words_B[:, None]


@dataclass(frozen=True, slots=True)
class SpanBatch:
    """Where phrases are wanted: their row, their first word, and their pieces ``start`` to ``end``."""

    row_N: IntArray
    word_N: IntArray
    start_N: IntArray
    end_N: IntArray


def take_ragged(
    values: NDArray[np.integer], offsets: NDArray[np.integer], index: NDArray[np.integer]
) -> tuple[IntArray, IntArray]:
    """Return the rows ``index`` of a packed array laid end to end, and each one's length."""
    starts = offsets[index].astype(np.int64)
    lengths = offsets[index + 1].astype(np.int64) - starts
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    at = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
    return values[at].astype(np.int64), lengths


def collate(
    contexts: tuple[NDArray[np.integer], IntArray],
    words: tuple[NDArray[np.integer], IntArray],
    table: tuple[NDArray[np.integer], NDArray[np.integer]],
    sep_id: int,
    pad_id: int,
    pad_width: Callable[[int], int] = int,
) -> Batch:
    """Return the padded batch of contexts (piece ids from [CLS] on, no last [SEP]) and questions (word ids).

    Both are (values laid end to end, lengths); ``table`` is (pieces, offsets) by word id; ``pad_width`` gives the
    width of a batch from its longest row.
    """
    context_values, context_lengths = contexts
    word_values, word_lengths = words
    piece_values, pieces_of_word = take_ragged(table[0], table[1], word_values)
    rows = len(word_lengths)
    word_row = np.repeat(np.arange(rows), word_lengths)
    question_lengths = np.bincount(word_row, weights=pieces_of_word, minlength=rows).astype(np.int64)
    lengths = context_lengths + question_lengths + 1
    ids = np.full((rows, pad_width(int(lengths.max()))), pad_id, dtype=np.int64)

    def columns(counts: IntArray) -> IntArray:
        return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)

    ids[np.repeat(np.arange(rows), context_lengths), columns(context_lengths)] = context_values
    row_of_piece = np.repeat(np.arange(rows), question_lengths)
    ids[row_of_piece, columns(question_lengths) + context_lengths[row_of_piece]] = piece_values
    ids[np.arange(rows), lengths - 1] = sep_id

    firsts = np.repeat((lengths - 1)[:, None], int(word_lengths.max()) + 1, axis=1)
    before = np.cumsum(pieces_of_word) - pieces_of_word
    row_start = np.concatenate([[0], np.cumsum(question_lengths)[:-1]])
    firsts[word_row, columns(word_lengths)] = before - row_start[word_row] + context_lengths[word_row]
    return Batch(ids, lengths, context_lengths, firsts, word_lengths)


def find_spans(batch: Batch, ops_BW: NDArray[np.integer]) -> SpanBatch:
    """Return the spans of a batch's edits: each INSERT with its right neighbour, each run of SUBSTITUTEs."""
    width = ops_BW.shape[1]
    real = batch.real_BW[:, :width]
    substitute = (ops_BW == Op.SUBSTITUTE) & real
    insert = (ops_BW == Op.INSERT) & real
    before = np.zeros_like(substitute)
    before[:, 1:] = substitute[:, :-1]
    row, word = np.nonzero(insert | (substitute & ~before))
    # The end of a run: the nearest later word that is no SUBSTITUTE.
    stops = np.where(substitute, width, np.arange(width)[None, :])
    run_end = np.minimum.accumulate(stops[:, ::-1], axis=1)[:, ::-1]
    last_word = np.where(insert[row, word], word + 2, run_end[row, word])
    words = batch.words_B[row]
    inside = np.minimum(last_word, words)
    start = batch.firsts_BW[row, word]
    end = np.where(last_word > words, batch.lengths_B[row], batch.firsts_BW[row, np.minimum(inside, width)])
    return SpanBatch(row.astype(np.int64), word.astype(np.int64), start, end)
