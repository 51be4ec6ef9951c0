"""What the network sees of a question and its dialogue, and how drafts make batches."""

from __future__ import annotations

import numpy as np
import pytest

from riseq.core.edits import DELETE, KEEP, Edit, Op
from riseq.engine.drafts import Choice, Draft, gather, split_batches, start
from riseq.model.inputs import PAPER_WINDOW, ContextWindow, collate
from tiny_model import make_examples, make_pieces

PIECES = make_pieces("bert")


def test_a_row_is_context_marker_question_and_a_last_mark() -> None:
    batch = gather([start("Was the film?", ("film", "band film"), PIECES, 512)], PIECES)
    cut = {word: PIECES.cut(word)[0] for word in ("film", "band", "was", "the", "?")}
    cls, sep = PIECES.cls_id, PIECES.sep_id
    row = [cls, cut["film"], sep, cut["band"], cut["film"], sep, cut["was"], cut["the"], cut["film"], cut["?"], sep]
    assert batch.ids_BL.tolist() == [row]
    assert batch.context_B.tolist() == [5]
    assert batch.firsts_BW.tolist() == [[5, 6, 7, 8, 9, 10]]


def test_a_batch_is_laid_out_as_in_training() -> None:
    drafts = [start(one.question, one.context, PIECES, 512) for one in make_examples(9)]
    assert len({draft.length for draft in drafts}) > 1
    contexts, cuts = [draft.context_ids for draft in drafts], [cut for draft in drafts for cut in draft.cuts]
    learned = collate(
        (np.concatenate(contexts), np.array(list(map(len, contexts)))),
        (np.arange(len(cuts)), np.array([len(draft.cuts) for draft in drafts])),
        (np.concatenate(cuts), np.cumsum([0, *map(len, cuts)])),
        PIECES.sep_id,
        PIECES.pad_id,
    )
    batch = gather(drafts, PIECES)
    for name in ("ids_BL", "lengths_B", "context_B", "firsts_BW", "words_B"):
        mine, theirs = getattr(batch, name), getattr(learned, name)
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs), name


def test_the_oldest_utterances_go_first_and_the_last_stays() -> None:
    context = [f"{letter}{' film' * 10}" for letter in "abc"]
    question = "film " * 20

    def seen(max_pieces: int) -> tuple[int, int, bool]:
        draft = start(question, context, PIECES, max_pieces)
        assert draft.length <= max_pieces
        return sum(PIECES.cut(letter)[0] in draft.context_ids for letter in "abc"), len(draft.cuts), draft.truncated

    # [CLS], three utterances of 11 pieces with two marks between, the marker, 20 words and the last mark.
    assert seen(1 + 35 + 22) == (3, 21, False)
    # With one piece less the oldest lacks its beginning.
    assert seen(1 + 35 + 21) == (2, 21, True)
    # However long the question is, some of the dialogue stays in sight: two utterances with their marks, nine words.
    assert seen(1 + 23 + 10) == (2, 9, True)


WHOLE = ContextWindow(None, None)


@pytest.mark.parametrize(
    ("why", "context"),
    [
        ("the name stands at the end of an answer of 120 words", ("film?", "film " * 119 + "zappa")),
        (
            "the name stands in the first of five turns only",
            ("who is zappa?", "a band.", *["was the film?", "song"] * 4),
        ),
    ],
)
def test_a_name_far_back_is_seen_and_nothing_is_said_to_be_left_out(why: str, context: tuple[str, ...]) -> None:
    name = list(PIECES.cut("zappa"))

    def shows(window: ContextWindow, room: int = 512) -> tuple[bool, bool]:
        draft = start("was zappa the band?", context, PIECES, room, window=window)
        ids = draft.context_ids
        return any(ids[at : at + len(name)] == name for at in range(len(ids))), draft.truncated

    assert shows(WHOLE) == (True, False), why
    assert shows(PAPER_WINDOW) == (False, True)
    assert shows(WHOLE, 40)[1], "a smaller network does not see all"


def test_truncated_is_the_first_piece_that_does_not_fit() -> None:
    context = ("who is zappa?", "a band.", "was the film good?")
    whole = start("was zappa there?", context, PIECES, 512, window=WHOLE)
    assert not start("was zappa there?", context, PIECES, whole.length, window=WHOLE).truncated
    assert start("was zappa there?", ("film " * 40, *context), PIECES, whole.length, window=WHOLE).truncated
    assert not start("was zappa there?", (), PIECES, 512, window=WHOLE).truncated


def test_a_network_too_small_for_anything_edits_nothing() -> None:
    draft = start("Was the film?", ("film " * 40,), PIECES, 20)
    assert not draft.editable


def test_a_draft_knows_its_row() -> None:
    for example in make_examples(40):
        draft = start(example.question, example.context, PIECES, 64)
        if draft.editable:
            assert draft.length == gather([draft], PIECES).lengths_B[0] <= 64


def make_draft(question: str) -> Draft:
    return start(question, ("A band.",), PIECES, 512)


def test_advancing_keeps_what_was_not_seen() -> None:
    # [CLS], three pieces, the marker, two words and the last mark.
    draft = start("Was the Film good?", ("film band film",), PIECES, 8)
    assert draft.unseen == 3
    choice = Choice([KEEP, KEEP, DELETE], [1.0, 1.0, 0.5])
    assert draft.advance(choice, PIECES)
    assert draft.text == "Was Film good?"
    assert draft.steps[0].edits[0].probability == 0.5
    assert draft.finish().steps == tuple(draft.steps)


@pytest.mark.parametrize(
    ("question", "reached", "finished"),
    [
        ("Did they have it?", "Did Zappa and have it?", "Did Zappa have it?"),
        ("Did they sing?", "Did Zappa and sing?", "Did Zappa and sing?"),
    ],
)
def test_an_and_that_no_pass_completed_goes_at_the_end(question: str, reached: str, finished: str) -> None:
    draft = start(question, ("Do you like Zappa?",), PIECES, 512, direction="resolve")
    edits = [KEEP, KEEP, Edit(Op.SUBSTITUTE, ("zappa", "and")), *[KEEP] * (len(draft.words) - 3)]
    assert draft.advance(Choice(edits, [0.5] * len(edits)), PIECES)
    assert draft.text == reached, "a later pass may name the other"
    result = draft.finish()
    assert result.text == finished
    assert result.steps[-1].text == finished
    assert result.question == question


def test_what_was_out_of_sight_stays_so() -> None:
    draft = start("film " * 20, ("A band.",), PIECES, 17)
    assert (len(draft.cuts), draft.unseen) == (12, 9)
    assert draft.advance(Choice([KEEP, *[DELETE] * 10, KEEP], [1.0] * 12), PIECES)
    assert (len(draft.cuts), draft.unseen) == (2, 9)


@pytest.mark.parametrize(
    "edits",
    [
        [KEEP] * 3,
        [KEEP, Edit(Op.SUBSTITUTE, ("was",)), KEEP],
        [KEEP, DELETE, DELETE],
        [Edit(Op.INSERT, ("was",)), DELETE, KEEP],
    ],
    ids=["keep", "substitute by itself", "delete all", "delete and insert"],
)
def test_a_pass_without_effect_is_no_step(edits: list[Edit]) -> None:
    draft = make_draft("Was film")
    assert not draft.advance(Choice(edits, [1.0] * 3), PIECES)
    assert (draft.text, draft.steps) == ("Was film", [])


def test_batches_hold_every_draft_once_within_the_budget() -> None:
    drafts = [start(one.question, one.context, PIECES, 512) for one in make_examples(60)]
    batches = list(split_batches(drafts, 400))
    assert sorted(map(id, drafts)) == sorted(id(draft) for batch in batches for draft in batch)
    assert all(len(batch) == 1 or len(batch) * batch[-1].length <= 400 for batch in batches)
    assert 1 < len(batches) < 40
    assert all(len(batch) == 1 for batch in split_batches(drafts, 1))
    assert list(split_batches([], 400)) == []
