"""Edits: what they make of a sequence, and how moves become edits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pairs import RENAMED_PAIRS, paths, sequences, words

from riseq.core.edits import (
    DELETE,
    EDITED,
    GONE,
    KEEP,
    MARKER,
    Edit,
    Move,
    Op,
    apply,
    find_run,
    find_runs,
    merge,
    set_run,
    split_run,
    substitute_run,
)

K, D, I, S = Op.KEEP, Op.DELETE, Op.INSERT, Op.SUBSTITUTE  # noqa: E741 - the paper's letters
MORE = Edit(S)
"""A SUBSTITUTE inside a run: its phrase is on the run's first position."""


def walk(*ops: Op) -> list[Move]:
    """Return the path that takes these moves from the first cell."""
    i = j = 0
    path = []
    for op in ops:
        i, j = i + (op is not I), j + (op is not D)
        path.append(Move(op, i, j))
    return path


def substitute(*phrase: str) -> Edit:
    return Edit(S, phrase)


def insert(*phrase: str) -> Edit:
    return Edit(I, phrase)


MERGES = [
    ((), "", [KEEP], "nothing but the marker is kept"),
    ((I,), "x", [insert("x")], "an insert before the first token is the marker's"),
    ((I, I), "xy", [insert("x", "y")], "inserts in one row are one phrase"),
    ((K, I), "ax", [KEEP, insert("x")], "KEEP + inserts = INSERT"),
    ((K, I, I), "axy", [KEEP, insert("x", "y")], "KEEP + several inserts = INSERT of them all"),
    ((I, K), "xa", [insert("x"), KEEP], "an insert belongs to the token on its left, not on its right"),
    ((S,), "x", [KEEP, substitute("x")], "a lone SUBSTITUTE stays what it is"),
    ((S, I), "xy", [KEEP, substitute("x", "y")], "SUBSTITUTE + inserts = SUBSTITUTE with the longer phrase"),
    ((D, I), "x", [KEEP, substitute("x")], "DELETE + inserts = SUBSTITUTE: the token goes and a phrase comes"),
    ((D, D), "", [KEEP, DELETE, DELETE], "a block without a SUBSTITUTE only deletes"),
    ((D, S), "x", [KEEP, substitute("x"), MORE], "DELETE before SUBSTITUTE joins it, and the phrase moves first"),
    ((S, D), "x", [KEEP, substitute("x"), MORE], "DELETE after SUBSTITUTE joins it"),
    ((S, S), "xy", [KEEP, substitute("x", "y"), MORE], "neighbouring SUBSTITUTEs say one phrase"),
    (
        (D, D, I),
        "x",
        [KEEP, substitute("x"), MORE],
        "the insert makes the block's last DELETE a SUBSTITUTE, then it joins",
    ),
    ((D, S, D), "x", [KEEP, substitute("x"), MORE, MORE], "the block reaches to both sides of its SUBSTITUTE"),
    ((S, I, D, S), "xyz", [KEEP, substitute("x", "y", "z"), MORE, MORE], "phrases of a block join in target order"),
    ((S, K, S), "xby", [KEEP, substitute("x"), KEEP, substitute("y")], "a KEEP parts two blocks"),
    ((S, K, D), "xb", [KEEP, substitute("x"), KEEP, DELETE], "a DELETE beyond a KEEP stays a DELETE"),
    ((K, I, S), "axy", [KEEP, insert("x"), substitute("y")], "an INSERT keeps its token, so it is outside the block"),
    ((S, K, I, D), "xby", [KEEP, substitute("x"), insert("y"), DELETE], "an INSERT parts a block as a KEEP does"),
    ((I, D), "x", [insert("x"), DELETE], "the marker's insert does not join a deletion after it"),
]


@pytest.mark.parametrize(("moves", "target", "expected", "why"), MERGES, ids=[case[3] for case in MERGES])
def test_merge(moves: tuple[Op, ...], target: str, expected: list[Edit], why: str) -> None:
    assert merge(walk(*moves), words(target)) == expected, why


def test_every_path_of_every_short_pair_gives_the_target() -> None:
    count = 0
    for source, target in RENAMED_PAIRS:
        for path in paths(source, target):
            assert apply(source, merge(path, target)) == target, (source, path)
            count += 1
    assert count > 100_000


@given(sequences, st.data())
def test_merging_any_moves_gives_the_target(source: list[str], data: st.DataObject) -> None:
    # Not only the moves the sampler may take: INSERT, DELETE and SUBSTITUTE of anything, equal tokens or not.
    target, path = [MARKER], []
    for i in range(len(source)):
        if i:
            op = data.draw(st.sampled_from([K, D, S]))
            target += {K: [source[i]], D: [], S: [data.draw(st.sampled_from("abc"))]}[op]
            path.append(Move(op, i, len(target) - 1))
        for letter in data.draw(st.text("abc", max_size=2)):
            target.append(letter)
            path.append(Move(I, i, len(target) - 1))
    edits = merge(path, target)
    assert apply(source, edits) == target
    runs = [edit for before, edit in pairwise(edits) if before.op is S and edit.op is S]
    assert all(edit.phrase == () for edit in runs)
    assert not any({before.op, edit.op} == {S, D} for before, edit in pairwise(edits))


def test_a_broken_path_is_refused() -> None:
    with pytest.raises(ValueError, match=r"KEEP does not lead from \(0, 0\) to \(2, 1\)"):
        merge([Move(K, 2, 1)], words("a"))
    with pytest.raises(ValueError, match="ends at target position 0, the target at 1"):
        merge([Move(D, 1, 0)], words("a"))


@pytest.mark.parametrize(
    ("ops", "among", "alike", "expected"),
    [
        ("", EDITED, False, ""),
        ("KKK", EDITED, False, ""),
        ("KDSIK", EDITED, False, "1-4"),
        ("KDSIK", EDITED, True, "1-2 2-3 3-4"),
        ("DDKSS", EDITED, False, "0-2 3-5"),
        ("KDSID", GONE, False, "1-3 4-5"),
        ("KDDSSD", GONE, True, "1-3 3-5 5-6"),
        ("SSKDS", (S,), False, "0-2 4-5"),
    ],
)
def test_runs_are_where_neighbours_are_among_them(ops: str, among: tuple[Op, ...], alike: bool, expected: str) -> None:
    found = find_runs([Op("KDIS".index(op)) for op in ops], among, alike)
    assert " ".join(f"{run.start}-{run.stop}" for run in found) == expected


@given(st.lists(st.sampled_from(Op), max_size=12), st.sets(st.sampled_from(Op)), st.booleans())
def test_runs_hold_every_such_position_and_are_as_long_as_can_be(ops: list[Op], among: set[Op], alike: bool) -> None:
    runs = find_runs(ops, among, alike)
    inside = [index for run in runs for index in range(run.start, run.stop)]
    assert inside == [index for index, op in enumerate(ops) if op in among]
    for run in runs:
        assert run.start < run.stop
        assert not alike or len(set(ops[run])) == 1
    for before, after in pairwise(runs):
        assert before.stop < after.start or (alike and ops[before.stop - 1] != ops[after.start])
    for index in range(len(ops)):
        assert find_run(ops, index, among) in (*find_runs(ops, among), slice(index, index))


def test_the_run_around_a_position() -> None:
    ops = [K, D, D, S, K]
    assert find_run(ops, 2, (D,)) == slice(1, 3)
    assert find_run(ops, 2, GONE) == slice(1, 4)
    assert find_run(ops, 4, GONE) == slice(4, 4)
    assert find_run(ops, 9, GONE) == slice(9, 9)


def test_a_run_is_split_set_and_made_one_substitution() -> None:
    assert list(split_run(slice(2, 7), lambda index: index in (2, 4, 5))) == [slice(2, 4), slice(4, 5), slice(5, 7)]
    ops: list[int] = [K, D, D, K]
    set_run(ops, slice(1, 3), S)
    assert ops == [K, S, S, K]
    edits = [KEEP, DELETE, substitute("x"), insert("y")]
    substitute_run(edits, slice(1, 4))
    assert edits == [KEEP, substitute("x", "y"), MORE, MORE]


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([KEEP], "1 edits for 2 tokens"),
        ([DELETE, KEEP], "marker is only kept or inserted after, not DELETE"),
        ([substitute("x"), KEEP], "marker is only kept or inserted after, not SUBSTITUTE"),
    ],
)
def test_apply_refuses_what_is_not_an_edit_sequence(edits: list[Edit], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        apply(words("a"), edits)


def test_apply_refuses_two_phrases_in_one_run() -> None:
    with pytest.raises(ValueError, match="one phrase, on its first position"):
        apply(words("ab"), [KEEP, substitute("x"), substitute("y")])
