"""Questions and contexts as padded arrays for a network; numpy alone, shared by torch and ONNX."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from riseq.core.edits import Op
from riseq.text.pieces import Pieces
from riseq.text.words import SHORT, forms

if TYPE_CHECKING:
    from riseq.model.copies import CopyBatch

UTTERANCE_PIECES = 30
"""The paper's cut of each utterance."""
UTTERANCES = 6
"""Three turns of question and answer."""
FEWEST_PIECES = 8
"""A shorter rest of an utterance, without its beginning, says nothing."""


class Condition(IntEnum):
    """What a network is told of the words that may go."""

    UNKNOWN = 0
    """Nothing: the benchmark's way."""
    GROUNDED = 1
    """Only what the dialogue said."""
    UNGROUNDED = 2
    """More than that."""


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """How much of a dialogue a network reads; None is no limit of that kind. The default is the paper's."""

    utterance_pieces: int | None = UTTERANCE_PIECES
    utterances: int | None = UTTERANCES
    pieces: int | None = None
    """Of the whole dialogue: the latest utterances first, and the end of the one that does not fit."""


PAPER_WINDOW = ContextWindow()
CutWord = tuple[int, ...]
"""The pieces of one word."""


class ShownRow(NamedTuple):
    """What is shown of one utterance: its index, and the indices of its words."""

    utterance: int
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ContextIds:
    """The piece ids of ``[CLS] c1 [SEP] c2``, without a last [SEP], and whether anything was left out."""

    ids: list[int]
    truncated: bool
    rows: list[ShownRow]
    """Which words they are of, oldest utterance first; one row of no words is shown where there is none."""


class CutUtterances:
    """The words of each utterance of a dialogue in pieces; one is cut when first asked for, and only once."""

    def __init__(
        self, pieces: Pieces, context: Sequence[str], find_words: Callable[[int], Sequence[str]] | None = None
    ) -> None:
        """Cut with ``pieces`` the words of the utterances of ``context``; ``find_words`` has those of long ones."""
        self._pieces, self._context, self._find_words = pieces, context, find_words
        self._cut: dict[int, tuple[CutWord, ...]] = {}
        self._joined: dict[int, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._context)

    def __getitem__(self, index: int) -> tuple[CutWord, ...]:
        if index not in self._cut:
            if self._find_words is None or len(self._context[index]) <= SHORT:
                self._cut[index] = self._pieces.cut_text(self._context[index])
            else:
                self._cut[index] = tuple(map(self._pieces.cut, self._find_words(index)))
        return self._cut[index]

    def join(self, index: int) -> tuple[int, ...]:
        """Return the pieces of an utterance in a row."""
        if index not in self._joined:
            text = self._context[index]
            short = len(text) <= SHORT
            self._joined[index] = self._pieces.encode_text(text) if short else tuple(chain.from_iterable(self[index]))
        return self._joined[index]


def encode_context(pieces: Pieces, context: Sequence[str], window: ContextWindow = PAPER_WINDOW) -> ContextIds:
    """Return what ``window`` shows of a dialogue in pieces, cut at whole words."""
    return encode_cut(pieces, CutUtterances(pieces, context), window)


def encode_cut(
    pieces: Pieces, utterances: CutUtterances | Sequence[Sequence[CutWord]], window: ContextWindow
) -> ContextIds:
    """Return what ``encode_context`` does, of utterances in pieces; the latest are asked for first."""
    first = 0 if window.utterances is None else max(0, len(utterances) - window.utterances)
    room = window.pieces
    truncated = first > 0
    rows: list[Sequence[int]] = []
    shown: list[ShownRow] = []
    for index in reversed(range(first, len(utterances))):
        words = utterances[index]
        whole = utterances.join(index) if isinstance(utterances, CutUtterances) else tuple(chain.from_iterable(words))
        row, count = _take_first(words, whole, window.utterance_pieces)
        truncated |= count < len(words)
        if room is not None and len(row) >= room:
            truncated |= bool(words)
            rest = [list(reversed(cut)) for cut in reversed(words)]
            row, count = _take_first(rest, None, room - 1)
            if len(row) >= FEWEST_PIECES:
                rows.append(row[::-1])
                shown.append(ShownRow(index, tuple(range(len(words) - count, len(words)))))
            break
        room = None if room is None else room - len(row) - 1
        rows.append(row)
        shown.append(ShownRow(index, _list_first(count)))
    ids = [pieces.cls_id, *rows[-1]] if rows else [pieces.cls_id]
    for row in reversed(rows[:-1]):
        ids += [pieces.sep_id, *row]
    return ContextIds(ids, truncated, shown[::-1] or [ShownRow(0, ())])


@lru_cache(maxsize=1024)
def _list_first(count: int) -> tuple[int, ...]:
    return tuple(range(count))


def shown_words(context: Sequence[str], encoded: ContextIds) -> list[list[str]]:
    """Return the words of each utterance that ``encode_context`` shows, oldest first; one empty row where none is."""
    found = []
    for index, places in encoded.rows:
        words = forms(context[index]) if places else []
        found.append([words[place] for place in places])
    return found


def _take_first(
    words: Sequence[Sequence[int]], whole: Sequence[int] | None, room: int | None
) -> tuple[Sequence[int], int]:
    """Return the pieces of the first words, as many as have ``room`` pieces together, and how many words that is.

    ``whole`` are the pieces of all words, where they are known.
    """
    if whole is not None and (room is None or len(whole) <= room):
        return whole, len(words)
    row: list[int] = []
    count = 0
    for cut in words:
        if room is not None and len(row) + len(cut) > room:
            break
        row.extend(cut)
        count += 1
    return row, count


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
    condition_B: IntArray
    """What the network is told of the words that may go, a ``Condition``."""
    copies: "CopyBatch | None" = None
    """The words that phrases can be copied from, for a network that does so."""

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

    def take(self, row_N: IntArray) -> "Batch":
        """Return the rows at these places, without what phrases are copied from."""
        sizes = self.lengths_B[row_N], self.context_B[row_N]
        words = self.firsts_BW[row_N], self.words_B[row_N]
        return Batch(self.ids_BL[row_N], *sizes, *words, self.condition_B[row_N])


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
    return values[np.repeat(starts, lengths) + _count_up(lengths)].astype(np.int64), lengths


def _count_up(lengths: IntArray) -> IntArray:
    """Return 0, 1, 2, ... for each row of ``lengths``, laid end to end."""
    return np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def collate(
    contexts: tuple[NDArray[np.integer], IntArray],
    words: tuple[NDArray[np.integer], IntArray],
    table: tuple[NDArray[np.integer], NDArray[np.integer]],
    sep_id: int,
    pad_id: int,
    pad_width: Callable[[int], int] = int,
    condition: IntArray | None = None,
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
    ids[np.repeat(np.arange(rows), context_lengths), _count_up(context_lengths)] = context_values
    row_of_piece = np.repeat(np.arange(rows), question_lengths)
    ids[row_of_piece, _count_up(question_lengths) + context_lengths[row_of_piece]] = piece_values
    ids[np.arange(rows), lengths - 1] = sep_id

    firsts = np.repeat((lengths - 1)[:, None], int(word_lengths.max()) + 1, axis=1)
    before = np.cumsum(pieces_of_word) - pieces_of_word
    row_start = np.concatenate([[0], np.cumsum(question_lengths)[:-1]])
    firsts[word_row, _count_up(word_lengths)] = before - row_start[word_row] + context_lengths[word_row]
    if condition is None:
        condition = np.full(rows, Condition.UNKNOWN, dtype=np.int64)
    return Batch(ids, lengths, context_lengths, firsts, word_lengths, condition)


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
