"""What is read of a dialogue, padded batches against a slow version in plain Python, and the spans of edits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riseq.core.edits import Op
from riseq.core.packed import pack
from riseq.model.inputs import FEWEST_PIECES, Batch, ContextWindow, collate, encode_context, find_spans, take_ragged
from tiny_model import make_pieces

K, D, I, S = Op.KEEP, Op.DELETE, Op.INSERT, Op.SUBSTITUTE  # noqa: E741
SEP, PAD = 90, 91
TABLE = [[SEP], [10], [11, 12], [13], [14, 15, 16]]
"""The pieces of words 0 (the marker) to 4."""

rows = st.lists(
    st.tuples(
        st.lists(st.integers(50, 60), min_size=1, max_size=6),
        st.lists(st.integers(1, len(TABLE) - 1), max_size=6).map(lambda words: [0, *words]),
    ),
    min_size=1,
    max_size=5,
)


def make_batch(contexts: list[list[int]], questions: list[list[int]], extra: int = 0) -> Batch:
    packed_contexts, packed_words, table = pack(contexts), pack(questions), pack(TABLE)
    return collate(
        (packed_contexts.values, packed_contexts.lengths),
        (packed_words.values, packed_words.lengths),
        (table.values, table.offsets),
        SEP,
        PAD,
        lambda longest: longest + extra,
    )


@given(rows, st.integers(0, 3))
def test_a_batch_is_what_plain_python_makes(pairs: list[tuple[list[int], list[int]]], extra: int) -> None:
    contexts, questions = [list(c) for c, _ in pairs], [list(q) for _, q in pairs]
    batch = make_batch(contexts, questions, extra)
    ids = [[*context, *(p for word in words for p in TABLE[word]), SEP] for context, words in pairs]
    width = max(map(len, ids)) + extra
    assert batch.ids_BL.tolist() == [row + [PAD] * (width - len(row)) for row in ids]
    assert batch.lengths_B.tolist() == [len(row) for row in ids]
    assert batch.mask_BL.tolist() == [[at < len(row) for at in range(width)] for row in ids]
    assert batch.types_BL.tolist() == [[int(at >= len(context)) for at in range(width)] for context, _ in pairs]
    most = max(map(len, questions)) + 1
    for row, (context, words) in enumerate(pairs):
        firsts, at = [], len(context)
        for word in words:
            firsts.append(at)
            at += len(TABLE[word])
        assert batch.firsts_BW[row].tolist() == firsts + [at] * (most - len(words))
        assert at == batch.lengths_B[row] - 1
        assert batch.real_BW[row].tolist() == [k < len(words) for k in range(most)]


@given(st.lists(st.lists(st.integers(0, 99), max_size=5), min_size=1, max_size=6), st.data())
def test_ragged_rows_are_taken_in_order(sequences: list[list[int]], data: st.DataObject) -> None:
    index = data.draw(st.lists(st.integers(0, len(sequences) - 1), max_size=8))
    packed = pack(sequences)
    values, lengths = take_ragged(packed.values, packed.offsets, np.array(index, dtype=np.int64))
    assert values.tolist() == [value for k in index for value in sequences[k]]
    assert lengths.tolist() == [len(sequences[k]) for k in index]


# The question is marker(4) w1(5) w2(6,7) w1(8) w4(9,10,11), its last [SEP] at 12; four pieces of context before it.
CASES: list[tuple[str, list[Op], list[tuple[int, int, int]]]] = [
    ("nothing to say", [K, D, K, D, K], []),
    ("an insert reads its word and the next", [K, I, K, K, K], [(1, 5, 8)]),
    ("an insert at the marker reads the marker", [I, K, K, K, K], [(0, 4, 6)]),
    ("an insert at the last word reads the last [SEP]", [K, K, K, K, I], [(4, 9, 13)]),
    ("neighbouring inserts are two spans", [K, I, I, K, K], [(1, 5, 8), (2, 6, 9)]),
    ("one substitution reads its pieces", [K, K, S, K, K], [(2, 6, 8)]),
    ("a run of substitutions is one span", [K, S, S, S, K], [(1, 5, 9)]),
    ("a run at the end stops before the last [SEP]", [K, K, K, S, S], [(3, 8, 12)]),
    ("a run of everything but the marker", [K, S, S, S, S], [(1, 5, 12)]),
    ("two runs parted by a kept word", [K, S, K, S, S], [(1, 5, 6), (3, 8, 12)]),
    ("a delete parts a run", [K, S, D, S, K], [(1, 5, 6), (3, 8, 9)]),
    ("an insert parts a run and is a span", [K, S, I, S, K], [(1, 5, 6), (2, 6, 9), (3, 8, 9)]),
]


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "beside a longer row"])
@pytest.mark.parametrize(("ops", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_spans(ops: list[Op], wanted: list[tuple[int, int, int]], alone: bool) -> None:
    contexts, questions = [[50, 51, 52, 53]], [[0, 1, 2, 1, 4]]
    if not alone:
        contexts, questions = [[50], *contexts], [[0, 1, 1, 1, 1, 1, 1, 1], *questions]
    batch = make_batch(contexts, questions)
    ops_BW = np.zeros((len(questions), batch.firsts_BW.shape[1] - 1), dtype=np.int64)
    ops_BW[-1, : len(ops)] = ops
    ops_BW[-1, len(ops) :] = S  # what a network says past a row's words does not count
    spans = find_spans(batch, ops_BW)
    found = list(zip(spans.word_N.tolist(), spans.start_N.tolist(), spans.end_N.tolist(), strict=True))
    assert found == wanted
    assert set(spans.row_N.tolist()) <= {len(questions) - 1}


PIECES = make_pieces("bert")
utterances = st.lists(
    st.lists(st.sampled_from(["film", "band", "?", "zed", "hayes"]), min_size=1, max_size=9), max_size=5
)


def show(context: list[list[str]], window: ContextWindow) -> tuple[list[list[int]], bool, int]:
    """Return the rows of pieces that ``window`` shows, oldest first, whether it cut, and how many pieces all have."""
    encoded = encode_context(PIECES, [" ".join(words) for words in context], window)
    assert encoded.ids[0] == PIECES.cls_id
    rows: list[list[int]] = [[]]
    for piece in encoded.ids[1:]:
        if piece == PIECES.sep_id:
            rows.append([])
        else:
            rows[-1].append(piece)
    return [row for row in rows if row], encoded.truncated, len(encoded.ids)


def cut(words: list[str]) -> list[int]:
    return [piece for word in words for piece in PIECES.cut(word)]


@given(utterances, st.integers(1, 60))
def test_the_latest_is_read_first_in_whole_words_and_never_more_than_allowed(
    context: list[list[str]], allowed: int
) -> None:
    rows, truncated, length = show(context, ContextWindow(None, None, allowed))
    assert length <= allowed
    whole = [cut(words) for words in context]
    latest = whole[len(whole) - len(rows) :]
    assert rows[1:] == latest[1:], "only the oldest that is shown may lack its beginning"
    if rows:
        tails = [cut(context[-len(rows)][at:]) for at in range(len(context[-len(rows)]))]
        assert rows[0] in tails
        assert rows[0] == latest[0] or len(rows[0]) >= FEWEST_PIECES
    assert truncated == (rows != whole)
    if truncated and rows and rows[0] == latest[0]:
        missing = context[-len(rows) - 1]
        room = allowed - length - 1
        assert len(cut(missing)) > room, "what would have fitted was left out"


@given(utterances)
def test_with_room_for_all_of_it_a_whole_dialogue_is_read(context: list[list[str]]) -> None:
    assert show(context, ContextWindow(None, None))[:2] == ([cut(words) for words in context], False)
    exactly = sum(len(cut(words)) + 1 for words in context) or 1
    assert show(context, ContextWindow(None, None, exactly))[:2] == ([cut(words) for words in context], False)


@given(utterances)
def test_the_papers_cut_is_by_utterance(context: list[list[str]]) -> None:
    rows, truncated, _ = show(context, ContextWindow(6, 2))
    wanted = []
    for words in context[-2:]:
        kept = [at for at in range(len(words) + 1) if len(cut(words[:at])) <= 6]
        wanted.append(cut(words[: kept[-1]]))
    assert rows == [row for row in wanted if row]
    assert truncated == (wanted != [cut(words) for words in context])


LONG = ["film"] * 20 + ["zed"]


@pytest.mark.parametrize(
    ("why", "context", "allowed", "wanted"),
    [
        ("its end, the name, is what stays", [LONG], 12, [LONG[-9:]]),
        ("no half word is shown: zed has three pieces", [["zed"] * 6], 12, [["zed"] * 3]),
        ("the end of an older one fills what is left", [LONG, ["band"]], 14, [LONG[-9:], ["band"]]),
        ("too little is left to say anything", [LONG, ["band"]], 10, [["band"]]),
        ("what is older than one that was cut is not read", [["band"], LONG], 12, [LONG[-9:]]),
        ("nothing fits", [["film", "band"]], 2, []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_end_of_an_utterance_that_does_not_fit(
    why: str, context: list[list[str]], allowed: int, wanted: list[list[str]]
) -> None:
    assert show(context, ContextWindow(None, None, allowed))[:2] == ([cut(words) for words in wanted], True), why


def test_an_utterance_without_words_is_not_left_out() -> None:
    for allowed in (2, 3, 4):
        assert not encode_context(PIECES, ["\u200b", "film"], ContextWindow(None, None, allowed)).truncated
